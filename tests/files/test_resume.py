"""What a run that is resumed takes over: options, kept matrices, and memory that another version has written."""

import numpy as np
import pytest

import lgint
from files.recorded import hinge
from lgint._run import files
from lgint._run.keep import Keeper

RUN = {"t_end": 0.1, "h": 5e-3}


def same(a, b):
    """Whether two runs have the same bits."""
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("t", "q", "v", "vdot", "lam", "mem"))


def resume(run, **options):
    return lgint.integrate(run.model, run.method, t_end=2 * run.t[-1], start=run, **options)


# ---- options ----


def test_a_run_has_the_value_of_every_option(tmp_path):
    run = lgint.integrate(lgint.models.heavy_top(), "genalpha", **RUN, rho_inf=0.7)
    usual = {option["name"]: option["default"] for option in lgint.method_info("genalpha")["options"]}
    run.save(tmp_path / "run.npz")
    for found in (run, run[::2], lgint.load(tmp_path / "run.npz")):
        assert found.options == {**usual, "rho_inf": 0.7, "index": 3}
    folder = lgint.integrate(lgint.models.heavy_top(), "genalpha", **RUN, rho_inf=0.7, path=tmp_path / "run")
    assert folder.options == lgint.load(tmp_path / "run").options == run.options
    assert "rho_inf=0.7, index=3</td>" in run._repr_html_()


@pytest.mark.parametrize(
    ("make", "method", "options"),
    [
        (lgint.models.heavy_top, "genalpha", {"rho_inf": 0.5, "sigma": 0.0, "index": "stabilized"}),
        (lgint.models.heavy_top, "genalpha", {"newton": "modified", "predictor": "plain"}),
        (lgint.models.heavy_top, "genalpha", {"form": "printed"}),
        (lambda: lgint.models.heavy_top(formulation="euler_parameters"), "hht", {"modified": True, "alpha": -0.3}),
        (lgint.models.four_bar, "eml", {"equivariant": True}),
        (lgint.models.heavy_top, "rk44", {"project": "both"}),
    ],
)
def test_options_are_inherited(make, method, options, tmp_path):
    """A resumed run without options has the bits of one with those of its start."""
    run = lgint.integrate(make(), method, **RUN, **options)
    run.save(tmp_path / "run.npz")
    expected = resume(run, h=RUN["h"], **options)
    for start in (run, lgint.load(tmp_path / "run.npz")):
        found = resume(start, h=RUN["h"])
        assert same(found, expected) and found.options == run.options


@pytest.mark.parametrize("rtol", [1e-7, np.array([1e-7] * 6 + [1e-6] * 6)], ids=["number", "array"])
def test_error_control_is_inherited_unless_the_call_has_its_own_steps(rtol, tmp_path):
    run = lgint.integrate(lgint.models.heavy_top(), "dopri5", t_end=0.1, rtol=rtol)
    run.save(tmp_path / "run.npz")
    for start in (run, lgint.load(tmp_path / "run.npz")):
        assert same(resume(start), resume(run, rtol=rtol))
        fixed = resume(start, h=1e-3)
        assert len(fixed) == 101 and np.isnan(fixed.error).all()
    with pytest.raises(ValueError, match="h: a step size is required"):
        resume(lgint.integrate(lgint.models.heavy_top(), "dopri5", **RUN))


@pytest.mark.parametrize(
    ("make", "method", "options", "other"),
    [
        (lgint.models.four_bar, "eml", {"equivariant": True}, {"equivariant": False}),
        (lgint.models.heavy_top, "genalpha", {}, {"form": "printed"}),
        (lgint.models.heavy_top, "herk2", {"first_stage": "consistent"}, {"first_stage": "printed"}),
        (
            lambda: lgint.models.heavy_top(formulation="euler_parameters"),
            "hht",
            {"modified": True},
            {"modified": False},
        ),
    ],
    ids=["equivariant", "form", "first_stage", "modified"],
)
def test_options_that_multipliers_depend_on_cannot_change(make, method, options, other):
    run = lgint.integrate(make(), method, **RUN, **options)
    (name,) = other
    for call in (
        lambda: resume(run, h=RUN["h"], **other),
        lambda: lgint.Stepper(run.model, method, start=run, **other),
    ):
        with pytest.raises(ValueError, match=f"{name}: the run that is resumed has {name}=.*leave {name} out"):
            call()


def test_a_stepper_inherits_options():
    run = lgint.integrate(lgint.models.heavy_top(), "genalpha", **RUN, rho_inf=0.5, sigma=0.0)
    stepper = lgint.Stepper(run.model, "genalpha", start=run)
    for _ in range(20):
        stepper.step(RUN["h"])
    assert np.allclose(stepper.q, resume(run, h=RUN["h"]).q[-1], rtol=0, atol=1e-12)


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """Makes the folder of a run that was interrupted after half of its time, or before its first state."""
    monkeypatch.setattr("lgint._run.keep.Keeper.room", staticmethod(lambda model: 4))
    take = Keeper.take

    def make(model, method, *, begun=True, **arguments):
        def tired(keeper, rows):
            if begun:
                take(keeper, rows)
            if rows["t"][-1] > 0.05 or not begun:
                raise InterruptedError

        with monkeypatch.context() as patch, pytest.raises(InterruptedError):
            patch.setattr(Keeper, "take", tired)
            lgint.integrate(model, method, **arguments, path=tmp_path / "run")
        for note in () if begun else (tmp_path / "run").glob("*.npz"):
            note.unlink()
        return tmp_path / "run"

    return make


IN_A_FOLDER = [
    (lgint.models.heavy_top, "genalpha", {**RUN, "sigma": 0.0}, {"sigma": 1.0}),
    (lgint.models.heavy_top, "genalpha", {**RUN, "index": "stabilized"}, {"index": 3}),
    (lgint.models.heavy_top, "herk2", {**RUN, "first_stage": "printed"}, {"first_stage": "consistent"}),
    (lgint.models.heavy_top, "dopri5", {"t_end": 0.1, "h": 1e-3, "rtol": 1e-7}, {"rtol": 1e-6}),
    (lgint.models.four_bar, "eml", {**RUN, "equivariant": True}, {"equivariant": False}),
]


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize(("make", "method", "arguments", "other"), IN_A_FOLDER)
def test_a_folder_keeps_the_options_that_the_call_leaves_out(make, method, arguments, other, begun, interrupted):
    """It has the bits of a run that was not interrupted; before the first state the folder only has the options."""
    (name,) = other
    less = {key: value for key, value in arguments.items() if key != name}
    folder = interrupted(make(), method, **arguments, begun=begun)
    run = lgint.integrate(make(), method, **less, path=folder)
    assert run.options[name] == arguments[name] and same(run, lgint.integrate(make(), method, **arguments))


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize(("make", "method", "arguments", "other"), IN_A_FOLDER)
def test_a_folder_refuses_other_options_by_name(make, method, arguments, other, ended, interrupted):
    """The message has both values, and the folder does not change."""
    ((name, value),) = other.items()
    folder = interrupted(make(), method, **arguments)
    if ended:
        lgint.integrate(make(), method, **arguments, path=folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}
    text = f"{name}={arguments[name]!r}, but {value!r} was given; leave {name} out to continue that run, or choose"
    with pytest.raises(ValueError, match=text):
        lgint.integrate(make(), method, **{**arguments, **other}, path=folder)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


def test_the_kind_of_newton_may_change_in_a_folder(interrupted):
    """The folder continues with the latest one, also if rows were lost and an earlier note is used."""
    run = {**RUN, "newton_rtol": 1e-12}
    folder = interrupted(hinge(), "genalpha", **run, newton="full")
    found = lgint.integrate(hinge(), "genalpha", **run, newton="modified", path=folder)
    whole = lgint.integrate(hinge(), "genalpha", **run, newton="full")
    assert found.options["newton"] == lgint.load(folder).options["newton"] == "modified"
    assert np.allclose(found.q, whole.q, rtol=0, atol=1e-9) and not same(found, whole)
    expected = found.q.copy()
    (folder / "end.npz").unlink()
    (folder / "resume.npz").unlink()
    again = lgint.integrate(hinge(), "genalpha", **run, path=folder)
    assert again.options["newton"] == "modified" and np.array_equal(again.q, expected)


# ---- the matrix that modified Newton keeps ----


@pytest.mark.parametrize(("first", "then"), [("full", "modified"), ("modified", "full")])
@pytest.mark.parametrize("index", [3, "stabilized"])
def test_the_kind_of_newton_may_change(first, then, index):
    run = lgint.integrate(hinge(), "genalpha", **RUN, newton=first, index=index, newton_rtol=1e-12)
    found, expected = (resume(run, h=RUN["h"], newton=newton) for newton in (then, first))
    assert (found.stats.newton, expected.stats.newton) == (then, first)
    assert np.allclose(found.q, expected.q, rtol=0, atol=1e-9) and np.allclose(found.lam, expected.lam, rtol=1e-6)


def test_other_options_that_the_data_depend_on_are_refused():
    run = lgint.integrate(lgint.models.heavy_top(), "genalpha", **RUN)
    for other in ({"index": "stabilized"}, {"predictor": "plain"}, {"rho_inf": 1.0}):
        with pytest.raises(ValueError, match="start: the resumed run had other options"):
            resume(run, h=RUN["h"], **other)


# ---- memory ----


def forgetful(path, to):
    """The file as written by a version whose elements had no memory."""
    about, arrays = files.read(path)
    about["memory"] = []
    for name in ("mem", "end_mem", "knots_mem"):
        if name in arrays:
            arrays[name] = arrays[name][:, :0]
    files.write(to, about, arrays)
    return lgint.load(to)


@pytest.mark.parametrize("newton", ["full", "modified"])
def test_memory_that_a_file_lacks_is_completed_by_its_states(newton, tmp_path):
    """Less than half a turn from the start, the angle of a hinge and of its drive follow from the state."""
    run = lgint.integrate(hinge(), "genalpha", **RUN, newton=newton, dense_output=True)
    run.save(tmp_path / "run.npz")
    if newton == "modified":
        run.carry = np.delete(run.carry, -12)  # a value of the place at which the matrix was formed
        run.save(tmp_path / "run.npz")
    found = forgetful(tmp_path / "run.npz", tmp_path / "old.npz")
    assert found.mem.shape == run.mem.shape
    for a, b in ((found, run), (found.at([0.033, 0.077]), run.at([0.033, 0.077]))):
        assert np.allclose(a.joint_angle("pin"), b.joint_angle("pin"), rtol=0, atol=1e-14)
    expected = lgint.integrate(hinge(), "genalpha", t_end=2 * RUN["t_end"], h=RUN["h"], newton=newton)
    later = resume(found, h=RUN["h"])
    assert later.stats.newton == newton
    assert np.allclose(later.q[-1], expected.q[-1], rtol=0, atol=1e-7)
    assert np.allclose(later.joint_angle("pin")[-1], expected.joint_angle("pin")[-1], rtol=0, atol=1e-7)


def test_memory_of_another_model_is_refused(tmp_path):
    run = lgint.integrate(hinge(), "genalpha", **RUN)
    run.save(tmp_path / "run.npz")
    about, arrays = files.read(tmp_path / "run.npz")
    files.write(tmp_path / "run.npz", about, {**arrays, "mem": np.zeros((len(run), 7))})
    with pytest.raises(ValueError, match="mem: numbers of shape"):
        lgint.load(tmp_path / "run.npz")
