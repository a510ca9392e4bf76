"""The record of a model is plain data, with a name for every entry and every fact in one place."""

import copy
import pickle

import numpy as np
import pytest

import lgint

BAR = {"mass": 2.0, "inertia": (0.01, 0.2, 0.2)}

BODIES = [name for name in lgint.models.names() if "formulation" in lgint.models.parameters(name)]

FORMULATIONS = ["R3xSO3", "SE3", "euler_parameters", "tait_bryan", "minimal"]


def pendulum(formulation, joint="revolute", **how):
    """A bar on a driven hinge about a slanted axis."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    reference = None if formulation == "minimal" else (0.8, 0, 0.36, 0.48)
    b.add_body("bar", mass=2.0, inertia=(0.1, 0.2, 0.25), position=(0.5, 0.1, -0.2), reference=reference)
    b.add_joint(joint, lgint.ground, "bar", point=(0.1, 0, 0), axis=(1, 2, 2), name="joint", **how)
    b.add_joint_drive("joint", torque=3.0, name="drive")
    return b.build()


def changed(model, change):
    """A model from a copy of the record that the function has changed."""
    record = copy.deepcopy(model.record())
    change(record)
    return lgint.Model(record)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_mass_of_a_body_stands_in_one_place(formulation):
    """The weight, the inertia and the momentum follow when the one number is doubled."""
    model = pendulum(formulation)

    def double(record):
        record["bodies"]["bar"]["mass"] *= 2

    heavy = changed(model, double)
    rise = np.linspace(0.3, 1.0, model.nv)
    for mass, m in ((2.0, model), (4.0, heavy)):
        run = lgint.integrate(m.with_state(v=rise, project=True), "rk44", t_end=1e-3, h=1e-3)
        assert np.allclose(run.momentum(), mass * run.velocity("bar"), rtol=1e-13)
        assert run.energy("potential")[1] - run.energy("potential")[0] == pytest.approx(
            mass * 9.81 * (run.position("bar")[1, 2] - run.position("bar")[0, 2]), rel=1e-9
        )
        omega = run.angular_velocity("bar")
        turning = np.einsum("ni,i,ni->n", omega, (0.1, 0.2, 0.25), omega)
        kinetic = mass * (run.velocity("bar") ** 2).sum(1) / 2 + turning / 2
        assert np.allclose(run.energy("kinetic"), kinetic, rtol=1e-12)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_triad_of_a_joint_stands_in_one_place(formulation):
    """Rows, drive and reaction follow when the axes are turned on both bodies."""
    turn = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])  # the new e3 is the old second axis

    def turned(record):
        row = record["joints"]["joint"]
        row["triads"] = [(np.array(triad) @ turn.T).tolist() for triad in row["triads"]]

    model = pendulum(formulation)
    other = changed(model, turned)
    axis = model.joint_triad("joint", 0) @ turn.T[:, 2]
    run = lgint.integrate(other, "rk44", t_end=1e-3, h=1e-3)
    spin = run.rotation("bar")[-1] @ run.angular_velocity("bar")[-1]
    assert np.allclose(np.cross(spin, axis), 0.0, atol=1e-9 * np.linalg.norm(spin)) and np.linalg.norm(spin) > 1e-4
    assert run.joint_rate("joint")[-1] == pytest.approx(axis @ spin, rel=1e-9)
    reaction = run.reaction("joint", frame="joint")[0]
    assert reaction[5] == pytest.approx(0.0, abs=1e-10) and abs(reaction[:3]).max() > 1


@pytest.mark.filterwarnings("ignore:inertia of")  # published values
@pytest.mark.parametrize("name", BODIES)
def test_records_are_plain_and_every_entry_has_a_name(name):
    """Lists hold numbers, or rows of numbers of equal length; everything else has a key."""
    record = lgint.models.get(name)().record()

    def check(value, path):
        if isinstance(value, dict):
            for key, item in value.items():
                check(item, (*path, key))
        elif isinstance(value, (list, tuple)):
            assert path[-1] in ("bodies", "nodes", "edges") or np.asarray(value).dtype.kind in "fi", path

    check({key: value for key, value in record.items() if key != "origin"}, ("record",))


@pytest.mark.filterwarnings("ignore:inertia of")
@pytest.mark.parametrize("name", BODIES)
def test_a_model_of_a_record_is_the_same_model(name):
    model = lgint.models.get(name)()
    again = lgint.Model(pickle.loads(pickle.dumps(model.record())))
    method = "rk44" if model.nc == 0 else "genalpha"
    runs = [lgint.integrate(m, method, t_end=3e-4, h=1e-4) for m in (model, again)]
    assert np.array_equal(runs[0].q, runs[1].q) and np.array_equal(runs[0].lam, runs[1].lam)


@pytest.mark.parametrize("side", ["first", "second"])
@pytest.mark.parametrize("joint", ["revolute", "prismatic"])
def test_reactions_in_the_axes_of_a_joint_do_not_depend_on_the_formulation(joint, side):
    """In a tree as well, the triad of the second body is that at the angle zero."""
    found = []
    for formulation in ("R3xSO3", "minimal"):
        run = lgint.integrate(pendulum(formulation, joint, angle=0.4), "rk44", t_end=1e-3, h=1e-3)
        found.append(run.reaction("joint", frame="joint", on=side)[0])
    assert np.allclose(*found, atol=1e-9) and abs(found[0]).max() > 1


def test_the_record_of_a_bar_is_what_was_said():
    """The record holds what the builder was given, and nothing derived from it."""
    b = lgint.ModelBuilder()
    b.add_body("bar", **BAR, position=(1, 2, 3))
    (row,) = b.build().record()["bodies"].values()
    assert row["mass"] == BAR["mass"] and np.array_equal(row["inertia"], np.diag(BAR["inertia"]))


def test_a_benchmark_model_shows_its_name():
    top = lgint.models.heavy_top()
    assert repr(top) == "<lgint.Model heavy_top: 1 body, 1 joint, nq=12 nv=6 nc=3>"
    assert repr(top.with_parameters(**{"top.mass": 2.0})) == "<lgint.Model 1 body, 1 joint, nq=12 nv=6 nc=3>"
