"""Models with other parameters have the bits of models built with them, whatever changes and in any order."""

import gc
import threading
import timeit
from functools import partial

import numpy as np
import pytest

import cores
import lgint
from models.overconstrained import bennett
from pace import in_turn

GRAVITY = (0.0, 0.3, -9.81)
LIBRARY = [name for name in lgint.models.names() if "formulation" in lgint.models.parameters(name)]


def swing(t):
    """The motion of a support."""
    return [0.1 * np.sin(t), 0, 0, 0, 0.2 * t, 0], [0.1 * np.cos(t), 0, 0, 0, 0.2, 0], [-0.1 * np.sin(t), 0, 0, 0, 0, 0]


def drag_law(t, x, R, xdot, omega):
    """A law of its own, as users write them."""
    return np.concatenate([-0.3 * xdot, -0.1 * omega])


def workshop(formulation="R3xSO3"):
    """Five bodies with every kind of force and joint that has numbers to change, two of the bodies off their nodes."""
    b = lgint.ModelBuilder(gravity=GRAVITY, formulation=formulation)
    reference = None if formulation == "minimal" else (0.8, 0, 0.36, 0.48)
    b.add_support("carriage", position=(0, 0, 1), motion=swing)
    for i, name in enumerate("abcde"):
        turned = reference if name == "c" else None
        b.add_body(name, mass=1.0 + i, inertia=(0.2, 0.3 + 0.02 * i, 0.25), position=(i, 0, 0), reference=turned)
    b.add_joint("revolute", lgint.ground, "a", point=(-0.5, 0, 0), axis=(0, 1, 0), name="hinge")
    b.add_joint("prismatic", "a", "b", point=(0.5, 0, 0), axis=(1, 0, 0), name="slider")
    b.add_joint("revolute", "b", "c", point=(1.5, 0, 0), axis=(0, 1, 1), name="elbow")
    b.add_joint("revolute", lgint.ground, "d", point=(3, 1, 0), axis=(1, 0, 0), name="door")
    b.add_joint("revolute", "d", "e", point=(3.5, 0, 0), axis=(0, 0, 1), name="flap")
    b.add_distance("c", "d", point=[(2, 0.2, 0), (3, 0, 0.2)], name="bar")
    b.add_spring("b", "carriage", stiffness=40.0, damping=1.0, point=[(1, 0, 0), (0, 0, 1)], name="spring")
    b.add_cartesian_spring("c", "e", stiffness=(3, 4, 5), damping=(1, 2, 3), offset=(1, 0.1, 0), name="mount")
    b.add_joint_drive("hinge", torque=0.3, stiffness=2.0, damping=0.1, name="motor")
    b.add_joint_drive("slider", torque=0.2, stiffness=3.0, damping=0.2, name="jack")
    b.add_force("c", force=(0, 0.5, 0.1), frame="body", point=(2, 0.1, 0), name="push")
    b.add_force("d", torque=(0.1, 0.2, 0.3), name="twist")
    b.add_force("e", force=(0.3, 0, 0.1), point=(4, 0.1, 0.2), name="pull")
    b.add_force_law(drag_law, bodies="e", name="law")
    b.add_drag("d", drag=(1, 2, 3), name="air")
    b.add_tendon(["a", "c", "e"], tension=2.0, name="tendon")
    return b.build()


def rods():
    """A rod of each kind, one of them on a body."""
    b = lgint.ModelBuilder(gravity=GRAVITY, formulation="S3R3")
    for i, kind in enumerate((None, "kirchhoff", "inextensible")):
        line = {"start": (0, i, 0), "end": (1, i, 0), "edges": 2, "constraints": kind}
        b.add_rod(f"rod{i}", **line, stiffness=np.arange(2.0, 8), inertia=np.ones(4), damping=np.full(6, 0.1))
    return b.build()


def minimal_tree():
    return workshop("minimal")


def euler_parameters():
    return workshop("euler_parameters")


def dropped_rows():
    return bennett(redundant="drop")


MODELS = [lgint.models.get(name) for name in LIBRARY]
MODELS += [workshop, euler_parameters, minimal_tree, rods, dropped_rows]


def other(name, value, rng):
    """A value of the same kind, with other bits; of a drag its diagonal, as the builder takes it."""
    given = np.array(value)
    given = np.diag(given) if name.endswith(".drag") else given
    if name.endswith((".plane", ".axis", ".normal")):  # rotations and unit vectors
        return lgint.groups.so3.exp(rng.uniform(0.1, 0.4, 3)) @ given
    scaled = given * rng.uniform(1.1, 1.4)
    return scaled if scaled.any() else scaled + 0.25


def bits(model):
    """What the core returns for a model, its parameters, and a step of bodies that compute their own accelerations."""
    step = () if model.nc else lgint.integrate(model, "rk44", t_end=1e-4, h=1e-4).q.tobytes()
    return cores.bits(model.core, model.q0, model.mem0), model._parameters.tobytes(), step


def moves_points(model, name):
    """Whether a value, a centre of mass or a point of a joint, moves several points by its change."""
    owner, _, last = name.rpartition(".")
    return last == "com" or (last.startswith("point") and owner in model.joints)


@pytest.mark.filterwarnings("ignore:inertia of")  # published values, and scaled ones
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_every_parameter_has_the_bits_of_a_new_model(make):
    """One by one, each as a variant of the model, and all together as variants of variants."""
    model, rng = lgint.Model({**make().record(), "origin": None}), np.random.default_rng(5)
    before, chain = bits(model), model
    for name, value in model.values.items():
        change = {name: other(name, value, rng)}
        changed = model.with_parameters(**change)
        if not moves_points(model, name):  # there and back with round-off
            chain = chain.with_parameters(**change)
        assert bits(changed) == bits(lgint.Model(changed.record())), name
    assert bits(chain) == bits(lgint.Model(chain.record())) != before
    assert bits(model) == before
    kept = {name: value for name, value in model.values.items() if not moves_points(model, name)}
    old = {name: np.diag(value) if name.endswith(".drag") else value for name, value in kept.items()}
    assert bits(chain.with_parameters(**old)) == before


def test_the_models_have_every_kind_of_value():
    found = {name.rpartition(".")[2] for make in (workshop, rods) for name in make().values}
    entries = [
        "mass",
        "inertia",
        "com",
        "gravity",
        "stiffness",
        "damping",
        "length",
        "offset",
        "torque",
        "drag",
        "load",
    ]
    assert found == {*entries, "point", "point_a", "point_b", "point0", "point1", "point2"}


def test_a_body_may_lose_its_inertia_and_get_it_back():
    """With an inertia that cannot be inverted, a variant does not reuse the inverse of the original model."""
    model = lgint.models.rotor()
    name = next(name for name in model.values if name.endswith("inertia"))
    flat = model.with_parameters(**{name: (0.0, 0.0, 0.0)})
    again = flat.with_parameters(**{name: model.values[name]})
    assert bits(again) == bits(model)
    for changed in (model, flat):
        new = lgint.Model(changed.record())
        failures = []
        for system in (changed, new):
            try:
                failures.append(lgint.integrate(system, "rk44", t_end=1e-4, h=1e-4).q.tolist())
            except lgint.SingularError as error:
                failures.append(str(error))
        assert failures[0] == failures[1]


def test_variants_of_variants_live_without_the_models_they_come_from():
    model = workshop()
    for i in range(30):
        model = model.with_parameters(**{"a.mass": 1.0 + i, "bar.length": 1.0 + 0.01 * i})
    gc.collect()
    assert bits(model) == bits(lgint.Model(model.record()))


def test_threads_make_variants_of_one_model_and_run_them():
    model, found = workshop(), {}

    def work(first):
        for i in range(first, first + 5):
            variant = model.with_parameters(**{"b.mass": 2.0 + i}).with_parameters(gravity=(0, 0, -1.0 - i))
            found[i] = lgint.integrate(variant, "genalpha", t_end=0.01, h=1e-3).q

    threads = [threading.Thread(target=work, args=(5 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, q in found.items():
        record = model.with_parameters(**{"b.mass": 2.0 + i, "gravity": (0, 0, -1.0 - i)}).record()
        assert np.array_equal(q, lgint.integrate(lgint.Model(record), "genalpha", t_end=0.01, h=1e-3).q)
    assert len(found) == 20


# ---- cost ----


def row_of(bodies, formulation):
    """Bodies in a row that hangs on the ground, with springs and hinges between them."""
    b = lgint.ModelBuilder(gravity=GRAVITY, formulation=formulation)
    for i in range(bodies):
        b.add_body(f"b{i}", mass=1.0, inertia=(1, 1, 1), position=(i, 0, 0))
        before = f"b{i - 1}" if i else lgint.ground
        b.add_joint("revolute", before, f"b{i}", point=(i - 0.5, 0, 0), axis=(0, 1, 0))
        b.add_spring(before, f"b{i}", stiffness=1.0, point=[(i - 1, 0, 0), (i, 0, 0)], name=f"s{i}")
    return b.build()


@pytest.mark.measures
@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_a_variant_costs_a_small_part_of_building(formulation):
    """Whatever changes, it takes less than a fiftieth of the time of building a model of 100 bodies."""
    model = row_of(100, formulation)
    changes = {"b50.mass": 2.0, "b50.inertia": (2.0, 2.0, 3.0), "s50.stiffness": 3.0, "gravity": (0, 0, -1.6)}
    timers = [timeit.Timer(partial(model.with_parameters, **{name: value})) for name, value in changes.items()]
    fifty = (partial(timer.timeit, 50) for timer in timers)
    new, *variants = in_turn(lambda: lgint.Model(model.record()), *fifty, repeat=30)
    assert max(variants) < new, variants
