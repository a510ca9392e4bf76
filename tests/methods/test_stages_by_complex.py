"""Derivatives of Runge-Kutta methods beside copies in complex arithmetic, where an imaginary step is exact."""

import numpy as np
import pytest

import lgint
from methods.stages_by_complex import half_explicit, munthe_kaas, radau
from methods.test_alpha_by_complex import BODIES, CRANK, TOP, crank_by_complex, top, top_by_complex

H, STEPS = 2e-3, 10
A, B = [[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]  # Kutta's method


def compare(run, copy, bodies, names):
    """The end of a run and its derivatives, with copy(name, step) -> (q, v)."""
    (q, v), place = copy(None, 0.0), {body: run.derivative("position", body)[-1] for body in bodies}
    for (x, R), body in zip(q, bodies, strict=True):
        np.testing.assert_allclose(run.position(body)[-1], x.real, rtol=0, atol=1e-11)
        np.testing.assert_allclose(run.rotation(body)[-1], R.real, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.v[-1], v.real, rtol=0, atol=1e-9)
    for k, name in enumerate(names):
        q, v = copy(name, 1e-30j)
        expected = np.concatenate([*(x for x, _ in q), v]).imag / 1e-30
        found = np.concatenate([*(place[body][:, k] for body in bodies), run.sensitivity.dv[-1, :, k]])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max(), err_msg=name)
        assert np.abs(expected).max() > 1e-7


@pytest.mark.parametrize("project", ["none", "both"])
def test_munthe_kaas_on_a_top(project):
    run = lgint.integrate(top(), "rk44", t_end=H * STEPS, h=H, project=project, sensitivity=[*TOP])

    def copy(name, step):
        return munthe_kaas(*top_by_complex(name, step), H, STEPS, A, B, project == "both")

    compare(run, copy, ["top"], TOP)


def test_munthe_kaas_on_a_slider_crank():
    model = lgint.models.slider_crank()
    run = lgint.integrate(model, "rk44", t_end=4 * H, h=H, sensitivity=[*CRANK])
    compare(run, lambda name, s: munthe_kaas(*crank_by_complex(model, name, s), H, 4, A, B), BODIES, CRANK)


# rows of the tableaux of tumiotto2024, Table 1, and the weights of multipliers
R3 = 3**0.5
HALF = {
    "herk2": ([[], [1], [1 / 2, 1 / 2]], 2, [1 / 2, 1 / 2]),
    "herk3": ([[], [1 / 2], [2 / 9, 4 / 9], [1 / 4, 0, 3 / 4]], 3, [0, -2, 3]),
    "herk4": (
        [
            [],
            [1],
            [3 / 8, 1 / 8],
            [-1 / 2, -1 / 2, 2],
            [1 / 6, 0, 2 / 3, 1 / 6],
            [(18 - R3) / 108, 0, (9 - 4 * R3) / 27, -7 * R3 / 108, R3 / 18],
        ],
        4,
        [0, 0, 0, 0, 1],
    ),
}


@pytest.mark.parametrize(
    ("method", "first"), [("herk2", "printed"), ("herk3", "consistent"), ("herk4", "printed"), ("herk4", "consistent")]
)
def test_half_explicit_methods(method, first):
    tableau, end, d = HALF[method]
    weights = d if first == "printed" else None
    run = lgint.integrate(top(), method, t_end=H * STEPS, h=H, first_stage=first, sensitivity=[*TOP])

    def copy(name, step):
        return half_explicit(*top_by_complex(name, step), H, STEPS, tableau, end, weights)

    compare(run, copy, ["top"], TOP)
    model = lgint.models.slider_crank()
    run = lgint.integrate(model, method, t_end=4 * H, h=H, first_stage=first, sensitivity=[*CRANK])

    def crank(name, step):
        return half_explicit(*crank_by_complex(model, name, step), H, 4, tableau, end, weights)

    compare(run, crank, BODIES, CRANK)


R6 = 6**0.5
RADAU = {
    "radau3": [[5 / 12, -1 / 12], [3 / 4, 1 / 4]],
    "radau5": [
        [(88 - 7 * R6) / 360, (296 - 169 * R6) / 1800, (-2 + 3 * R6) / 225],
        [(296 + 169 * R6) / 1800, (88 + 7 * R6) / 360, (-2 - 3 * R6) / 225],
        [(16 - R6) / 36, (16 + R6) / 36, 1 / 9],
    ],
}


@pytest.mark.parametrize("method", RADAU)
def test_radau_methods(method):
    run, known = lgint.integrate(top(), method, t_end=3 * H, h=H, sensitivity=[*TOP]), []
    compare(run, lambda name, s: radau(*top_by_complex(name, s), H, 3, RADAU[method], known), ["top"], TOP)


def test_a_radau_method_on_a_slider_crank():
    model, known = lgint.models.slider_crank(), []
    run = lgint.integrate(model, "radau3", t_end=H, h=H, sensitivity=[*CRANK])

    def copy(name, step):
        return radau(*crank_by_complex(model, name, step), H, 1, RADAU["radau3"], known)

    compare(run, copy, BODIES, CRANK)
