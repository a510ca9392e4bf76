"""Forces and joints that the builder adds by their rows alone: arguments, values, units, files, pictures and checks."""

import json
import re

import numpy as np
import pytest

import lgint
from elements.rows import ROWS, candidates
from lgint._model.parameters import DECLARED, WHOLE
from lgint._run import scene

PAIRS = [("R3xSO3", "SE3"), ("S3R3", "euler_parameters"), ("tait_bryan", "R3xRV")]
WRONG = {  # values that are not valid, and what a message says would be
    "any": (np.nan, "finite numbers"),
    "positive": (-1.0, "(a positive number|numbers > 0) expected, got .*-1"),
    "nonnegative": (-1.0, "a number >= 0 expected, got -1"),
    "unit vector": ((3.0, 0.0, 0.0), "a unit vector expected, got .*3"),
    "rotation": (np.diag([1.0, 1.0, -1.0]), "a rotation matrix, .* expected, got"),
    "symmetric": ([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "a symmetric matrix expected, got"),
    "semidefinite": (-1.0, ".*without negative eigenvalues expected, got -1"),
    "choice": ("nothing", "choose from"),
}


def given(kind):
    """Values of all parameters, in the shapes that their row declares, by name."""
    flat, found = list(next(candidates(ROWS[kind]))), {}
    for name, parameter in DECLARED[kind].parameters.items():
        count = int(np.prod(parameter.shape))
        found[name], flat = np.reshape(flat[:count], parameter.shape), flat[count:]
    return found


PLACES = {"a": ((0, 0, 0), (0.8, 0.48, 0.0, 0.36)), "b": ((0.9, 0.8, 0.6), (0.96, 0.0, -0.28, 0.0))}


def two(pair=PAIRS[0], turned=True):
    """Two bodies beside each other; Tait-Bryan angles of the first count from a rotation of its own."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    for formulation, (name, (x, turn)) in zip(pair, PLACES.items(), strict=True):
        angles = {"reference": (0.8, 0, 0.36, 0.48)} if formulation == "tait_bryan" else {}
        moving = {"velocity": (0.1, 0.2, -0.1), "angular_velocity": (0.3, -0.2, 0.1)} if turned else {}
        body = {"mass": 2.0, "inertia": (0.3, 0.5, 0.4), "position": x, "rotation": turn}
        b.add_body(name, **body, **angles, **moving, formulation=formulation)
    return b


def required(kind, point_a=(0, 0, 0), point_b=(0, 0, 0)):
    """Values of what may not be left out, for a joint such that it holds at the start: a wheel stands on its plane."""
    parameters = DECLARED[kind].parameters
    found = {name: value for name, value in given(kind).items() if parameters[name].default == "required"}
    if kind == "rolling":
        (x_a, R_a), (x_b, R_b) = ((np.array(x), lgint.groups.s3.rotation(np.array(p))) for x, p in PLACES.values())
        height = (x_b + R_b @ point_b - x_a - R_a @ point_a)[2]
        found["radius"] = height / np.sqrt(1 - (R_b @ found["axis"])[2] ** 2)
    return found


def ends(kind):
    return "ab"[: DECLARED[kind].frames]


def model(kind, pair=PAIRS[0], **other):
    """A model with this element, named "part". Rigid joints keep what the start has."""
    b = two(pair, turned=DECLARED[kind].family == "force")
    at = {"point_a": (0.1, 0.2, 0), "point_b": (0, 0.1, 0)}
    values = required(kind, **at) if DECLARED[kind].family == "joint" else given(kind)
    b.add_element(kind, *ends(kind), point=(0.1, 0.2, 0.3), name="part", **{**values, **other}) if (
        DECLARED[kind].frames == 1
    ) else b.add_element(kind, *ends(kind), **at, name="part", **{**values, **other})
    return b.build()


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("kind", WHOLE)
def test_check(kind, pair):
    report = lgint.check(model(kind, pair))
    assert report.ok, f"\n{report}"


@pytest.mark.parametrize("kind", WHOLE)
def test_formulations_agree(kind):
    """Vectors and matrices are in the axes of bodies, whatever axes a formulation has."""
    runs = [lgint.integrate(model(kind, pair), "genalpha", t_end=0.02, h=5e-4) for pair in PAIRS[:3:2]]
    for who in "ab":
        assert np.allclose(runs[0].velocity(who)[-1], runs[1].velocity(who)[-1], rtol=0, atol=1e-4)
        assert np.abs(runs[0].velocity(who)[-1] - runs[0].velocity(who)[0]).max() > 1e-2


@pytest.mark.parametrize("kind", WHOLE)
def test_values_and_units(kind):
    """A model with other values has the bits of one that is built with them."""
    start = model(kind)
    for name, parameter in DECLARED[kind].parameters.items():
        assert start.unit(f"part.{name}") == parameter.unit
        if DECLARED[kind].family == "joint":
            continue
        new = np.array(start.values[f"part.{name}"])
        new = new.T if parameter.valid == "rotation" else new if parameter.valid == "unit vector" else 1.25 * new
        changed, built = start.with_parameters(**{f"part.{name}": new}), model(kind, **{name: new})
        assert np.array_equal(changed.values[f"part.{name}"], new)
        a, b = (lgint.integrate(m, "genalpha", t_end=0.01, h=1e-3).q for m in (changed, built))
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("kind", WHOLE)
def test_files_and_pictures(kind, tmp_path):
    run = lgint.integrate(model(kind), "genalpha", t_end=0.01, h=1e-3)
    run.save(tmp_path / "run.npz")
    read = lgint.load(tmp_path / "run.npz").model
    assert json.dumps(read.record()) == json.dumps(run.model.record())
    again = lgint.integrate(read, "genalpha", t_end=0.01, h=1e-3)
    assert again.q.tobytes() == run.q.tobytes()
    drawn = [*scene.springs(run.model, scene.frames(run, 3))]
    pairs = DECLARED[kind].family == "force" and DECLARED[kind].frames == 2
    assert len(drawn) == (pairs and not kind.startswith("contact_"))  # contacts are drawn as the shapes of their bodies
    assert all(line.shape == (3, 2, 3) for line in drawn)


@pytest.mark.parametrize("kind", WHOLE)
def test_bad_arguments(kind):
    b = two()
    for name, parameter in DECLARED[kind].parameters.items():
        wrong, expected = WRONG[parameter.valid]
        if parameter.valid == "any" or (parameter.shape == (3,) and np.ndim(wrong) == 0):
            wrong = np.broadcast_to(wrong, parameter.shape)
        elif "," in parameter.unit:  # a matrix that needs one number for each axis
            wrong, expected = np.full(parameter.shape[0], wrong), expected.replace("-1", ".*-1")
        with pytest.raises(ValueError, match=f"(?s){name} of 'part': {expected}"):
            b.add_element(kind, *ends(kind), name="part", **{**given(kind), name: wrong})
        with pytest.raises(ValueError, match=f"{name} of 'part': shape .* expected"):
            b.add_element(kind, *ends(kind), name="part", **{**given(kind), name: np.zeros(17)})
        if parameter.default == "required":
            with pytest.raises(ValueError, match=f"{kind} 'part' needs {name}: .*{re.escape(parameter.unit)}"):
                b.add_element(kind, *ends(kind), name="part", **{**given(kind), name: None})
    with pytest.raises(ValueError, match=f"parameter of a {kind} 'colour'"):
        b.add_element(kind, *ends(kind), colour="blue")
    with pytest.raises(ValueError, match=f"{kind}: .* expected, got 3"):
        b.add_element(kind, "a", "b", "a")
    wrong = "point_a" if DECLARED[kind].frames == 1 else "local_point"
    with pytest.raises(ValueError, match=f"{wrong}: a {kind} acts on"):
        b.add_element(kind, *ends(kind), **{**given(kind), wrong: (0, 0, 0)})
    assert not b._forces and not b._joints


IN_TOUCH = "contact_"  # rows whose shapes are all required, and overlap in their examples
FITTED = [kind for kind in WHOLE if DECLARED[kind].frames == 2 and not kind.startswith(IN_TOUCH)]


@pytest.mark.parametrize("kind", FITTED)
def test_defaults_have_no_effect_at_the_start(kind):
    """What may be left out is zero or fits the start, so that a force between bodies at rest vanishes."""
    b = two(turned=False)
    at = {"point": (0.1, 0.2, 0.3)} if "axes_a" in DECLARED[kind].parameters else {}  # where both triads are
    b.add_element(kind, "a", "b", name="part", **at, **required(kind))
    built = b.build()
    zero = np.zeros(built.nv)
    found = built.core.evaluate(0.0, built.q0, zero, zero, want=("force", "phi"))
    gravity = two(turned=False).build().core.evaluate(0.0, built.q0, zero, zero, want=("force",))
    assert np.allclose(found["force"], gravity["force"], rtol=0, atol=1e-13)
    assert np.allclose(found["phi"], 0, atol=1e-13)


def test_a_symmetric_matrix_may_be_given_by_its_diagonal():
    for short, full in ((2.0, np.diag([2.0, 2.0, 2.0])), ((1, 2, 3), np.diag([1.0, 2.0, 3.0]))):
        assert model("drag", drag=short).values["part.drag"] == full.tolist()


def test_an_unknown_element_is_named():
    with pytest.raises(ValueError, match="unknown kind of element 'sprign' .*did you mean 'spring'"):
        two().add_element("sprign", "a", "b", stiffness=1.0)
