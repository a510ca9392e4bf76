"""Trajectories of states at other times, and of some of the states."""

import numpy as np
import pytest

import lgint
from face import systems

PARTS = ("t", "q", "v", "vdot", "lam", "mem")
TIMES = np.array([0.0, 0.0123, 0.1, 0.15, 0.15001, 0.4])


def spinning(method="rk44", **options):
    """A pendulum that turns several times about its pin, by far more than half a turn between saved states."""
    model = systems.pendulum(omega=60.0)
    return lgint.integrate(model, method, t_end=0.4, h=2.5e-3, **options)


@pytest.fixture(scope="module")
def run():
    return spinning(dense_output=True)


@pytest.mark.parametrize("method", ["rk44", "genalpha"])
def test_states_at_times_are_those_of_t_eval(method):
    found, wanted = spinning(method, dense_output=True).at(TIMES), spinning(method, t_eval=TIMES)
    for name in PARTS:
        assert getattr(found, name).tobytes() == getattr(wanted, name).tobytes(), name
    assert found.joint_angle("pin")[-1] > 6 * np.pi
    for name in ("energy", "constraint_residual", "angular_momentum", "joint_angles"):
        assert np.array_equal(getattr(found, name)(), getattr(wanted, name)())


def test_momenta_at_times_are_those_of_t_eval():
    runs = [
        lgint.integrate(lgint.models.spring_pendulum(), "eml", t_end=0.4, h=0.02, **options)
        for options in ({"dense_output": True}, {"t_eval": TIMES})
    ]
    found = runs[0].at(TIMES)
    assert found.extra["p"].shape == (6, 3) and found.extra["p"].tobytes() == runs[1].extra["p"].tobytes()
    assert np.array_equal(runs[0].at(runs[0].t).extra["p"], runs[0].extra["p"])


def test_angles_at_times_count_turns_between_saved_states():
    """A wheel makes 1.6 turns between saved states; at all times its angle is omega t."""
    model = systems.pendulum(omega=40.0, gravity=(0, 0, 0))
    run = lgint.integrate(model, "rk44", t_end=2.0, h=5e-3, save_every=50, dense_output=True)
    times = np.sort(np.random.default_rng(1).uniform(0, 2, 40))
    assert np.allclose(run.at(times).joint_angle("pin"), 40 * times, atol=1e-3)
    assert run.at(1.9).joint_angle("pin") == pytest.approx(76.0, abs=1e-3)


def test_steps_in_which_times_lie():
    run = lgint.integrate(systems.pendulum(), "dopri5", t_end=0.5, rtol=1e-6, dense_output=True)
    middle = 0.5 * (run.t[1:] + run.t[:-1])
    assert np.allclose(run.at(middle).h, run.h[1:], rtol=1e-12)
    assert np.isnan(run.at(middle).error).all() and np.allclose(run.at(run.t).h, run.h, rtol=1e-12)


def test_what_belongs_to_the_run_stays(run, tmp_path):
    for part in (run.at([0.1, 0.2]), run[3:7]):
        assert part.method == run.method and part.stats == run.stats and part.status == 0
        again = lgint.integrate(run.model, "rk44", t_end=0.5, h=2.5e-3, start=part)
        assert again.q.tobytes() == lgint.integrate(run.model, "rk44", t_end=0.5, h=2.5e-3, start=run).q.tobytes()
        part.save(tmp_path / "part.npz")
        twin = lgint.load(tmp_path / "part.npz")
        for name in PARTS:
            assert np.array_equal(getattr(twin, name), getattr(part, name))
        assert np.array_equal(twin.at(0.3).mem, run.at(0.3).mem)


def test_momenta_of_dense_output_are_saved(tmp_path):
    run = lgint.integrate(lgint.models.spring_pendulum(), "eml", t_end=0.2, h=0.02, dense_output=True)
    run.save(tmp_path / "run.npz")
    assert np.array_equal(lgint.load(tmp_path / "run.npz").at(TIMES[:4]).extra["p"], run.at(TIMES[:4]).extra["p"])


def test_events_stay():
    def turns(t, q, v):
        return np.sin(q[0])

    model = systems.pendulum("minimal", omega=60.0)
    run = lgint.integrate(model, "rk44", t_end=0.4, h=5e-3, events=turns, dense_output=True)
    assert run[5].t_events[0].tolist() == run.t_events[0].tolist() and len(run.t_events[0]) > 5
    assert np.abs(np.sin(run.at(run.t_events[0]).q)).max() < 1e-12


@pytest.mark.parametrize(
    "index",
    [slice(3, 9), slice(None, None, 10), slice(-4, None), slice(5, 5), np.array([0, 7, -1]), [2, 3], "mask"],
    ids=str,
)
def test_some_of_the_states(run, index):
    index = run.t > 0.2 if isinstance(index, str) else index
    part = run[index]
    for name in (*PARTS, "h", "error"):
        assert np.array_equal(getattr(part, name), getattr(run, name)[index], equal_nan=True)
    assert np.array_equal(part.joint_angle("pin"), run.joint_angle("pin")[index])
    assert np.array_equal(part.energy(), run.energy()[index]) and "states" in repr(part)


def test_one_state(run):
    for i in (0, 5, -1, np.int64(-2)):
        assert run[i].t.tolist() == [run.t[i]] and run[i].position("bar").shape == (1, 3)
    assert [state.t[0] for state in run] == run.t.tolist()
    with pytest.raises(IndexError, match=f"index: {len(run)} is not one of the {len(run)} states"):
        run[len(run)]


@pytest.mark.parametrize(
    "index",
    [slice(None, None, -1), slice(None, None, 0), [3, 2], [1, 1], 0.5, True, "t", [True], (1, 2), [[1]], None]
    + [slice(0.1, None), slice("a", "b"), slice(None, None, 0.5)],
)
def test_indices_that_are_refused(run, index):
    with pytest.raises(ValueError, match="index: "):
        run[index]


@pytest.mark.parametrize("times", [0.41, -1e-9, [0.1, 0.1], [0.2, 0.1], [[0.1]], np.nan, "now"])
def test_times_that_are_refused(run, times):
    with pytest.raises(ValueError, match="times: "):
        run.at(times)


def test_without_dense_output():
    with pytest.raises(ValueError, match="at: .* dense_output=True"):
        spinning().at(0.1)
