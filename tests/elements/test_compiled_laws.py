"""Compiled force laws against the same laws in Python, how they fail, and which are refused."""

import ctypes
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import LowLevelCallable

import compiled
import lgint
from lgint._model.compiled import checked
from lgint._model.missing import MissingFunctionError
from pace import in_turn, least, slowness

ELEMENT = "the function of 'motor'"


def arm(function, *, joint=False, bodies="arm", tangent=None, formulation="R3xSO3"):
    """An arm on a hinge with a free body beside it, and the law in the hinge or on bodies."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    builder.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(1, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    omega, form = (1.0, 0.3, 0.2), "R3xSO3" if formulation == "minimal" else formulation
    builder.add_body(
        "bob", mass=2.0, inertia=(0.2, 0.3, 0.4), position=(1, 1, 0), angular_velocity=omega, formulation=form
    )
    on = {"joint": "hinge"} if joint else {"bodies": bodies}
    builder.add_force_law(function, **on, tangent=tangent, name="motor")
    return builder.build()


def run(model, method="genalpha", **options):
    return lgint.integrate(model, method, t_end=0.1, h=2e-3, **options)


def swept(model, path):
    end = {"end": lambda found: found.q[-1, 0]}
    return lgint.sweep(model, {"mass": [1.0]}, "rk44", t_end=0.1, h=0.01, observables=end, path=path)["end"].values


def assert_same_tangents(own, twin):
    at = run(own, "dopri5", project="both").state(-1)
    own, twin = (model.state(at.q, at.v, at.t) for model in (own, twin))
    assert np.abs(own.stiffness_matrix() - twin.stiffness_matrix()).max() < 1e-6
    assert np.abs(own.damping_matrix() - twin.damping_matrix()).max() < 1e-6


CASES = {
    "torque": ("joint_law", {"joint": True}),
    "wrench": ("law", {"bodies": "bob"}),
    "wrenches": ("law", {"bodies": ("arm", "bob")}),
}


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "minimal", "euler_parameters", "tait_bryan"])
@pytest.mark.parametrize("name", CASES)
def test_a_compiled_law_has_the_bits_of_the_same_law_in_python(name, formulation):
    signature, where = CASES[name]
    own = arm(compiled.compiled(name, signature), **where, formulation=formulation)
    twin = arm(getattr(compiled, name), **where, formulation=formulation)
    assert not own.core.needs_gil and twin.core.needs_gil
    for method in ("dopri5", "genalpha"):
        assert np.array_equal(run(own, method).q, run(twin, method).q)


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal", "tait_bryan"])
@pytest.mark.parametrize("name", CASES)
def test_a_compiled_tangent_is_that_of_differences(name, formulation):
    signature, where = CASES[name]
    function = compiled.compiled(name, signature)
    plain, exact = (arm(function, **where, tangent=tangent, formulation=formulation) for tangent in (None, True))
    assert_same_tangents(exact, plain)


@pytest.mark.parametrize("formulation", ["tait_bryan", "tait_bryan_omega"])
@pytest.mark.parametrize("name", ["wrench", "wrenches"])
def test_laws_of_turned_frames_stay_compiled(name, formulation):
    signature, where = CASES[name]

    def turned(function, tangent):
        builder = lgint.ModelBuilder(formulation=formulation)
        for i, who in enumerate(("arm", "bob")):
            R = lgint.groups.so3.exp((0.3, -0.2 + i, 0.5))
            builder.add_body(
                who, mass=1.0, inertia=(0.1, 0.2, 0.25), position=(1, i, 0), velocity=(0, 1, i), reference=R
            )
        builder.add_force_law(function, bodies=where["bodies"], tangent=tangent, name="motor")
        return builder.build()

    models = [turned(compiled.compiled(name, signature), True), turned(getattr(compiled, name), None)]
    assert [model.core.needs_gil for model in models] == [False, True]
    own, twin = (run(model, "rk44") for model in models)
    assert np.abs(own.q - twin.q).max() < 1e-12 and np.abs(own.q[-1] - own.q[0]).max() > 1e-2
    assert_same_tangents(*models)


def test_user_data_reaches_the_function():
    stiffness = ctypes.c_double(5.0)
    pointer = ctypes.cast(ctypes.pointer(stiffness), ctypes.c_void_p)
    law = LowLevelCallable(compiled.compiled("torque", "joint_law"), pointer)
    twin = arm(lambda t, angle, rate: compiled.torque(t, angle, rate) - 2.0 * angle, joint=True)
    own = arm(law, joint=True)
    assert np.abs(run(own).q - run(twin).q).max() < 1e-12
    assert np.abs(run(own).q - run(arm(compiled.torque, joint=True)).q).max() > 1e-5


def test_a_status_ends_the_run_with_name_and_time():
    model = arm(compiled.compiled("fails", "joint_law"), joint=True)
    with pytest.raises(lgint.IntegrationError, match=rf"^{ELEMENT} returned the status 7 at t = 0\.0\d+$") as failed:
        run(model)
    assert failed.value.report["status"] == "CALLBACK"
    assert 0.04 < failed.value.trajectory.t[-1] <= 0.05
    with pytest.raises(lgint.IntegrationError, match=ELEMENT):
        model.state(t=1.0).accelerations()
    with ThreadPoolExecutor(2) as pool:  # exceptions stay in their threads
        errors = [pool.submit(run, model).exception() for _ in range(4)]
    assert [type(error) for error in errors] == [lgint.IntegrationError] * 4


def test_a_number_that_is_not_written_ends_the_run():
    with pytest.raises(lgint.IntegrationError, match=f"^{ELEMENT} left 1 of 1 numbers unwritten at t = 0.0"):
        run(arm(compiled.compiled("silent", "joint_law"), joint=True), retry=10)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "nan"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_a_number_that_is_not_finite_is_named(value, word):
    """Of a force, for which a smaller step may help, a run says the same of a law in C and in Python."""
    number = ctypes.c_double(value)
    data = ctypes.cast(ctypes.pointer(number), ctypes.c_void_p)
    for law in (
        LowLevelCallable(compiled.compiled("spoilt", "law"), data),
        lambda t, *_: [0, 0, 0, 0, value if t > 0.05 else 0, 0],
    ):
        for method in ("genalpha", "rk44", "radau5"):
            with pytest.raises(lgint.ConvergenceError, match=f": {word} at index 4 of the force of motor, at t = 0.0"):
                run(arm(law), method)
    with pytest.raises(lgint.ConvergenceError, match=f": {word} as the force of motor, at t = 0.0"):
        run(arm(lambda t, *_: value if t > 0.05 else 0, joint=True))


@pytest.mark.parametrize(("value", "word"), [(np.nan, "nan"), (np.inf, "infinity")])
def test_a_load_that_is_not_finite_is_named(value, word):
    number = ctypes.c_double(value)
    load = compiled.compiled("broken", "load")
    given = LowLevelCallable(load, ctypes.cast(ctypes.pointer(number), ctypes.c_void_p))
    for force, message in ((given, f"wrote {word} at index 1"), (load, "left 1 of 3 numbers unwritten")):
        builder = lgint.ModelBuilder()
        builder.add_body("arm", mass=1.0, inertia=(1, 1, 1))
        builder.add_force("arm", force=force, name="motor")
        with pytest.raises(lgint.IntegrationError, match=f"^{ELEMENT} {message} at t = 0.0"):
            run(builder.build())


def test_a_tangent_that_is_not_written_is_refused():
    with pytest.raises(ValueError, match="tangent of 'motor': .*, but 'fails' leaves 2 of 2 numbers unwritten"):
        arm(compiled.compiled("fails", "joint_law"), joint=True, tangent=True)
    with pytest.raises(ValueError, match="tangent of 'motor': .* 'half_wrench' leaves 36 of 72"):
        arm(compiled.compiled("half_wrench", "law"), tangent=True)
    b = lgint.ModelBuilder()
    b.add_body("arm", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    with pytest.raises(ValueError, match="tangent of 'spring': .* 'fails' leaves 2 of 2"):
        b.add_spring(lgint.ground, "arm", force=compiled.compiled("fails", "joint_law"), tangent=True, name="spring")
    assert not b._forces
    b.add_control(compiled.compiled("values_alone", "control"), bodies="arm", tangent=True, name="push")
    with pytest.raises(ValueError, match="tangent of control 'push': .* 'values_alone' leaves 72 of 72"):
        b.build()


def test_a_tangent_may_be_no_number_at_the_start():
    """What a function has written counts as written; a run says where it is not finite."""
    arm(compiled.compiled("singular_slope", "joint_law"), joint=True, tangent=True)


def test_wrong_signatures_are_refused_where_a_law_is_added():
    torque, wrench = compiled.compiled("torque", "joint_law"), compiled.compiled("wrench", "law")
    with pytest.raises(ValueError, match=r"function of 'motor': .*\(double t, const double \*x, .*\.law\), got"):
        arm(torque)
    with pytest.raises(ValueError, match=r"int \(double t, double coordinate, .*got int \(double, double \*, double"):
        arm(wrench, joint=True)
    with pytest.raises(ValueError, match="without argtypes"):
        arm(ctypes.CDLL(None).abs, joint=True)
    with pytest.raises(ValueError, match="tangent of 'motor': True if the compiled function writes it"):
        arm(torque, joint=True, tangent=compiled.torque_slopes)
    with pytest.raises(ValueError, match="reads of 'motor'"):
        builder = lgint.ModelBuilder()
        builder.add_body("arm", mass=1.0, inertia=(1, 1, 1))
        builder.add_force_law(wrench, bodies="arm", reads="arm", name="motor")
    of_floats = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_float)(lambda x: 0)
    with pytest.raises(ValueError, match=r"got int \(float\)"):
        arm(LowLevelCallable(of_floats), joint=True)


def test_no_two_types_are_the_same():
    """Otherwise a function in the wrong place could not be refused."""
    types = [lgint.signatures.c_type(name) for name in lgint.signatures.prototypes]
    assert len(types) == 7 and len(set(types)) == len(types)


def test_scipy_ctypes_and_capsules_give_the_same_function():
    function = compiled.compiled("torque", "joint_law")
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    name = b"int (double, double, double, double *, double *, void *)"
    capsule = new(ctypes.cast(function, ctypes.c_void_p), name, None)
    given = [function, LowLevelCallable(function), capsule, LowLevelCallable(capsule)]
    assert len({checked("law", one, "joint_law").address for one in given}) == 1
    other = new(ctypes.cast(function, ctypes.c_void_p), b"double (double)", None)
    with pytest.raises(ValueError, match=r"got double \(double\)"):
        checked("law", other, "joint_law")


def test_files_and_pickles_keep_the_name(tmp_path):
    model = arm(compiled.compiled("torque", "joint_law"), joint=True)
    run(model).save(tmp_path / "run.npz")
    for other in (lgint.load(tmp_path / "run.npz").model, pickle.loads(pickle.dumps(model))):
        with pytest.raises(MissingFunctionError, match="'torque'"):
            run(other)
    lgint.load(tmp_path / "run.npz").save(tmp_path / "again.npz")
    with pytest.raises(MissingFunctionError, match="the function of 'motor' is the compiled function 'torque'"):
        run(lgint.load(tmp_path / "again.npz").model)
    half = lgint.integrate(model, "genalpha", t_end=0.05, h=2e-3)
    half.save(tmp_path / "half.npz")
    whole = run(model, start=lgint.load(tmp_path / "half.npz"))
    assert np.array_equal(whole.q[-1], run(model).q[-1])


def test_a_run_from_a_file_goes_on_with_another_law_as_after_a_change(tmp_path):
    """The accelerations at its end are those of another law; the file knows its name."""
    half = run(arm(compiled.compiled("torque", "joint_law"), joint=True))
    half.save(tmp_path / "half.npz")
    other = arm(compiled.compiled("singular_slope", "joint_law"), joint=True)
    for start in (half, lgint.load(tmp_path / "half.npz")):
        rest = lgint.integrate(other, "genalpha", t_end=0.11, h=2e-3, start=start)
        assert np.abs(rest.vdot[0] - half.vdot[-1]).max() > 1e-3


def test_a_function_without_a_name_is_saved_as_one(tmp_path):
    from cffi import FFI

    ffi = FFI()
    ffi.cdef("int torque(double, double, double, double *, double *, void *);")
    address = ctypes.cast(compiled.compiled("torque", "joint_law"), ctypes.c_void_p).value
    law = LowLevelCallable(ffi.cast("int (*)(double, double, double, double *, double *, void *)", address))
    run(arm(law, joint=True)).save(tmp_path / "run.npz")
    with pytest.raises(MissingFunctionError, match="'motor' is a compiled function without a name and was not saved"):
        run(lgint.load(tmp_path / "run.npz").model)


def test_a_folder_knows_its_law_by_name(tmp_path):
    """A later call finds the same run; data and nameless functions could not be compared with those of that call."""
    model, other = (arm(compiled.compiled(name, "joint_law"), joint=True) for name in ("torque", "singular_slope"))
    first = run(model, path=tmp_path / "run")
    assert np.array_equal(run(model, path=tmp_path / "run").q, first.q)
    with pytest.raises(ValueError, match="holds a run with a different"):
        run(other, path=tmp_path / "run")
    number = ctypes.c_double(5.0)
    data = ctypes.cast(ctypes.pointer(number), ctypes.c_void_p)
    given = LowLevelCallable(compiled.compiled("torque", "joint_law"), data)
    refused = r"the compiled function 'torque', whose data no later call can compare; give a function that has a name"
    with pytest.raises(ValueError, match=refused):
        run(arm(given, joint=True), path=tmp_path / "other")
    with pytest.raises(ValueError, match=refused):
        swept(lambda mass: arm(given, joint=True), tmp_path / "runs")


def test_variants_and_steppers_keep_the_law():
    model = arm(compiled.compiled("torque", "joint_law"), joint=True)
    heavy = model.with_parameters(**{"arm.mass": 2.0})
    assert not heavy.core.needs_gil
    assert np.array_equal(run(heavy).q, run(arm(compiled.torque, joint=True).with_parameters(**{"arm.mass": 2.0})).q)
    stepper = lgint.Stepper(model, "genalpha")
    for _ in range(50):
        stepper.step(2e-3)
    assert np.array_equal(stepper.state.q, run(model).q[-1])


def test_a_run_goes_on_with_the_same_function_of_another_object():
    function = compiled.compiled("torque", "joint_law")
    first, second = (arm(LowLevelCallable(function), joint=True) for _ in range(2))
    half = lgint.integrate(first, "genalpha", t_end=0.05, h=2e-3)
    assert np.array_equal(run(second, start=half).q[-1], run(first).q[-1])


def test_ensembles_run_compiled_laws():
    own, twin = (arm(one, joint=True) for one in (compiled.compiled("torque", "joint_law"), compiled.torque))
    masses = {"arm.mass": [1.0, 2.0, 3.0]}
    pairs = zip(run(own.variants(masses)), run(twin.variants(masses)), strict=True)
    assert all(np.array_equal(first.q, second.q) for first, second in pairs)


def test_threads_share_a_model_with_a_compiled_law():
    model = arm(compiled.compiled("wrench", "law"), tangent=True)
    expected = run(model).q
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(found.q, expected) for found in pool.map(lambda _: run(model), range(8)))


@pytest.mark.measures
def test_another_thread_counts_on_meanwhile():
    model, done = arm(compiled.compiled("wrench", "law")), threading.Event()

    def work():
        lgint.integrate(model, "genalpha", t_end=2.0, h=5e-6, save_every=10000)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    turns = 0
    while not done.is_set():
        turns += 1
        done.wait(1e-3)
    thread.join()
    assert turns > 100


FREE = {"mass": 1.0, "inertia": (0.1, 0.2, 0.25)}


def free(add):
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("arm", **FREE)
    add(builder)
    return builder.build()


def hinged(add):
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    builder.add_body("arm", **FREE, position=(0.5, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    add(builder)
    return builder.build()


def driven(builder):
    builder.add_joint_drive("hinge", stiffness=3.0, damping=0.2)


def places():
    """By the place of a law: a model with a compiled one, and with the like of lgint's own."""
    own, steady = compiled.compiled, (0.1, 0.2, 0.3)
    push, swing = own("push", "load"), own("swing", "motion")
    return {
        "force": [free(lambda b, f=f: b.add_force("arm", force=f, frame="body")) for f in (push, steady)],
        "torque": [free(lambda b, f=f: b.add_force("arm", torque=f)) for f in (push, steady)],
        "wind": [free(lambda b, f=f: b.add_drag("arm", drag=0.1, wind=f)) for f in (push, steady)],
        "wrench": [
            free(lambda b: b.add_force_law(own("wrench", "law"), bodies="arm")),
            free(lambda b: b.add_drag("arm", drag=0.1)),
        ],
        "joint": [hinged(lambda b: b.add_force_law(own("torque", "joint_law"), joint="hinge")), hinged(driven)],
        "motion": [hinged(lambda b, f=f: b.add_joint_drive("hinge", stiffness=3.0, motion=f)) for f in (swing, 0.3)],
        "control": [
            hinged(lambda b: b.add_control(own("pid", "control"), joints="hinge", states={"sum": 0.1})),
            hinged(driven),
        ],
    }


def steps_of(model, steps=3000, **options):
    """A run of so many steps of rk44, which has four evaluations."""
    return lambda: lgint.integrate(model, "rk44", t_end=steps * 1e-4, h=1e-4, save_every=steps, **options)


MOST = 0.2e-6  # that a call takes over the like of lgint's own, the function's body included, s


@pytest.mark.measures
@pytest.mark.parametrize("place", ["force", "torque", "wind", "wrench", "joint", "motion", "control"])
def test_a_call_takes_at_most_a_fifth_of_a_microsecond(place):
    with_law, like = in_turn(*map(steps_of, places()[place]))
    assert with_law - like < 3000 * 4 * MOST * max(slowness(), 1)


@pytest.mark.measures
def test_calls_of_events_and_of_systems_take_as_little():
    height, model = compiled.compiled("height", "event"), free(lambda b: None)
    eleven, one = in_turn(*(steps_of(model, events=[height] * n) for n in (11, 1)))
    assert eleven - one < 3000 * 10 * MOST * max(slowness(), 1)
    mass, force = (compiled.compiled(name, "callable") for name in ("mass", "spring"))
    system = lgint.CallableModel(("Rn", 2), [1.0, 0.0], [0.0, 0.0], mass=mass, force=force)
    (whole,) = in_turn(steps_of(system))  # the method's own work included
    assert whole < 3000 * 8 * MOST * max(slowness(), 1)


@pytest.mark.measures
def test_a_compiled_law_is_faster_than_one_in_python():
    def on_body(law):
        return steps_of(free(lambda b: b.add_force_law(law, bodies="arm")), 1000)

    def in_joint(law):
        return steps_of(hinged(lambda b: b.add_force_law(law, joint="hinge")), 1000)

    law, torque = compiled.compiled("wrench", "law"), compiled.compiled("torque", "joint_law")
    assert 8 * least(on_body(law)) < least(on_body(compiled.wrench))
    assert 1.5 * least(in_joint(torque)) < least(in_joint(compiled.torque))
