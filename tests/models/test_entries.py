"""Entries of arrays, points, curves and tables as values of models: by name, in units, and in sweeps."""

import pickle

import numpy as np
import pytest

import lgint

INERTIA = np.array([[1.0, 0.1, -0.2], [0.1, 1.5, 0.05], [-0.2, 0.05, 2.0]])
K = np.diag([100.0, 200, 300, 40, 50, 60])
PULL = ([0.4, 0.9, 1.1, 1.6], [-30.0, -4.0, 2.0, 40.0])
WIND = ([0.0, 0.3, 1.0], [(0, 0, 0), (1, 2, 0), (1, 0, 3)])


def build(inertia=INERTIA, stiffness=K, pull=PULL, wind=WIND, point=(0.1, 0.2, 0), formulation="R3xSO3"):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    for i, name in enumerate(("arm", "tip")):
        b.add_body(name, mass=2.0, inertia=inertia, position=(i, 0, 0), angular_velocity=(0.3, 0.1, -0.2))
    b.add_bushing("arm", "tip", stiffness=stiffness, point=(0.5, 0, 0), name="bushing")
    b.add_spring(lgint.ground, "arm", force=pull, point_a=(-1, 0, 0), point_b=point, name="strut")
    b.add_force("tip", force=wind, local_point=(0, 0.1, 0), name="wind")
    b.add_force("arm", torque=(0.1, 0.2, 0.3), name="motor")
    return b.build()


def entry(array, *index, to):
    changed = np.array(array, dtype=float)
    changed[index] = to
    return changed


both = entry(entry(INERTIA, 0, 1, to=0.3), 1, 0, to=0.3)
coupled = entry(entry(K, 0, 4, to=7.0), 4, 0, to=7.0)
CASES = [  # a name, its present value, another one, its unit, and the arguments of the same model built with it
    ("arm.inertia[0,1]", 0.1, 0.3, "kg m^2", None),
    ("bushing.stiffness[0,4]", 0.0, 7.0, "N", {"stiffness": coupled}),
    ("bushing.stiffness[2,2]", 300.0, 310.0, "N/m", {"stiffness": entry(K, 2, 2, to=310.0)}),
    ("bushing.stiffness[5, 5]", 60.0, 61.0, "N m", {"stiffness": entry(K, 5, 5, to=61.0)}),
    ("strut.curve0[1,2]", 2.0, 3.0, "N", {"pull": (PULL[0], [-30.0, -4.0, 3.0, 40.0])}),
    ("strut.curve0[0,2]", 1.1, 1.2, "m", {"pull": ([0.4, 0.9, 1.2, 1.6], PULL[1])}),
    ("wind.load[1,0]", 1.0, 4.0, "N", {"wind": (WIND[0], [(0, 0, 0), (4, 2, 0), (1, 0, 3)])}),
    ("motor.load[2]", 0.3, 0.5, "N m", None),
    ("strut.point_b[1]", 0.2, 0.25, "m", {"point": (0.1, 0.25, 0)}),
    ("strut.point_b", [0.1, 0.2, 0.0], [0.0, 0.3, 0.1], "m", {"point": (0.0, 0.3, 0.1)}),
]


@pytest.mark.parametrize(("name", "present", "other", "unit", "same"), CASES, ids=[case[0] for case in CASES])
def test_an_entry_is_a_value(name, present, other, unit, same):
    """The changed model has the bits of one that is built with the other value, and nothing else has changed."""
    model = build()
    assert name in model.values and model.values[name] == present and model.unit(name) == unit
    changed = model.with_parameters(**{name: other})
    assert changed.values[name] == other and model.values[name] == present
    different = [key for key, value in model.values.items() if not np.array_equal(value, changed.values[key])]
    assert different == [name.partition("[")[0]]
    assert changed.record() != model.record() and changed.with_parameters(**{name: present}).record() == model.record()
    a = lgint.integrate(changed, "genalpha", t_end=0.2, h=1e-2)
    assert not np.array_equal(a.q, lgint.integrate(model, "genalpha", t_end=0.2, h=1e-2).q)
    if same:
        assert a.q.tobytes() == lgint.integrate(build(**same), "genalpha", t_end=0.2, h=1e-2).q.tobytes()
    assert pickle.loads(pickle.dumps(changed)).record() == changed.record()


def test_entries_of_one_matrix_add_up():
    changed = build().with_parameters(**{"arm.inertia[0,1]": 0.3, "arm.inertia[2,2]": 2.2, "arm.mass": 3.0})
    assert np.array_equal(changed.values["arm.inertia"], entry(both, 2, 2, to=2.2))


def test_entries_vary_in_sweeps():
    data = lgint.sweep(
        build(),
        {"arm.inertia[0,1]": [0.0, 0.3], "strut.point_b[1]": [0.1, 0.2, 0.3]},
        "genalpha",
        t_end=0.05,
        h=1e-2,
        observables={"z": lambda run: run.position("tip")[-1, 2]},
    )
    assert data["z"].shape == (2, 3) and len(np.unique(data["z"])) == 6
    assert data["arm.inertia[0,1]"].attrs["units"] == "kg m^2"


WRONG = [
    ("arm.inertia[0,3]", 1.0, "is not a value of this model"),
    ("arm.inertia[0]", 1.0, "is not a value of this model"),
    ("arm.mass[0]", 1.0, "is not a value of this model"),
    ("arm.inertia[0,1]", 9.0, "arm"),
    ("arm.inertia[0,1]", (1.0, 2.0), r"arm.inertia\[0,1\]"),
    ("strut.curve0[0,2]", 0.5, "ascending values expected in the first row"),
    ("strut.point_b", (1.0, 2.0), r"strut.point_b: shape \(3,\) expected"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_bad_entries(name, value, message):
    with pytest.raises(ValueError, match=message):
        build().with_parameters(**{name: value})
