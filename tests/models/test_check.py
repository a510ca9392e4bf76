"""Every model in every formulation passes `lgint.check`, which finds wrong functions."""

import numpy as np
import pytest

import lgint
from face import systems
from kinds import FORMULATIONS
from lgint._model.joints import JOINTS
from lgint._model.record import EDGES

KINDS = [*JOINTS, "distance", *EDGES.values()]  # joints that the builder adds
VARIANTS = [
    ("four_bar", {"load": "mild"}),
    ("heavy_top", {"constraint_frame": "body"}),
    ("heavy_top", {"constrained": False}),
    ("pendulum_chain", {"n": 3}),
    ("pendulum_chain", {"n": 3, "joint": "revolute"}),
    ("rotor", {"omega0": (30.0, 1.0, 2.0)}),
    ("single_axis", {"omega0": 5.0}),
    ("slider_crank", {"crank_com": "pivot"}),
    ("crank_drive_v8", {"omega0": 3.0}),
]
MODELS = [*((name, {}) for name in lgint.models.names() if "formulation" in lgint.models.parameters(name)), *VARIANTS]


@pytest.mark.filterwarnings("ignore:inertia of:UserWarning")  # the Puma's published inertias
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(("name", "parameters"), MODELS, ids=lambda value: str(value))
def test_models(name, parameters, formulation):
    report = lgint.check(lgint.models.get(name)(formulation=formulation, **parameters))
    assert report.ok, f"\n{report}"


@pytest.mark.parametrize("name", [n for n in lgint.models.names() if "formulation" not in lgint.models.parameters(n)])
def test_models_without_bodies(name):
    report = lgint.check(lgint.models.get(name)())
    assert report.ok, f"\n{report}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pair", [("R3xSO3", "SE3"), ("S3R3", "euler_parameters"), ("R3xRV", "R3xS3")], ids="-".join)
def test_joints_springs_and_loads(kind, pair):
    report = lgint.check(systems.two_bodies(kind, *pair))
    assert report.ok, f"\n{report}"


@pytest.mark.parametrize("carrier", ["inertial", "first", "second"])
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "inline"])
def test_carriers(kind, carrier):
    report = lgint.check(systems.two_bodies(kind, "SE3", "euler_parameters", carrier=carrier))
    assert report.ok, f"\n{report}"


@pytest.mark.parametrize("upper", FORMULATIONS)
def test_double_pendulum_of_two_formulations(upper):
    report = lgint.check(systems.double_pendulum(upper, "euler_parameters"))
    assert report.ok, f"\n{report}"


def test_forces_at_rest_need_a_potential_only_where_they_have_one():
    """With tendons or drag beside springs, V does not account for all forces and is not compared with them."""
    claims = []
    for add in ("spring", "drag", "tendon"):
        b = lgint.ModelBuilder()
        for name in ("a", "b"):
            b.add_body(name, mass=1.0, inertia=(1, 2, 3), position=(2 * (name == "b"), 0.3, 0))
        b.add_spring("a", "b", stiffness=3.0, length=1.0, name="s")
        if add == "drag":
            b.add_drag("a", drag=(1.0, 2.0, 3.0), name="d")
        if add == "tendon":
            b.add_tendon(("a", "b"), tension=2.0, local_points=(0.1, 0, 0), name="t")
        report = lgint.check(b.build())
        assert report.ok, f"\n{report}"
        claims.append("force at rest" in str(report))
    assert claims == [True, True, False]


# ---- wrong functions are found ----

WRONG = {
    "force": ("force at rest", "S along q"),
    "constraint_jacobian": ("B = d(phi)/dq", "phidot = d(phi)/dt"),
    "constraint_acceleration": ("zeta",),
    "tangent": ("S along q", "S along v"),
    "energy": ("T = v^T M v",),
    "gyro": ("dT/dt",),
    "mass": ("mass is symmetric",),
}


@pytest.mark.parametrize("verb", [verb for verb in WRONG if verb != "force"])
def test_a_wrong_verb_is_found(verb):
    from face.tops import functions

    right = functions()
    wrong = {
        "constraint_jacobian": lambda t, q: 1.01 * right["constraint_jacobian"](t, q),
        "constraint_acceleration": lambda t, q, v: 0.99 * right["constraint_acceleration"](t, q, v),
        "tangent": lambda t, q, v, a, lam: [1.001 * np.asarray(x) for x in right["tangent"](t, q, v, a, lam)],
        "energy": lambda t, q, v: (1.1 * right["energy"](t, q, v)[0], 0.0),
        "gyro": lambda t, q, v: -right["gyro"](t, q, v) + 0.1 * v,
        "mass": lambda t, q: right["mass"](t, q) + np.eye(6, k=1),
    }[verb]
    model = lgint.CallableModel("R3xSO3", **{**right, verb: wrong})
    report = lgint.check(model)
    failed = {item.name for item in report.items if not item.ok}
    assert not report.ok
    assert any(name.startswith(start) for name in failed for start in WRONG[verb]), f"\n{report}"


# ---- kinks ----


def bent(at, slope=1.0, points=None):
    """A mass on a spring that is three times as stiff beyond `at`, and its tangent times `slope`."""

    def tangent(t, q, v, a, lam):
        if points is not None:
            points.append(q[0])
        return [[slope * (3.0 if q[0] > at else 1.0)]], [[0.0]]

    def force(t, q, v):
        return -q - 2 * np.maximum(q - at, 0)

    return lgint.CallableModel("Rn", [0.0], [0.0], lambda t, q: np.eye(1), force, tangent=tangent)


@pytest.mark.parametrize("beside", [0.0, 1e-12, -1e-7, 1e-5, -3e-4, 1.9e-3])
def test_a_kink_near_a_point_hides_no_wrong_tangent(beside):
    """A right tangent holds on either side of a kink, and a wrong one fails there as well."""
    points = []
    lgint.check(bent(0.0, points=points), points=1)
    at = points[0] + beside
    assert lgint.check(bent(at), points=1).ok
    for slope in (1 - 1e-5, 1 + 1e-5, 2.0, 0.5, 0.0):
        failed = [item.name for item in lgint.check(bent(at, slope), points=1).items if not item.ok]
        assert "S along q" in failed


CONTACTS = [
    {"exponent": 1.5},
    {"damping": 0.3, "friction": 0.3},
    {"damping": 0.3, "friction": 0.3, "bristle": (1e4, 30.0)},
]


@pytest.mark.parametrize("law", CONTACTS, ids=lambda law: "-".join(law))
@pytest.mark.parametrize("shape", [("box", (0, 0, 0), (0.1, 0.2, 0.15)), ("disc", (0, 0, 0), (0, 0, 1), 0.2)])
def test_contacts_hold_wherever_they_close_and_slide(shape, law):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.1))
    shapes = (shape, ("plane", (0, 0, 0), (0, 0, 1)))
    b.add_contact("body", lgint.ground, shapes=shapes, stiffness=1e4, **law)
    report = lgint.check(b.build(), points=60)
    assert report.ok, f"\n{report}"


def test_pieces_of_curves_hold_where_they_meet():
    b = lgint.ModelBuilder()
    b.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    x = np.linspace(-0.5, 0.5, 41)
    stiffness = [(x, 200 * x + 3e3 * x**3), 100.0, 100.0, 10.0, (x, 10 * np.sinh(4 * x)), 10.0]
    b.add_bushing(lgint.ground, "body", stiffness=stiffness, point=(0, 0, 0))
    report = lgint.check(b.build(), points=60)
    assert report.ok, f"\n{report}"


def test_an_exception_in_a_verb_is_reported():
    from face.tops import functions

    def broken(t, q, v):
        raise ZeroDivisionError("no such force")

    report = lgint.check(lgint.CallableModel("R3xSO3", **{**functions(), "force": broken}))
    assert not report.ok
    assert "no such force" in str(report)


@pytest.mark.parametrize(
    "add",
    [
        lambda builder, name: builder.add_force("a", force=(0, 0, np.nan), name=name),
        lambda builder, name: builder.add_force("a", force=(0, 0, 1), torque=(0, 0, np.nan), name=name),
        lambda builder, name: builder.add_tendon(["a", "b"], tension=np.nan, name=name),
        lambda builder, name: builder.add_tendon(["a", "nobody"], tension=1.0, name=name),
    ],
)
def test_a_refused_force_leaves_its_name_free(add):
    builder = lgint.ModelBuilder()
    for i, name in enumerate("ab"):
        builder.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0), position=(i, 0, 0))
    with pytest.raises(ValueError):
        add(builder, "pull")
    assert builder.add_force("a", force=(0, 0, 1), torque=(0, 0, 1), name="pull") == "pull"
    assert list(builder.build().record()["forces"]) == ["pull.force", "pull.torque"]


def test_parts_of_a_force_do_not_replace_others():
    builder = lgint.ModelBuilder()
    builder.add_body("a", mass=1.0, inertia=(1.0, 1.0, 1.0))
    builder.add_force("a", force=(0, 0, 1), name="pull.torque")
    with pytest.raises(ValueError, match="the name 'pull.torque' is in use"):
        builder.add_force("a", force=(0, 0, 1), torque=(0, 0, 1), name="pull")


@pytest.mark.parametrize(
    "wrong", [{"tolerance": np.nan}, {"tolerance": "x"}, {"tolerance": -1.0}, {"seed": -1}], ids=str
)
def test_arguments_of_check_are_named(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"^{name}: "):
        lgint.check(lgint.models.heavy_top(), **wrong)


@pytest.mark.parametrize("project", [np.nan, "no", 1], ids=str)
def test_project_is_true_or_false(project):
    with pytest.raises(ValueError, match="project: True or False expected"):
        lgint.models.heavy_top().with_state(project=project)
