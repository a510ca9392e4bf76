"""Files of earlier versions: they load with the numbers that they had, and resume as they would have continued."""

import json
import shutil

import numpy as np
import pytest

import lgint
from files.recorded import CASES, IN_FOLDERS, INTERRUPTED, RUNS, numbers_of, reactions, rest_numbers, resumed
from models.overconstrained import bennett

NUMBERS = json.loads((RUNS / "numbers.json").read_text())
SAVED = [f"{name}.npz" for name in CASES] + [*IN_FOLDERS]


def check(found, expected):
    """All numbers agree to the tolerance of Newton's method."""
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        scale = max(np.abs(values).max(initial=0.0), 1.0)
        assert np.allclose(found[name], values, rtol=0, atol=1e-7 * scale), name


@pytest.mark.parametrize("saved", SAVED)
def test_a_recorded_run_loads_and_goes_on(saved):
    name = saved.removesuffix(".npz")
    arguments = CASES[name][2]
    run = lgint.load(RUNS / saved)
    found = numbers_of(run, resumed(run, arguments))
    dense = {key for key in NUMBERS[name] if key.startswith("dense")}
    check(found, {key: NUMBERS[name][key] for key in NUMBERS[name].keys() - (set() if run.sol else dense)})


@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupted_folder_goes_on(name, tmp_path):
    make, method, arguments = CASES[name]
    folder = shutil.copytree(RUNS / f"{name}_interrupted", tmp_path / "run")
    assert lgint.load(folder).status == -1
    run = lgint.integrate(make(), method, **arguments, path=folder)
    check(numbers_of(run, resumed(run, arguments)), NUMBERS[name])


def test_rows_that_were_left_out_stay_left_out(tmp_path):
    """A folder of `bennett()` from a version that had no redundant rows in its models: its own model can continue."""
    arguments = {"t_end": 0.05, "h": 5e-3}
    folder = shutil.copytree(RUNS / "linkage_interrupted", tmp_path / "run")
    begun, whole = lgint.load(folder), lgint.integrate(bennett(), "genalpha", **arguments)
    with pytest.raises(ValueError, match=r"path: .* removed redundant rows .* lgint.load\(path\).model"):
        lgint.integrate(bennett(), "genalpha", **arguments, path=folder)
    with pytest.raises(ValueError, match=r"start: .* removed redundant rows .* start.model"):
        lgint.integrate(bennett(), "genalpha", **arguments, start=begun)
    run = lgint.integrate(begun.model, "genalpha", **arguments, path=folder)
    anew = bennett().with_state(begun, project=True)
    later = lgint.integrate(anew, "genalpha", t0=begun.t[-1], **arguments)
    assert (begun.status, run.status) == (-1, 0) and (run.lam.shape[1], whole.lam.shape[1]) == (17, 20)
    assert np.allclose(run.q[-1], whole.q[-1], rtol=0, atol=1e-7)
    assert np.allclose(reactions(run)[-1], reactions(whole)[-1], rtol=0, atol=1e-5)
    assert np.allclose(later.joint_angles()[-1], whole.joint_angles()[-1], rtol=0, atol=1e-5)


def test_a_recorded_equilibrium_loads():
    check(rest_numbers(lgint.load(RUNS / "rod_rest.npz")), NUMBERS["rod_rest"])
