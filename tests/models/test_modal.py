"""Flexible bodies: Euler-Bernoulli beams, spinning beams in closed form, the rigid limit, conserved quantities,
agreement of formulations, observed orders."""

import numpy as np
import pytest

import lgint
from lgint import modal

BEAM = {"length": 2.0, "mass": 3.0, "bending": (500.0, 100.0)}
SECTION = {"axial": 1e4, "torsion": 10.0, "section": (0.1, 0.2)}
PI = np.pi
ROOTS = {
    "clamped": [1.87510406871196, 4.69409113297417, 7.85475743823761],
    "free": [4.73004074486270, 7.85320462409584, 10.9956078380017],
    "pinned": [PI, 2 * PI, 3 * PI],
}


# ---- beams ----


@pytest.mark.parametrize("field, rigidity", [("bending_y", 100.0), ("bending_z", 500.0)])
@pytest.mark.parametrize("support", ROOTS)
def test_bending_frequencies(support, field, rigidity):
    beam = modal.beam(**BEAM, support=support, modes={field: 3}, elements=20)
    expected = np.array(ROOTS[support]) ** 2 * np.sqrt(rigidity / 3.0 / 2.0**4)
    assert np.allclose(beam.frequencies, expected, rtol=1e-4)
    assert (beam.frequencies > expected).all()  # a discretisation approaches them from above
    assert np.allclose(beam.modal_mass, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("support, root", [("clamped", PI / 2), ("free", PI)])
def test_axial_and_torsional_frequencies(support, root):
    beam = modal.beam(**BEAM, **SECTION, support=support, modes={"axial": 1, "torsion": 1}, elements=40)
    speeds = np.array([np.sqrt(10.0 / 0.3), np.sqrt(1e4 / 3.0)])
    assert np.allclose(beam.frequencies, root / 2.0 * speeds, rtol=5e-4)


def test_free_modes_carry_no_momentum_and_the_line_its_inertia():
    beam = modal.beam(**BEAM, **SECTION, support="free", modes=6)
    turning = beam.mixed - np.swapaxes(beam.mixed, 1, 2)  # sum m X x Phi
    assert np.abs(beam.shapes).max() < 1e-9 and np.abs(turning).max() < 1e-9
    rod = 3.0 * 2.0**3 / 3
    assert np.allclose(beam.inertia, np.diag([0.6, rod + 0.2, rod + 0.4]), atol=1e-12)
    assert np.isclose(beam.mass, 6.0)


def test_arguments_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="give it as section"):
        modal.beam(**BEAM, torsion=1.0)
    with pytest.raises(ValueError, match="modes: 9 wanted"):
        modal.beam(**BEAM, modes=9, elements=1)
    with pytest.raises(ValueError, match="support"):
        modal.beam(**BEAM, support="glued")
    with pytest.raises(ValueError, match="symmetric"):
        modal.particles([1.0], [[0.0, 0, 0]], np.ones((1, 3, 2)), [[1.0, 2], [0, 1]])
    with pytest.raises(ValueError, match="other than .com."):
        modal.particles([1.0], [[0.0, 0, 0]], np.ones((1, 3, 1)), [1.0], None, {"com": (np.zeros(3), np.ones((3, 1)))})
    builder = lgint.ModelBuilder()
    builder.add_modal_body("beam", modal.beam(**BEAM))
    with pytest.raises(ValueError, match="cannot be offset from the node"):
        builder.add_joint("spherical", lgint.ground, "beam.end", point=(1.0, 0, 0))
    builder.add_body("rigid", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ValueError, match="no modal coordinates"):
        builder.build().modal("rigid")


# ---- in closed form ----


def test_static_deflection_of_a_cantilever():
    """A force bends the end of a damped beam on a rigid joint by F L^3/(3 EI), with the slope F L^2/(2 EI)."""
    builder = lgint.ModelBuilder()
    beam = modal.beam(**BEAM, modes={"bending_z": 6}, damping=1.0)
    builder.add_modal_body("beam", beam)
    builder.add_joint("rigid", lgint.ground, "beam", point=(0, 0, 0))
    builder.add_force("beam.end", force=(0.0, 0.0, 0.5))
    run = lgint.integrate(builder.build(), "genalpha", t_end=5.0, h=0.02)
    assert np.isclose(run.position("beam.end")[-1, 2], 0.5 * 8 / (3 * 500), rtol=1e-3)
    slope = -run.rotation("beam.end")[-1, 2, 0]
    assert np.isclose(abs(slope), 0.5 * 4 / (2 * 500), rtol=5e-3)
    assert np.sign(-slope) == 1  # upwards


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
def test_steady_stretch_of_a_spinning_beam(formulation):
    """EA u'' + rho Omega^2 (x + u) = 0, u(0) = u'(L) = 0: x + u = sin(k x)/(k cos(k L)), k = Omega sqrt(rho/EA)."""
    spin = 12.0
    beam = modal.beam(**BEAM, axial=1e4, modes={"axial": 40}, elements=40)
    K = beam.stiffness - spin**2 * beam.products[:, :, 0, 0]
    eta = np.linalg.solve(K, spin**2 * beam.mixed[:, 0, 0])
    # a line has no inertia about its own axis, and the joint keeps it from turning
    builder = lgint.ModelBuilder(formulation=formulation)
    builder.add_modal_body("beam", beam, angular_velocity=(0, 0, spin), eta=eta)
    builder.add_joint("revolute", lgint.ground, "beam", point=(0, 0, 0), axis=(0, 0, 1))
    run = lgint.integrate(builder.build(), "genalpha", t_end=0.2, h=2e-3)
    k = spin * np.sqrt(3.0 / 1e4)
    radius = np.linalg.norm(run.position("beam.end"), axis=1)
    stretch = np.tan(2 * k) / k - 2.0
    assert np.abs(radius - 2.0 - stretch).max() < 1e-3 * stretch
    assert np.abs(run.modal("beam") - eta).max() < 1e-6


def test_rigid_limit():
    """The difference from the motion of the rigid body is proportional to the inverse of the stiffness."""

    def end(flexible, scale):
        builder = lgint.ModelBuilder()
        omega, velocity = (1.0, 2.0, 1.5), (0.3, 0.1, -0.2)
        if flexible:
            beam = modal.beam(
                2.0, mass=3.0, bending=1.0, axial=scale, section=(0.1, 0.2), support="free", modes={"axial": 2}
            )
            builder.add_modal_body("body", beam, angular_velocity=omega, velocity=velocity)
            run = lgint.integrate(builder.build(), "genalpha", t_end=1.0, h=2e-3, rho_inf=0.6)
            return run.rotation("body")[-1]
        inertia = np.diag([0.6, 2.0 + 0.2, 2.0 + 0.4])
        builder.add_body("body", mass=6.0, inertia=inertia, angular_velocity=omega)
        return lgint.integrate(builder.build(), "genalpha", t_end=1.0, h=2e-3, rho_inf=0.6).rotation("body")[-1]

    exact = end(False, 0.0)
    errors = [np.abs(end(True, scale) - exact).max() for scale in (1e5, 1e6)]
    assert errors[0] < 5e-3
    assert 7 < errors[0] / errors[1] < 14


# ---- motion in space ----

FREE = modal.beam(**BEAM, **SECTION, support="free", modes=6)
CLAMPED = modal.beam(**BEAM, **SECTION, support="clamped", modes=6)


def flying(formulation, beam=FREE):
    """A free beam that flies, turns about all axes and vibrates."""
    builder = lgint.ModelBuilder(formulation=formulation)
    builder.add_modal_body(
        "beam",
        beam,
        position=(0.1, 0.2, 0.3),
        velocity=(1, -2, 0.5),
        angular_velocity=(3, 4, 5),
        eta=0.02 / np.arange(1, 7),
        eta_rate=np.linspace(-0.1, 0.2, 6),
    )
    return builder.build()


@pytest.fixture(scope="module")
def reference():
    run = lgint.integrate(flying("R3xSO3"), "rk44", t_end=0.4, h=1e-4, save_every=4000)
    return run.position("beam.end")[-1], run.rotation("beam.end")[-1]


@pytest.mark.parametrize("beam", [FREE, CLAMPED], ids=["free", "clamped"])
@pytest.mark.parametrize("formulation", ["R3xSO3", "R3xS3", "R3xRV", "SE3", "S3R3"])
def test_a_free_body_keeps_energy_and_momenta(formulation, beam):
    run = lgint.integrate(flying(formulation, beam), "rk44", t_end=0.5, h=1e-3)
    for kept in (run.energy(), run.momentum(), run.angular_momentum()):
        assert np.abs(kept - kept[0]).max() < 1e-7 * np.abs(kept[0]).max()
    assert np.ptp(run.modal("beam"), axis=0).min() > 1e-4  # it does vibrate


@pytest.mark.parametrize("formulation", ["R3xS3", "R3xRV", "SE3", "S3R3"])
def test_lie_formulations_agree(formulation, reference):
    run = lgint.integrate(flying(formulation), "rk44", t_end=0.4, h=5e-4, save_every=800)
    assert np.abs(run.position("beam.end")[-1] - reference[0]).max() < 1e-8
    assert np.abs(run.rotation("beam.end")[-1] - reference[1]).max() < 1e-8


METHODS = {
    "geom1": ("R3xSO3", {"sigma": 0.0}),
    "sigma 1": ("R3xSO3", {"sigma": 1.0}),
    "SE3": ("SE3", {"sigma": 0.0}),
    "euler_parameters": ("euler_parameters", {}),
    "tait_bryan": ("tait_bryan", {}),
}


def errors_of(formulation, options, reference):
    """Errors of the position of the end at t = 0.4, m."""
    model = flying(formulation)
    runs = (lgint.integrate(model, "genalpha", t_end=0.4, h=h, **options) for h in (4e-3, 2e-3))
    return [np.linalg.norm(run.position("beam.end")[-1] - reference[0]) for run in runs]


@pytest.mark.parametrize("name", METHODS)
def test_generalized_alpha_has_order_two(name, reference):
    coarse, fine = errors_of(*METHODS[name], reference)
    assert 3.8 < coarse / fine < 4.2


def test_geom1_sigma_1_and_euler_parameters_are_comparable(reference):
    """holzinger2025 reports errors of the same size for both on flexible bodies."""
    sizes = [errors_of(*METHODS[name], reference)[1] for name in ("geom1", "sigma 1", "euler_parameters")]
    assert max(sizes) < 3 * min(sizes)


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
def test_a_rigid_body_on_the_end(formulation):
    """A rigid joint fixes it to a node that turns; momenta and energy are kept up to errors of second order."""

    def drift(h):
        builder = lgint.ModelBuilder(formulation=formulation)
        builder.add_modal_body("beam", CLAMPED, angular_velocity=(0.0, 1.0, 2.0))
        builder.add_body("mass", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(2.0, 0, 0), velocity=(0.0, 4.0, -2.0),
                         angular_velocity=(0.0, 1.0, 2.0))  # fmt: skip
        joint = builder.add_joint("rigid", "beam.end", "mass", point=(2.0, 0, 0))
        run = lgint.integrate(builder.build(), "genalpha", t_end=0.3, h=h, rho_inf=0.9)
        assert np.abs(run.position("beam.end") - run.position("mass")).max() < 1e-10
        assert np.abs(run.rotation("beam.end") - run.rotation("mass")).max() < 1e-8
        force = run.reaction(joint)[5:, :3] - run.reaction(joint, on="first", frame="inertial")[5:, :3]
        assert np.abs(force).max() > 1.0
        return [np.abs(x - x[0]).max() for x in (run.energy(), run.momentum(), run.angular_momentum())]

    coarse, fine = drift(2e-3), drift(1e-3)
    assert max(fine) < 1e-2
    assert (np.array(coarse) > 3.4 * np.array(fine)).all()


# ---- every branch of the methods, on a pendulum that hangs on a node ----

VARIANTS = [
    ("genalpha", "R3xSO3", {"index": 2}),
    ("genalpha", "R3xSO3", {"index": "stabilized", "sigma": "optimal"}),
    ("genalpha", "R3xSO3", {"form": "printed", "sigma": 0.5}),
    ("genalpha", "R3xSO3", {"start": "optimal"}),
    ("genalpha", "SE3", {"index": "stabilized", "sigma": 1.0}),
    ("genalpha", "SE3", {"sigma": "optimal"}),
    ("genalpha", "SE3", {"newton": "modified"}),
    ("genalpha", "euler_parameters", {"index": "stabilized"}),
    ("genalpha", "tait_bryan", {"index": 2}),
    *(("hht", formulation, {"alpha": -0.2}) for formulation in ("R3xS3", "SE3", "euler_parameters", "tait_bryan")),
    ("hht", "euler_parameters", {"alpha": 0.0, "modified": True}),
]


def pendulum(formulation):
    builder = lgint.ModelBuilder(formulation=formulation, gravity=(0, 0, -9.81))
    builder.add_modal_body("beam", FREE, angular_velocity=(3, 2, -1), eta_rate=np.full(6, 0.2))
    builder.add_joint("spherical", lgint.ground, "beam.start", point=(0, 0, 0))
    return builder.build(start="project")


@pytest.fixture(scope="module")
def swung():
    """The end of the beam at t = 0.2, extrapolated to h = 0."""
    model = pendulum("R3xSO3")
    runs = (lgint.integrate(model, "genalpha", t_end=0.2, h=h) for h in (4e-4, 2e-4))
    coarse, fine = (run.position("beam.end")[-1] for run in runs)
    return fine + (fine - coarse) / 3


@pytest.mark.parametrize("method, formulation, options", VARIANTS)
def test_variants_have_order_two(method, formulation, options, swung):
    model = pendulum(formulation)
    runs = [lgint.integrate(model, method, t_end=0.2, h=h, **options) for h in (4e-3, 2e-3)]
    coarse, fine = (np.linalg.norm(run.position("beam.end")[-1] - swung) for run in runs)
    assert 3.8 < coarse / fine < 4.2
    assert fine < 1e-4
    if not {"newton", "modified"} & options.keys():
        stats = lgint.integrate(model, method, t_end=0.2, h=2e-3, newton="full", **options).stats
        assert stats.newton_iterations <= 2.1 * stats.steps  # which takes an exact tangent


def test_files_and_records_know_nodes_and_modes(tmp_path):
    run = lgint.integrate(flying("SE3"), "genalpha", t_end=0.01, h=1e-3)
    run.save(tmp_path / "run.npz")
    again = lgint.load(tmp_path / "run.npz")
    for accessor in ("position", "velocity", "rotation", "angular_velocity"):
        assert np.array_equal(getattr(again, accessor)("beam.end"), getattr(run, accessor)("beam.end"))
    assert np.array_equal(again.modal("beam"), run.modal("beam"))
    assert np.array_equal(again.modal_rates("beam")[0], np.linspace(-0.1, 0.2, 6))
    assert np.array_equal(again.angular_momentum(), run.angular_momentum())


def test_gravity_acts_on_the_deformed_body():
    """The COM of a free beam falls with g, however the beam vibrates."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_modal_body("beam", CLAMPED, angular_velocity=(1, 2, 3), eta=np.full(6, 0.02))
    run = lgint.integrate(builder.build(), "rk44", t_end=0.3, h=1e-3)
    x, v = run.position("beam.com"), run.velocity("beam.com")
    assert np.allclose(x, x[0] + v[0] * run.t[:, None] + [0, 0, -9.81 / 2] * run.t[:, None] ** 2, atol=1e-7)
    assert np.abs(run.energy() - run.energy()[0]).max() < 1e-6


# ---- against another program ----


class Mesh:
    """The interface that Exudyn expects of a mesh, with particles as nodes, lumped masses and the same modes."""

    postProcessingModes = ()

    def __init__(self, mass, points, shapes, stiffness):
        n = shapes.shape[2]
        self.points, self.mass = points, np.diag(np.repeat(mass, 3))
        self.modeBasis = {"matrix": shapes.reshape(-1, n)}
        inverse = np.linalg.pinv(self.modeBasis["matrix"])
        self.stiffness = inverse.T @ np.diag(stiffness) @ inverse

    def GetNodePositionsAsArray(self):
        return self.points

    def GetSurfaceTriangles(self):
        return []

    GetSurfaceTriangles6 = GetSurfaceTriangles

    def GetStiffnessMatrix(self, sparse=True):
        return self.stiffness

    def GetMassMatrix(self, sparse=True):
        return self.mass


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Exudyn renames settings
def test_against_exudyn():
    """A free vibrating body as ObjectFFRFreducedOrder, with equal particles, shapes, steps and Euler parameters."""
    import exudyn as exu
    from exudyn import FEM as fem

    rng = np.random.default_rng(3)
    mass, points = rng.uniform(0.5, 1.5, 8), rng.normal(size=(8, 3))
    shapes, stiffness = 0.3 * rng.normal(size=(8, 3, 3)), np.array([200.0, 500.0, 900.0])
    omega, velocity, t_end = (1.0, 2.0, 1.5), (0.3, -0.2, 0.1), 0.5

    builder = lgint.ModelBuilder(formulation="euler_parameters")
    body = modal.particles(mass, points, shapes, stiffness, None, {"node": (points[4], shapes[4])})
    builder.add_modal_body("body", body, angular_velocity=omega, velocity=velocity)
    model = builder.build()
    ours = lgint.integrate(model, "genalpha", t_end=t_end, h=1e-3).position("body.node")[-1]

    container = exu.SystemContainer()
    mbs = container.AddSystem()
    interface = fem.ObjectFFRFreducedOrderInterface(Mesh(mass, points, shapes, stiffness))
    made = interface.AddObjectFFRFreducedOrder(
        mbs,
        positionRef=[0, 0, 0],
        rotationMatrixRef=np.eye(3),
        initialVelocity=list(velocity),
        initialAngularVelocity=list(omega),
    )
    sensor = mbs.AddSensor(
        exu.itemInterface.SensorSuperElement(
            bodyNumber=made["oFFRFreducedOrder"],
            meshNodeNumber=4,
            storeInternal=True,
            outputVariableType=exu.OutputVariableType.Position,
        )
    )
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = 500
    settings.timeIntegration.endTime = t_end
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = t_end / 500
    assert mbs.SolveDynamic(settings)
    theirs = mbs.GetSensorStoredData(sensor)[-1, 1:4]
    assert np.abs(theirs - ours).max() < 1e-7


@pytest.mark.parametrize("nodes", ["b", 3, [1], {"b": 3}, {"b": "xy"}, {3: ((0, 0, 0), np.zeros((3, 1)))}], ids=str)
def test_nodes_of_particles_are_named_in_errors(nodes):
    shapes = np.zeros((2, 3, 1))
    with pytest.raises(ValueError, match="nodes: |node 'b'"):
        lgint.modal.particles([1.0, 1.0], [[0, 0, 0], [1, 0, 0]], shapes, [1.0], nodes=nodes)


@pytest.mark.parametrize("start", ["check", "project"])
def test_a_line_of_mass_that_may_turn_about_itself_says_what_it_lacks(start):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_modal_body("beam", lgint.modal.beam(1.0, mass=0.1, bending=1.0))
    b.add_joint("spherical", lgint.ground, "beam", point=(0, 0, 0))
    with pytest.raises(lgint.SingularError, match=r"'beam' has no inertia about its axis \(1, 0, 0\): .*section="):
        lgint.integrate(b.build(start=start), "rk44", t_end=0.01, h=1e-3)


def test_the_body_that_lacks_inertia_is_told_from_one_with_a_similar_name():
    """ "arm" is a line of mass too, but its joint holds it."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_modal_body("arm", lgint.modal.beam(1.0, mass=0.1, bending=1.0))
    b.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 0, 1))
    b.add_modal_body("arm2", lgint.modal.beam(1.0, mass=0.1, bending=1.0), position=(0, 1, 0))
    b.add_joint("spherical", lgint.ground, "arm2", point=(0, 1, 0))
    model = b.build()
    with pytest.raises(lgint.SingularError, match="'arm2' has no inertia about its axis") as caught:
        lgint.integrate(model, "rk44", t_end=0.01, h=1e-3)
    assert caught.value.report["block"] == model.bodies["arm2"]["block"] == 1


@pytest.mark.parametrize("links", [20, 1000])
def test_bodies_that_only_their_joints_make_regular_need_dense_factors(links):
    """A line of mass at the end of a chain: longer ones say why the run fails."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    for i in range(links):
        b.add_body(f"link{i}", mass=1, inertia=(0.1, 0.1, 0.1), position=(i + 0.5, 0, 0))
        b.add_joint("spherical", f"link{i - 1}" if i else lgint.ground, f"link{i}", point=(i, 0, 0))
    b.add_modal_body("beam", lgint.modal.beam(1.0, mass=0.1, bending=1.0), position=(links, 0, 0))
    b.add_joint("revolute", f"link{links - 1}", "beam", point=(links, 0, 0), axis=(0, 0, 1))
    model = b.build()
    if links < 100:
        assert lgint.integrate(model, "rk44", t_end=1e-3, h=1e-3).stats.dense_fallbacks == 5
        return
    with pytest.raises(lgint.SingularError, match=f"without mass need dense factors, for which {model.nv + model.nc} "):
        lgint.integrate(model, "rk44", t_end=1e-3, h=1e-3)
