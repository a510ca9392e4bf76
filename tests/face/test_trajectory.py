"""Accessors of trajectories against direct formulas, in every formulation; files."""

import copy
import json
import pickle
import traceback
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import lgint
from face import systems
from face.tops import functions
from kinds import FORMULATIONS

RUN = {"t_end": 0.2, "h": 2e-3}


@pytest.fixture(scope="module", params=FORMULATIONS)
def top(request):
    return lgint.integrate(lgint.models.heavy_top(formulation=request.param, omega0=(1, 8, -4)), "rk44", **RUN)


def test_kinematics(top):
    x, R, xdot, omega = (getattr(top, name)("top") for name in ("position", "rotation", "velocity", "angular_velocity"))
    n = len(top.t)
    assert (x.shape, R.shape, xdot.shape, omega.shape) == ((n, 3), (n, 3, 3), (n, 3), (n, 3))
    assert np.allclose(R @ np.swapaxes(R, 1, 2), np.eye(3), atol=1e-8)
    assert np.allclose(x, R[:, :, 1], atol=1e-7)
    assert np.allclose(xdot, np.einsum("nij,nj->ni", R, np.cross(omega, (0, 1, 0))), atol=1e-6)
    # velocities are the time derivatives of the positions
    slope = (x[2:] - x[:-2]) / (2 * RUN["h"])
    assert np.abs(slope - xdot[1:-1]).max() < 3e-3 * np.abs(xdot).max()
    assert np.allclose(top.point("top", (0, -1, 0)), 0, atol=1e-7)
    assert np.allclose(top.point_velocity("top", (0, -1, 0)), 0, atol=1e-6)
    off = top.point_velocity("top", (0.5, 0.0, 0.0))
    assert np.allclose(off, xdot + np.einsum("nij,nj->ni", R, np.cross(omega, (0.5, 0, 0))), atol=1e-9)


def test_quaternions(top):
    p, R = top.quaternion("top"), top.rotation("top")
    assert np.allclose(Rotation.from_quat(p, scalar_first=True).as_matrix(), R, atol=1e-7)
    assert p[0, 0] >= 0
    assert (np.sum(p[1:] * p[:-1], axis=1) > 0.9).all()


def test_sums(top):
    x, R, xdot, omega = (getattr(top, name)("top") for name in ("position", "rotation", "velocity", "angular_velocity"))
    J = np.diag([0.234375, 0.46875, 0.234375])
    kinetic = 7.5 * np.sum(xdot**2, axis=1) + 0.5 * np.einsum("ni,ij,nj->n", omega, J, omega)
    potential = 15 * 9.81 * x[:, 2]
    assert np.allclose(top.energy("kinetic"), kinetic, rtol=1e-9)
    assert np.allclose(top.energy("potential") - top.energy("potential")[0], potential - potential[0], atol=1e-9)
    assert np.allclose(top.energy(), top.energy("kinetic") + top.energy("potential"), rtol=1e-15)
    assert np.allclose(top.momentum(), 15 * xdot, rtol=1e-14)
    spin = np.einsum("nij,nj->ni", R, omega @ J)
    assert np.allclose(top.angular_momentum(), 15 * np.cross(x, xdot) + spin, rtol=1e-13, atol=1e-12)


def test_constraint_residual(top):
    x, R = top.position("top"), top.rotation("top")
    residual = top.constraint_residual()
    assert residual.shape == top.lam.shape
    assert np.allclose(residual[:, :3], x - R[:, :, 1], atol=1e-12)
    assert np.allclose(top.constraint_residual("velocity")[0], 0, atol=1e-12)
    assert len(top.row_names) == top.lam.shape[1]


def test_reaction_accelerates_the_body(top):
    """The reaction is m x'' minus the weight, and opposite on the two bodies of the joint."""
    slope = (top.velocity("top")[2:] - top.velocity("top")[:-2]) / (2 * RUN["h"])
    expected = 15 * (slope - systems.GRAVITY)
    second, first = top.reaction("fixed_point"), top.reaction("fixed_point", on="first")
    assert np.abs(second[1:-1, :3] - expected).max() < 1e-2 * np.abs(expected).max()
    assert np.allclose(second[:, :3], -first[:, :3], rtol=1e-12)
    body = top.reaction("fixed_point", frame="body")
    assert np.allclose(np.einsum("nij,nj->ni", top.rotation("top"), body[:, :3]), second[:, :3], atol=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("frame", ["inertial", "body"])
def test_reaction_of_a_hanging_pendulum_is_its_weight(formulation, frame):
    run = lgint.integrate(systems.pendulum(formulation), "genalpha", t_end=0.02, h=2e-3)
    assert np.allclose(run.reaction("pin", frame=frame), (0, 0, 2 * 9.81, 0, 0, 0), atol=1e-9)
    assert np.allclose(run.reaction("pin", frame=frame, on="first"), (0, 0, -2 * 9.81, 0, 0, 0), atol=1e-9)


def test_reaction_moment_of_a_clamped_bar():
    """A rigid joint holds a bar that sticks out along x: force m g up, moment m g l/2 about -y."""
    b = lgint.ModelBuilder(gravity=systems.GRAVITY)
    R = systems.turn(0.7, (1, 2, 2))
    b.add_body("bar", mass=3.0, inertia=(0.1, 0.2, 0.2), position=(0.4, 0, 0), rotation=R)
    b.add_joint("rigid", lgint.ground, "bar", point=(0, 0, 0), name="clamp")
    run = lgint.integrate(b.build(), "rk44", t_end=0.01, h=1e-3)
    moment = np.array([0, -0.4 * 3 * 9.81, 0])
    assert np.allclose(run.reaction("clamp"), [0, 0, 3 * 9.81, *moment], atol=1e-8)
    assert np.allclose(run.reaction("clamp", frame="body")[:, 3:], R.T @ moment, atol=1e-8)


# ---- joint angles ----


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("save_every", [1, 50])
def test_joint_angles_through_full_turns(formulation, save_every):
    """Without gravity a pendulum turns uniformly; saved states are up to one and a half turns apart."""
    model = systems.pendulum(formulation, omega=-40.0, gravity=(0, 0, 0))
    run = lgint.integrate(model, "rk44", t_end=2.0, h=5e-3, save_every=save_every)
    assert np.allclose(run.joint_angle("pin"), -40 * run.t, atol=1e-3)
    assert run.joint_angles().shape == (len(run.t), 1)
    assert run.angle_names == ["pin"]


def test_joint_angles_go_on_after_a_resume():
    model = systems.pendulum(omega=40.0, gravity=(0, 0, 0))
    half = lgint.integrate(model, "rk44", t_end=1.0, h=5e-3)
    rest = lgint.integrate(model, "rk44", t_end=2.0, h=5e-3, start=half)
    assert rest.t[0] == 1.0
    assert np.allclose(rest.joint_angle("pin"), 40 * rest.t, atol=1e-3)


def test_a_joint_without_an_angle():
    run = lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=0.01, h=1e-3)
    with pytest.raises(ValueError, match="'fixed_point' is spherical and has no angle"):
        run.joint_angle("fixed_point")
    assert run.joint_angles().shape == (len(run.t), 0)


# ---- unknown names ----


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda run: run.position("topp"), "body 'topp'.*did you mean 'top'"),
        (lambda run: run.point("top", (1, 2)), "X: shape"),
        (lambda run: run.energy("inner"), "kind of energy 'inner'"),
        (lambda run: run.energy("generalized"), "the states of 'rk44' have no momentum; those of 'eml'"),
        (lambda run: run.constraint_residual("acceleration"), "level 'acceleration'"),
        (lambda run: run.reaction("pin"), "joint 'pin'.*'fixed_point'"),
        (lambda run: run.reaction("fixed_point", frame="world"), "frame 'world'"),
        (lambda run: run.reaction("fixed_point", on="third"), "side 'third'"),
    ],
)
def test_unknown_names(top, call, message):
    with pytest.raises(ValueError, match=message):
        call(top)


# ---- files ----


def test_save_and_load(top, tmp_path):
    top.save(tmp_path / "run.npz")
    twin = lgint.load(tmp_path / "run.npz")
    for name in ("t", "q", "v", "vdot", "lam", "h", "mem", "carry"):
        assert getattr(twin, name).tobytes() == getattr(top, name).tobytes(), name
    assert (twin.method, twin.options, twin.stats) == (top.method, top.options, top.stats)
    for accessor in ("energy", "angular_momentum", "constraint_residual"):
        assert np.array_equal(getattr(twin, accessor)(), getattr(top, accessor)())
    assert np.array_equal(twin.reaction("fixed_point"), top.reaction("fixed_point"))
    assert twin.model.parameters["omega0"] == [1, 8, -4]
    # the loaded run can be resumed, with the same bits
    runs = [lgint.integrate(run.model, "rk44", t_end=0.3, h=2e-3, start=run) for run in (top, twin)]
    assert runs[0].q.tobytes() == runs[1].q.tobytes()


def test_a_function_of_time_is_not_saved_but_the_run_is(tmp_path):
    b = lgint.ModelBuilder()
    b.add_body("body", mass=1.0, inertia=(1, 1, 1))
    b.add_force("body", force=lambda t: (t, 0, 0), name="pull")
    run = lgint.integrate(b.build(), "rk44", t_end=1.0, h=0.1)
    assert run.velocity("body")[-1, 0] == pytest.approx(0.5, rel=1e-12)
    run.save(tmp_path / "run.npz")
    twin = lgint.load(tmp_path / "run.npz")
    assert np.array_equal(twin.energy(), run.energy())
    with pytest.raises(RuntimeError, match="function of 'pull'.*not saved"):
        lgint.integrate(twin.model, "rk44", t_end=1.0, h=0.1)


def test_a_callable_run_can_be_saved(tmp_path):
    run = lgint.integrate(lgint.CallableModel("R3xSO3", **functions()), "rk44", t_end=0.01, h=1e-3)
    run.save(tmp_path / "run.npz")
    twin = lgint.load(tmp_path / "run.npz")
    assert np.array_equal(twin.q, run.q)
    with pytest.raises(RuntimeError, match="'energy'.*not saved"):
        twin.energy()


@pytest.fixture(scope="module")
def watched():
    """A run with all that a file can hold: events, dense output, states at other times."""
    run = {"t_end": 0.02, "h": 2e-3, "t_eval": [0.0, 5e-3, 0.01], "dense_output": True}
    return lgint.integrate(
        lgint.models.heavy_top(), "rk44", events=[lambda t, q, v: t - 0.011, lambda t, q, v: 1.0], **run
    )


def entries(path):
    """The arrays of a file, and its text as decoded JSON."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    return arrays, json.loads(str(arrays.pop("about")))


def change(array):
    """A function that replaces one array of a file after changing its text `about`."""

    def changed(path, name, values):
        arrays, about = entries(path)
        arrays = {**arrays, "about": np.array(json.dumps(about)), name: values}
        np.savez(path, **{name: values for name, values in arrays.items() if values is not None})

    return lambda path: changed(path, *array)


def change_about(**given):
    def changed(path):
        arrays, about = entries(path)
        np.savez(path, about=np.array(json.dumps({**about, **given})), **arrays)

    return changed


def change_record(**given):
    def changed(path):
        _, about = entries(path)
        change_about(record={**about["record"], **given})(path)

    return changed


def compress(path):
    """Zeros, of which a small file can hold any number."""
    arrays, about = entries(path)
    arrays["q"] = np.zeros((3, 12))
    np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)


def twice(path):
    with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("q.npy", archive.read("q.npy"))


def overlap(path):
    """A member whose entry claims the bytes of a hundred."""
    with zipfile.ZipFile(path, "a") as archive:
        (info,) = (info for info in archive.infolist() if info.filename == "q.npy")
        info.file_size *= 100
        archive.comment = b"written again"


def cut(share):
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def flip(path):
    data = bytearray(path.read_bytes())
    data[data.index(b"q.npy") + 500] ^= 4
    path.write_bytes(data)


def one_array(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


DEFECTS = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("t, q, v"),
    "one array": one_array,
    "pickle": lambda path: path.write_bytes(pickle.dumps({"q": 1})),
    "other arrays": lambda path: np.savez(path, x=np.zeros(3)),
    "objects": change(("q", np.array([{}, 1], dtype=object))),
    "cut early": cut(0.3),
    "cut late": cut(0.98),
    "a bit": flip,
    "no velocities": change(("v", None)),
    "no end": change(("end_q", None)),
    "no knots": change(("knots_lam", None)),
    "no events": change(("q_events_1", None)),
    "wrong width": change(("q", np.zeros((3, 11)))),
    "wrong number": change(("lam", np.zeros((4, 3)))),
    "a carry of text": change(("carry", np.array(["a", "b"]))),
    "a carry of half the precision": change(("carry", np.zeros(9, np.float32))),
    "a carry in three dimensions": change(("carry", np.zeros((3, 3, 3)))),
    "an empty carry": change(("carry", np.zeros(0))),
    "a quantity of text": change(("saved_x", np.array(["a", "b", "c"]))),
    "a quantity of other states": change(("saved_x", np.zeros(4))),
    "wrong numbers": change(("v_events_0", np.zeros((4, 6)))),
    "integers": change(("t", np.arange(3))),
    "not a number": change(("vdot", np.full((3, 6), np.nan))),
    "another format": change_about(format=1),
    "a record without bodies": change_about(record={"joints": {}}),
    "a body that is a list": change_about(record={"bodies": {"top": ["SO5", 0]}}),
    "no method": change_about(method=None),
    "options in a list": change_about(options=[1]),
    "no status": change_about(status=None),
    "a status in a list": change_about(status=[0]),
    "a text for a number": change_about(stats={"steps": 10, "wall_time": "long"}),
    "a number for a text": change_about(stats={"steps": 10, "newton": 3}),
    "an origin that is a number": change_record(origin=7),
    "an origin without a name": change_record(origin={"parameters": {}}),
    "compressed": compress,
    "unknown arrays": change(("extra", np.zeros(3))),
    "the same array twice": twice,
    "arrays that share their bytes": overlap,
    "a text that is a list": change(("about", np.array("[1, 2]"))),
    "no JSON": change(("about", np.array("{"))),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_whatever_is_wrong_with_a_file_is_a_value_error(defect, watched, tmp_path):
    path = tmp_path / "run.npz"
    watched.save(path)
    assert lgint.load(path).t.tolist() == [0.0, 5e-3, 0.01]
    DEFECTS[defect](path)
    with pytest.raises(ValueError) as caught:
        lgint.load(path)
    text = "".join(traceback.format_exception(caught.value))
    assert str(path) in str(caught.value) and "allow_pickle=True" not in text and "pickle" not in str(caught.value)


@pytest.mark.measures
def test_a_file_that_grows_when_it_is_read_is_refused_before(watched, tmp_path):
    """A few hundred kB of compressed zeros would be 400 MB."""
    path = tmp_path / "run.npz"
    watched.save(path)
    arrays, about = entries(path)
    np.savez_compressed(path, about=np.array(json.dumps(about)), **{**arrays, "q": np.zeros((50_000_000, 1))})
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="is compressed; arrays of runs never are"):
            lgint.load(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_file_of_another_format_says_so(watched, tmp_path):
    watched.save(tmp_path / "run.npz")
    change_about(format=1)(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="its format is 1; this version reads the formats 4 and 5"):
        lgint.load(tmp_path / "run.npz")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        lgint.load(tmp_path / "run.npz")


def test_a_file_is_written_as_a_whole_or_not_at_all(top, watched, tmp_path, monkeypatch):
    path, link = tmp_path / "run.npz", tmp_path / "link.npz"
    watched.save(path)
    path.chmod(0o640)
    before = path.read_bytes()

    def broken(file, **arrays):
        file.write(b"half")
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", broken)
        with pytest.raises(OSError, match="No space"):
            top.save(path)
        with pytest.raises(OSError, match="No space"):
            top.save(tmp_path / "new.npz")
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    link.symlink_to(path)
    top.save(link)
    assert link.is_symlink() and lgint.load(path).q.tobytes() == top.q.tobytes()
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link.npz", "run.npz"]


def test_arrays_of_a_loaded_run_are_ones_own(watched, tmp_path):
    watched.save(tmp_path / "run.npz")
    twin = lgint.load(tmp_path / "run.npz")
    for name in ("t", "q", "lam", "carry"):
        flags = getattr(twin, name).flags
        assert flags.writeable and flags.c_contiguous and getattr(twin, name).dtype == np.float64
    assert np.array_equal(twin.sol(0.0107).q, watched.sol(0.0107).q)
    assert twin.t_events[0].tolist() == watched.t_events[0].tolist()


# ---- copies ----


@pytest.mark.parametrize("twin_of", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_copies_of_a_run_with_dense_output(twin_of):
    run = lgint.integrate(lgint.models.heavy_top(), "genalpha", t_end=0.01, h=1e-3, dense_output=True)
    twin = twin_of(run)
    times = np.linspace(0, 0.01, 37)
    for name in ("q", "v", "vdot", "lam"):
        assert getattr(twin.sol(times), name).tobytes() == getattr(run.sol(times), name).tobytes()
    assert np.array_equal(twin.energy(), run.energy()) and twin.stats == run.stats
    rests = [lgint.integrate(r.model, "genalpha", t_end=0.02, h=1e-3, start=r) for r in (run, twin)]
    assert rests[0].q.tobytes() == rests[1].q.tobytes()


@pytest.mark.parametrize("twin_of", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_copies_of_an_error(twin_of):
    with pytest.raises(lgint.IntegrationError) as caught:
        lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=100.0, h=0.1, dense_output=True)
    error, twin = caught.value, twin_of(caught.value)
    assert type(twin) is type(error) and str(twin) == str(error) and twin.report == error.report
    assert twin.result.keys() == error.result.keys()
    assert np.array_equal(twin.trajectory.q, error.trajectory.q) and twin.trajectory.status == -1
    times = np.linspace(0, error.trajectory.t[-1], 7)
    assert twin.trajectory.sol(times).q.tobytes() == error.trajectory.sol(times).q.tobytes()


# ---- reactions ----


@pytest.mark.parametrize("on", ["first", "second"])
@pytest.mark.parametrize("formulation", ["SE3", "euler_parameters", "tait_bryan", "minimal"])
def test_reactions_in_the_axes_of_the_joint(formulation, on):
    """A free hinge has no moment about its axis e3, and the force along e3 is the same in every formulation."""
    chains = [lgint.models.pendulum_chain(n=3, joint="revolute", formulation=f) for f in ("R3xSO3", formulation)]
    runs = [lgint.integrate(chain, "rk44", t_end=0.05, h=1e-3) for chain in chains]
    for name in ("joint1", "joint2", "joint3"):
        one, other = (run.reaction(name, frame="joint", on=on) for run in runs)
        inertial = runs[1].reaction(name, on=on)
        assert np.abs(other[:, 5]).max() < 1e-9
        assert np.allclose(one[:, 2], other[:, 2], rtol=0, atol=1e-8)
        assert np.allclose(np.linalg.norm(other[:, :3], axis=1), np.linalg.norm(inertial[:, :3], axis=1), rtol=1e-12)
        assert np.abs(other[:, :2]).max() > 1e-3


def test_a_distance_has_no_axes():
    run = lgint.integrate(systems.two_bodies("distance"), "rk44", t_end=0.01, h=1e-3)
    with pytest.raises(ValueError, match="no axes"):
        run.reaction("joint", frame="joint")


@pytest.mark.parametrize("name", ["run.csv", "run.npy", "run.h5", "folder.npz/run.png"])
def test_a_suffix_that_promises_another_format_is_refused(name, watched, tmp_path):
    with pytest.raises(ValueError, match=r"path: a name that ends in \.npz expected.*to_pandas"):
        watched.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
    for good in ("run", "run.NPZ"):
        watched.save(tmp_path / good)
        assert lgint.load(tmp_path / good).q.tobytes() == watched.q.tobytes()
