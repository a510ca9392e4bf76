"""What functions of time and controls return is judged: when they are added, or in the run with name and time."""

import numpy as np
import pytest

import lgint

ROD = {"start": (0, 0, 0), "end": (1, 0, 0), "edges": 2, "stiffness": (1e3,) * 6, "inertia": (1.0, 1e-3, 1e-3, 2e-3)}
PLACES = {
    "force of 'x'": lambda b, f: b.add_force("arm", force=f, name="x"),
    "torque of 'x'": lambda b, f: b.add_force("arm", torque=f, name="x"),
    "wind of 'x'": lambda b, f: b.add_drag("arm", drag=1.0, wind=f, name="x"),
    "load of 'x'": lambda b, f: b.add_rod("x", **ROD, load=f),
    "torque of 'x' ": lambda b, f: b.add_joint_drive("hinge", torque=f, name="x"),
    "tension of 'x'": lambda b, f: b.add_tendon(
        ["arm", lgint.ground], points=[(1, 0, 0), (0, 0, 2)], tension=f, name="x"
    ),
    "reference_strain of edge 'x.edge0'": lambda b, f: b.add_rod("x", **ROD, reference_strain=f),
}
WRONG = {"None": None, "'text'": "text", "1j": 1j, "the shape is (2,)": [0.0, 0.0], "[[0.0], 1.0]": [[0.0], 1.0]}


def arm():
    b = lgint.ModelBuilder(formulation="minimal")
    b.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    b.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    return b


@pytest.mark.parametrize("shown", WRONG)
@pytest.mark.parametrize("place", PLACES)
def test_a_function_of_time_is_judged_when_it_is_added(place, shown):
    with pytest.raises(ValueError, match="a function that returns .* expected; at t = 0 ") as refused:
        PLACES[place](arm(), lambda t: WRONG[shown])
    assert place.strip() in str(refused.value) and str(refused.value).endswith(shown)


@pytest.mark.parametrize("place", PLACES)
def test_a_function_may_begin_later(place):
    """An exception or a number that is not finite at t = 0 is for runs that get there."""
    PLACES[place](arm(), lambda t: 1 / t)
    values = 6 if "strain" in place else 1 if place == "tension of 'x'" or place.endswith(" ") else 3
    PLACES[place](arm(), lambda t: [np.nan] * values)


@pytest.mark.parametrize("value", [None, "text", [0.0, 0.0]])
@pytest.mark.parametrize("every", [None, 0.01])
def test_a_control_is_judged_in_the_run(value, every):
    b = arm()
    b.add_control(lambda state: [0.0] if state.t < 0.015 else value, joints="hinge", every=every, name="pid")
    expected = (
        r"must have shape \(1,\), given \(2,\)" if isinstance(value, list) else f"must be real numbers, given {value!r}"
    )
    with pytest.raises(ValueError, match=f"returned by the function of control pid {expected}"):
        lgint.integrate(b.build(), "genalpha", t_end=0.1, h=0.01)


def test_a_law_that_fails_says_where():
    b = arm()
    b.add_force_law(lambda t, angle, rate: 0.0 if t < 0.015 else None, joint="hinge", name="brake")
    with pytest.raises(
        ValueError, match="returned by the function of element brake must be real numbers, given None"
    ) as e:
        lgint.integrate(b.build(), "rk44", t_end=0.1, h=0.01)
    if hasattr(e.value, "__notes__"):  # from Python 3.11 on
        assert e.value.__notes__ == ["This is the function of element brake at t = 0.015."]
