"""Runs with sensitivities go on with the bits of one run, from runs, files and folders; streams, sweeps, threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lgint

M = lgint.models
NAMES = ["top.mass", "gravity[2]"]
PARTS = ("dq", "dv", "dvdot", "dlam")
CASES = [
    *(("genalpha", {"index": index, "h": 1e-3}) for index in (2, 3, "stabilized")),
    ("genalpha", {"rtol": 1e-6}),
    ("newmark", {"h": 1e-3}),
    ("hht", {"h": 1e-3}),
    ("dopri5", {"rtol": 1e-6}),
    ("herk4", {"h": 1e-3}),
    ("radau5", {"h": 1e-3}),
]


def top(method="genalpha"):
    return M.heavy_top(formulation="euler_parameters" if method == "hht" else "R3xSO3")


def assert_same(run, other):
    assert run.sensitivity.parameters == other.sensitivity.parameters == NAMES
    np.testing.assert_array_equal(run.q, other.q)
    for part in PARTS:
        np.testing.assert_array_equal(getattr(run.sensitivity, part), getattr(other.sensitivity, part))


@pytest.mark.parametrize(("method", "options"), CASES)
def test_a_resumed_run_has_the_bits_of_one_run(method, options, tmp_path):
    model = top(method)
    whole = lgint.integrate(model, method, t_end=0.03, stops=[0.012], sensitivity=NAMES, **options)
    half = lgint.integrate(model, method, t_end=0.012, sensitivity=NAMES, **options)
    half.save(tmp_path / "half.npz")
    loaded, count = lgint.load(tmp_path / "half.npz"), len(half) - 1
    assert_same(whole[: count + 1], loaded)
    assert_same(whole[count:], lgint.integrate(model, method, t_end=0.03, start=half, **options))
    again = lgint.integrate(model, method, t_end=0.03, start=loaded, sensitivity=NAMES, **options)
    assert_same(whole[count:], again)


def test_a_folder_goes_on_after_ctrl_c(tmp_path):
    model, options = top(), {"t_end": 0.5, "h": 2e-5, "save_every": 250, "index": "stabilized", "sensitivity": NAMES}
    whole = lgint.integrate(model, "genalpha", **options)

    def interrupt(t):
        if t > 0.01:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        lgint.integrate(model, "genalpha", path=tmp_path / "run", progress=interrupt, **options)
    part = lgint.load(tmp_path / "run")
    assert 0 < part.t[-1] == caught.value.trajectory.t[-1] < 0.5
    np.testing.assert_array_equal(part.sensitivity.dq, caught.value.trajectory.sensitivity.dq)
    with pytest.raises(ValueError, match="sensitivity"):
        lgint.integrate(model, "genalpha", path=tmp_path / "run", **{**options, "sensitivity": NAMES[:1]})
    assert_same(whole, lgint.integrate(model, "genalpha", path=tmp_path / "run", **options))
    stored = lgint.load(tmp_path / "run")
    assert_same(whole, stored)
    np.testing.assert_array_equal(stored.derivative("position", "top"), whole.derivative("position", "top"))


def test_functions_and_parts_that_are_saved():
    model, options = top(), {"t_end": 0.01, "h": 1e-3, "sensitivity": NAMES}
    whole = lgint.integrate(model, "genalpha", **options)
    expected = whole.derivative("position", "top")
    saved = lgint.integrate(model, "genalpha", save={"z": lambda run: run.derivative("position", "top")}, **options)
    np.testing.assert_array_equal(saved.saved["z"], expected)
    assert saved.sensitivity is None
    parts = lgint.integrate(model, "genalpha", save=["q", "v"], **options)
    assert_same(whole, parts)
    np.testing.assert_array_equal(parts.derivative("position", "top"), expected)


def test_what_is_refused():
    model, options = top(), {"t_end": 0.02, "h": 1e-3}
    plain = lgint.integrate(model, "genalpha", t_end=0.01, h=1e-3)
    with_slopes = lgint.integrate(model, "genalpha", t_end=0.01, h=1e-3, sensitivity=NAMES)
    with pytest.raises(ValueError, match="sensitivity: the run that is resumed has derivatives by none"):
        lgint.integrate(model, "genalpha", start=plain, sensitivity=NAMES, **options)
    with pytest.raises(ValueError, match="has derivatives by 'top.mass', 'gravity.2.'"):
        lgint.integrate(model, "genalpha", start=with_slopes, sensitivity=NAMES[:1], **options)
    with pytest.raises(ValueError, match="t_eval: derivatives are known at steps only"):
        lgint.integrate(model, "genalpha", save=["q"], t_eval=[0.01], sensitivity=NAMES, **options)
    fresh = lgint.integrate(model.with_state(with_slopes), "genalpha", t0=0.01, **options)
    assert fresh.sensitivity is None and len(fresh) == 11


def test_lists_of_models_and_threads():
    models = [top().with_parameters(**{"top.mass": mass}) for mass in (12.0, 15.0)]
    options = {"t_end": 0.02, "h": 1e-3, "sensitivity": NAMES}
    alone = [lgint.integrate(model, "genalpha", **options) for model in models]
    with ThreadPoolExecutor(2) as pool:
        threads = [*pool.map(lambda model: lgint.integrate(model, "genalpha", **options), models)]
    for run, other, third in zip(alone, lgint.integrate(models, "genalpha", **options), threads, strict=True):
        assert_same(run, other)
        assert_same(run, third)


def test_observables_of_sweeps():
    observe = {
        "slope": lambda run: run.derivative("position", "top")[-1],
        "dv": lambda run: run.sensitivity.dv[-1, 0],
    }
    options = {"t_end": 0.02, "h": 1e-3, "sensitivity": NAMES}
    data = lgint.sweep(top(), {"top.mass": [12.0, 15.0]}, "genalpha", observe, **options)
    for i, mass in enumerate((12.0, 15.0)):
        run = lgint.integrate(top().with_parameters(**{"top.mass": mass}), "genalpha", **options)
        np.testing.assert_array_equal(data.slope[i], run.derivative("position", "top")[-1])
        np.testing.assert_array_equal(data.dv[i], run.sensitivity.dv[-1, 0])
    with pytest.warns(UserWarning, match="did you mean 'top.mass'"):
        data = lgint.sweep(top(), {"h": [1e-3]}, "genalpha", observe, t_end=0.02, sensitivity=["top.mas"])
    assert np.isnan(data.slope).all()
