"""`study`, `compare` and `drift`: errors, observed orders, costs and invariants."""

import numpy as np
import pytest

import lgint
from face import systems
from face.tops import functions
from kinds import FORMULATIONS
from lgint._tools.orders import asymptotic


@pytest.fixture(scope="module")
def top():
    return lgint.models.heavy_top()


def test_study(top):
    study = lgint.study(top, "rk44", [1e-3, 5e-4, 2.5e-4], t_end=0.05)
    assert abs(study.orders["q"][-1] - 4) < 0.2
    assert set(study.errors) == {"q", "v", "lam"}
    table = str(study)
    assert table.count("\n") == 4
    assert "rk44" in table
    free = lgint.study(lgint.models.free_body(formulation="SE3"), "euler", [1e-3, 5e-4], t_end=0.05)
    assert set(free.errors) == {"q", "v"}


def test_study_with_a_reference(top):
    best = lgint.integrate(top, "rk67", t_end=0.05, h=5e-5)
    study = lgint.study(top, "genalpha", [5e-4, 2.5e-4, 1.25e-4], t_end=0.05, reference=best, sigma=0.0)
    assert abs(study.orders["q"][-1] - 2) < 0.15
    with pytest.raises(ValueError, match="reference: a run to t = 0.1"):
        lgint.study(top, "rk44", [1e-3, 5e-4], t_end=0.1, reference=best)
    with pytest.raises(ValueError, match="at least two"):
        lgint.study(top, "rk44", [1e-3], t_end=0.1)


@pytest.mark.parametrize("method", ["rk33", "genalpha"])
@pytest.mark.parametrize("formulation", [*FORMULATIONS, "minimal"])
def test_study_against_another_formulation(formulation, method):
    """The observed order is that of the method, whatever the formulation of the reference, for two turned bodies."""
    best = lgint.integrate(systems.double_pendulum(), "rk67", t_end=0.2, h=1e-3)
    model = systems.double_pendulum(formulation, formulation)
    study = lgint.study(model, method, [4e-3, 2e-3, 1e-3], t_end=0.2, reference=best)
    same = formulation == "R3xSO3"
    assert set(study.errors) == ({"q", "v", "lam"} if same else {"q", "v"})
    for name in ("q", "v"):
        assert abs(study.orders[name][-1] - study.order) < 0.15, (name, study.orders)


def test_the_errors_of_a_study_are_those_of_the_bodies():
    """They are those of the positions, rotations and velocities that the trajectories report."""
    runs = {
        name: lgint.integrate(systems.double_pendulum(name, name), "rk44", t_end=0.1, h=1e-2)
        for name in ("SE3", "R3xS3")
    }
    study = lgint.study(systems.double_pendulum("SE3", "SE3"), "rk44", [2e-2, 1e-2], t_end=0.1, reference=runs["R3xS3"])
    one, other = runs["SE3"], runs["R3xS3"]
    q, v = [], []
    for name in ("upper", "lower"):
        q += [one.position(name)[-1] - other.position(name)[-1]]
        q += [lgint.groups.so3.log(other.rotation(name)[-1].T @ one.rotation(name)[-1])]
        v += [one.velocity(name)[-1] - other.velocity(name)[-1]]
        v += [one.angular_velocity(name)[-1] - other.angular_velocity(name)[-1]]
    assert study.errors["q"][-1] == pytest.approx(np.abs(q).max(), rel=1e-6)
    assert study.errors["v"][-1] == pytest.approx(np.abs(v).max(), rel=1e-6)


def test_study_of_a_flexible_body_against_another_formulation():
    """Its modal coordinates count as well: the two starts only differ in these."""
    beam = lgint.modal.beam(2.0, mass=3.0, bending=(500.0, 100.0), section=(0.1, 0.2), modes=2)

    def spinning(formulation, eta):
        builder = lgint.ModelBuilder(formulation=formulation)
        builder.add_modal_body("beam", beam, angular_velocity=(1.0, 2.0, 3.0), eta=eta)
        return builder.build()

    best = lgint.integrate(spinning("SE3", (0.01, 0.02)), "rk44", t_end=0.02, h=1e-4)
    study = lgint.study(spinning("R3xS3", (0.01, 0.02)), "rk44", [2e-3, 1e-3], t_end=0.02, reference=best)
    assert abs(study.orders["q"][-1] - 4) < 0.3
    bent = lgint.study(spinning("R3xS3", (0.01, 0.5)), "rk44", [2e-3, 1e-3], t_end=0.02, reference=best)
    assert bent.errors["q"][-1] > 0.1


def test_what_a_study_cannot_compare(top):
    best = lgint.integrate(top, "rk44", t_end=0.05, h=1e-3)
    callable_top = lgint.CallableModel("R3xSO3", **functions())
    study = lgint.study(callable_top, "rk44", [2e-3, 1e-3], t_end=0.05, reference=best)
    assert set(study.errors) == {"q", "v"}
    elsewhere = lgint.integrate(lgint.models.heavy_top(formulation="SE3"), "rk44", t_end=0.05, h=1e-3)
    with pytest.raises(ValueError, match="same space; its blocks are SE3, those of the model are R3xSO3"):
        lgint.study(callable_top, "rk44", [2e-3, 1e-3], t_end=0.05, reference=elsewhere)
    with pytest.raises(ValueError, match="reference: its bodies are 'top', not 'body'"):
        lgint.study(lgint.models.free_body(), "rk44", [2e-3, 1e-3], t_end=0.05, reference=best)
    for name in ("rtol", "atol"):
        with pytest.raises(ValueError, match=f"{name}: a study compares fixed steps"):
            lgint.study(top, "dopri5", [2e-3, 1e-3], t_end=0.05, **{name: 1e-6})

    def halfway(t, q, v):
        return t - 0.025

    halfway.terminal = True
    with pytest.raises(ValueError, match="events: a run to t = 0.05 expected"):
        lgint.study(top, "rk44", [2e-3, 1e-3], t_end=0.05, reference=best, events=halfway)


# ---- asymptotic ranges ----

H = 2.0 ** -np.arange(9)


def test_the_asymptotic_range_leaves_out_saturation_and_round_off():
    """The errors are of order two, saturate above h = 1/2 and end in noise below 2**-6."""
    error = np.maximum(H**2, 2.0**-12)
    error[0] = 0.3
    found = asymptotic(H, error)
    assert found.order == pytest.approx(2.0, abs=1e-12)
    assert found.h == pytest.approx(H[1:7])
    shuffled = np.random.default_rng(3).permutation(len(H))
    again = asymptotic(H[shuffled], error[shuffled])
    assert again.order == found.order and again.h == pytest.approx(found.h)


@pytest.mark.parametrize("bend", [0.5, -0.5])
def test_the_range_is_bounded_on_both_sides(bend):
    """A single order above or below the others ends the range; of two ranges of equal length, the finer one counts."""
    slopes = np.full(8, 2.0)
    slopes[3] += bend
    error = 2.0 ** -np.concatenate([[0.0], np.cumsum(slopes)])
    assert asymptotic(H, error).h == pytest.approx(H[4:])
    slopes[4:] = 2.0, 2.0, 2.0, 2.0 + bend
    error = 2.0 ** -np.concatenate([[0.0], np.cumsum(slopes)])
    assert asymptotic(H, error).h == pytest.approx(H[4:8])


@pytest.mark.parametrize(
    "error",
    [np.full(9, 0.5), H[::-1] ** 2, np.zeros(9), np.full(9, np.nan), H**2 * 3.0 ** (np.arange(9) % 2), H**0.3],
    ids=["saturated", "growing", "exact", "failed", "no order", "below 1/2"],
)
def test_errors_without_a_range(error):
    found = asymptotic(H, error)
    assert np.isnan(found.order) and len(found.h) == 0 and str(found) == "no range"


# ---- several settings ----

STEPS = [1e-3, 5e-4, 2.5e-4]


@pytest.fixture(scope="module")
def comparison(top):
    euler_parameters = lgint.models.heavy_top(formulation="euler_parameters")
    return lgint.compare(
        {"Lie": "genalpha", "Euler parameters": {"model": euler_parameters, "method": "genalpha"}, "explicit": "rk44"},
        model=top,
        steps=STEPS,
        t_end=0.05,
        reference={"method": "rk67", "h": 2.5e-5},
        maximum=True,
        observables={"tip": lambda run: run.position("top")},
        invariants=["energy", "position_residual"],
    )


def test_settings_share_one_reference_across_formulations(comparison):
    assert list(comparison) == ["Lie", "Euler parameters", "explicit"] and len(comparison) == 3
    for study in comparison.values():
        assert study.asymptotic["tip"].order == pytest.approx(study.order, abs=0.15)
        assert study.asymptotic["tip"].h == pytest.approx(STEPS)
    assert set(comparison["Lie"].errors) == {"q", "v", "lam", "tip"}
    assert set(comparison["Euler parameters"].errors) == {"q", "v", "tip"}


def test_the_largest_error_is_found_at_the_steps(top, comparison):
    best = lgint.integrate(top, "rk67", t_end=0.05, h=2.5e-5)
    run = lgint.integrate(top, "rk44", t_end=0.05, h=1e-3)
    apart = np.linalg.norm(run.position("top") - best.position("top")[::40], axis=1)
    study = comparison["explicit"]
    assert study.maxima["tip"][0] == pytest.approx(apart.max(), rel=1e-6)
    assert study.errors["tip"][0] == pytest.approx(apart[-1], rel=1e-6)
    assert study.drifts["energy"][0] == pytest.approx(np.abs(np.diff(run.energy()[[0, -1]])), rel=0.5)
    assert (study.maxima["q"] >= study.errors["q"]).all()
    given = lgint.study(top, "rk44", STEPS, t_end=0.05, reference=best, maximum=True)
    assert given.maxima["q"] == pytest.approx(study.maxima["q"], rel=1e-9)


def test_drifts_need_a_reference_at_the_end_only(top):
    best = lgint.integrate(top, "rk67", t_end=0.05, h=1e-4, save_every=10**6)
    study = lgint.study(top, "rk44", STEPS, t_end=0.05, reference=best, invariants=["energy"])
    assert study.asymptotic["q"].order == pytest.approx(4, abs=0.15)
    assert (np.diff(study.drifts["energy"]) < 0).all() and not study.maxima


def test_costs(comparison):
    for study in comparison.values():
        assert study.steps.tolist() == [50, 100, 200]
        assert (study.seconds > 0).all()
    assert (comparison["Lie"].newton_iterations >= 1).all()
    assert not comparison["explicit"].newton_iterations.any()


def test_tolerances_in_place_of_steps(top):
    study = lgint.study(
        top,
        "dopri5",
        tolerances=[1e-4, 1e-6, {"rtol": 1e-8, "atol": 1e-10}],
        t_end=0.05,
        reference={"method": "rk67", "h": 2.5e-5},
        maximum=True,
        invariants=["energy"],
    )
    assert study.tolerance.tolist() == [1e-4, 1e-6, 1e-8]
    assert (np.diff(study.steps) > 0).all() and (np.diff(study.errors["q"]) < 0).all()
    assert study.h == pytest.approx(0.05 / study.steps)
    assert study.orders["q"][-1] == pytest.approx(5.0, abs=0.3)
    assert (study.maxima["q"] >= study.errors["q"]).all() and (np.diff(study.drifts["energy"]) < 0).all()
    assert str(study).splitlines()[1].startswith("rtol")
    assert study.plot("q", against="tolerance").axes[0].get_xlabel() == "rtol"
    with pytest.raises(ValueError, match="reference: a study of tolerances needs one"):
        lgint.study(top, "dopri5", tolerances=[1e-4, 1e-6], t_end=0.05)


def test_failed_runs_are_kept_if_wanted(top):
    best = lgint.integrate(top, "rk67", t_end=0.05, h=1e-4)
    arguments = dict(t_end=0.05, max_iter=2, reference=best)
    steps = [2.5e-2, 2e-4, 1e-4]
    with pytest.raises(lgint.ConvergenceError):
        lgint.study(top, "genalpha", steps, **arguments)
    study = lgint.study(top, "genalpha", steps, failures="keep", **arguments)
    assert np.isnan(study.errors["q"][0]) and np.isfinite(study.errors["q"][1:]).all()
    assert list(study.failures) == [0] and "converge" in study.failures[0]


def test_what_comparisons_and_studies_refuse(top):
    for given, message in [
        ({"steps": None}, "steps: a list of step sizes, or `tolerances`"),
        ({"tolerances": [1e-4]}, "steps: a list"),
        ({"steps": None, "tolerances": [1e-4]}, "tolerances: a list of at least two"),
        ({"steps": None, "tolerances": [{"atol": 1e-4}] * 2}, "tolerances: every mapping needs rtol"),
        ({"failures": "ignore"}, "failures"),
        ({"repeats": 0}, "repeats"),
        ({"invariants": ["heat"]}, "invariants"),
    ]:
        with pytest.raises(ValueError, match=message):
            lgint.study(top, "dopri5", **{"steps": STEPS, "t_end": 0.01, **given})
    with pytest.raises(ValueError, match="settings: at least one setting"):
        lgint.compare({}, model=top, steps=STEPS, t_end=0.01)
    with pytest.raises(ValueError, match="reference: a model is required"):
        other = lgint.models.heavy_top(formulation="SE3")
        settings = {"a": {"model": top, "method": "rk44"}, "b": {"model": other, "method": "rk44"}}
        lgint.compare(settings, steps=STEPS, t_end=0.01, reference={"method": "rk67", "h": 1e-4})
    with pytest.raises(ValueError, match="reference: it has no state at t = 0.001"):
        best = lgint.integrate(top, "rk67", t_end=0.01, h=1e-3, save_every=5)
        lgint.study(top, "rk44", STEPS, t_end=0.01, reference=best, maximum=True)


# ---- tables and diagrams ----


def test_data_frames(comparison):
    table = comparison.to_pandas()
    assert table.index.names == ["setting", "h"] and len(table) == 9
    np.testing.assert_array_equal(table.loc["explicit"]["error_q"], comparison["explicit"].errors["q"])
    assert table.loc["Euler parameters"]["error_lam"].isna().all()
    one = comparison["Lie"].to_pandas()
    assert {"error_q", "maximum_q", "drift_energy", "steps", "seconds", "newton_iterations"} <= set(one.columns)


def test_texts_of_comparisons(comparison):
    text = str(comparison)
    assert "explicit: rk44(), order 4; observed q 4.0" in text and "h = 0.001 ... 0.00025" in text
    assert comparison._repr_html_().count("<table>") == 3
    assert repr(comparison) == "<lgint.Comparison of 3 studies>"


def test_diagrams(comparison):
    figure = comparison.plot()
    names = [axes.get_ylabel() for axes in figure.axes]
    assert names == [
        *(f"error in {n}" for n in ("q", "v", "lam", "tip")),
        "drift of total energy",
        "drift of position residual",
    ]
    axes = comparison.plot("tip").axes[0]
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert sorted(text.get_text() for text in axes.texts) == ["2", "4"]
    for ticks, limits in ((axes.get_xticks(), axes.get_xlim()), (axes.get_yticks(), axes.get_ylim())):
        inside = ticks[(ticks >= limits[0]) & (ticks <= limits[1])]
        assert len(inside) >= 2 and {f"{tick:.0e}"[0] for tick in inside} <= {"1", "2", "5"}
    work = comparison.plot("tip", against="seconds", maximum=True).axes[0]
    assert work.get_xlabel() == "processor time / s" and work.get_ylabel() == "largest error in tip" and not work.texts
    given = comparison["Lie"].plot("q", ax=work)
    assert given is work.figure
    with pytest.raises(ValueError, match="ax: given axes show a single panel"):
        comparison.plot(ax=work)
    with pytest.raises(ValueError, match="against"):
        comparison.plot("tip", against="tolerance")


def test_the_slope_of_a_triangle_is_the_order(comparison):
    """The slope of the longest side of each triangle, in powers of ten, is the number written beside it."""
    axes = comparison.plot("tip").axes[0]
    slopes = []
    for patch in axes.patches:
        (x0, y0), (x1, y1) = np.log10(patch.get_xy()[:2])
        slopes.append((y1 - y0) / (x1 - x0))
    assert slopes == pytest.approx([float(text.get_text()) for text in axes.texts])


# ---- drifts ----


def test_drift():
    body = lgint.models.free_body(formulation="SE3")
    runs = {name: lgint.integrate(body, name, t_end=0.1, h=2e-3) for name in ("rk44", "midpoint")}
    named = ["energy", "angular_momentum", lambda run: run.angular_momentum()[:, 0]]
    found = lgint.drift(runs, named)
    assert found.names == ["energy", "angular_momentum", "<lambda>"]
    moved = np.abs(runs["midpoint"].angular_momentum() - runs["midpoint"].angular_momentum()[0])
    np.testing.assert_allclose(found.values["midpoint"]["angular_momentum"], moved.max(axis=1))
    assert found.largest["midpoint"]["angular_momentum"] == moved.max()
    assert found.last["midpoint"]["<lambda>"] == moved[-1, 0]
    assert found.largest["rk44"]["energy"] < found.largest["midpoint"]["energy"]
    assert len(found.plot().axes) == 3 and str(found).count("\n") == 3
    assert found.to_pandas().loc["midpoint"]["energy"].max() == found.largest["midpoint"]["energy"]
    alone = lgint.drift(runs["rk44"], {"turns": lambda run: run.angular_momentum()})
    assert list(alone.values) == ["rk44"] and alone.names == ["turns"]
    with pytest.raises(ValueError, match="runs: trajectories"):
        lgint.drift({"a": body})
    with pytest.raises(ValueError, match="runs: a trajectory, or a mapping"):
        lgint.drift(3.0)


def test_residuals_count_themselves():
    top = lgint.models.heavy_top()
    run = lgint.integrate(top, "rk44", t_end=0.05, h=1e-3)
    found = lgint.drift(run, ["position_residual"]).largest["rk44"]["position_residual"]
    assert found == np.abs(run.constraint_residual()).max() > 1e-9


@pytest.fixture(scope="module")
def pendulum():
    """A mass matrix that depends on q: the total energy of `eml` varies, and the generalized one does not."""
    return lgint.models.spring_pendulum()


@pytest.mark.parametrize(
    ("methods", "kind"), [(("eml", "mph"), "generalized"), (("genalpha",), "total"), (("eml", "genalpha"), "total")]
)
def test_energies_of_one_table_are_of_one_kind(methods, kind, pendulum):
    """ "energy" is the kind that all runs have; labels name it."""
    runs = {name: lgint.integrate(pendulum, name, t_end=0.2, h=0.01) for name in methods}
    found = lgint.drift(runs, "energy")
    assert found.energy_kind == kind and f"{kind} energy" in str(found)
    assert found.plot().axes[0].get_title() == f"{kind} energy"
    compared = lgint.compare(
        {name: name for name in methods},
        model=pendulum,
        steps=[0.01, 0.005],
        t_end=0.2,
        reference={"method": "rk67", "h": 1e-3},
        invariants=["energy"],
    )
    assert compared.plot("energy").axes[0].get_ylabel() == f"drift of {kind} energy"
    for name, run in runs.items():
        moved = np.abs(run.energy(kind) - run.energy(kind)[0]).max()
        assert found.largest[name]["energy"] == moved and compared[name].energy_kind == kind
        assert compared[name].drifts["energy"][0] == pytest.approx(moved, rel=1e-6, abs=1e-12)
        assert f"drift of {kind} energy" in str(compared[name])


def test_other_energies_keep_their_names(pendulum):
    """Labels of functions and of "generalized_energy"."""
    runs = {name: lgint.integrate(pendulum, name, t_end=0.1, h=0.01) for name in ("eml", "mpl")}
    found = lgint.drift(runs, {"energy": lambda run: run.energy("kinetic")})
    assert found.energy_kind is None and " energy " in str(found) and "generalized" not in str(found)
    assert lgint.drift(runs, ["generalized_energy"]).largest["eml"]["generalized_energy"] < 1e-12


def test_invariants_are_looked_at_where_steps_end(pendulum):
    """This also holds if the steps do not divide one another: in between, momenta are interpolated linearly."""
    study = lgint.study(pendulum, "eml", [0.01, 0.007, 0.004], t_end=0.2, invariants=["energy"])
    assert (study.drifts["energy"] < 1e-12).all()


# ---- the steps taken ----


def test_orders_are_slopes_over_the_steps_taken():
    """0.0252 cuts the second into 40 steps, 0.0249 into 41: between them the step changes by 2.5 %, not by 1.2 %."""
    model = lgint.LagrangianModel([1.0], [0.0], lambda q: np.eye(1), lambda q: q[0] ** 2 / 2)
    steps = [0.0252, 0.0249, 0.0202, 0.0199]
    study = lgint.study(model, "rk44", steps, t_end=1.0, reference={"method": "rk67", "h": 1e-3})
    assert study.h == pytest.approx([1 / 40, 1 / 41, 1 / 50, 1 / 51], rel=1e-14)
    assert study.orders["v"] == pytest.approx(4, abs=0.15)
    assert study.asymptotic["v"].h == pytest.approx(study.h) and "0.0244" in str(study)
    assert study.columns()["h"].tolist() == study.curve("", "v").x.tolist() == study.h.tolist()
    stopped = lgint.study(model, "rk44", [0.2, 0.1], t_end=1.0, stops=[0.3], reference={"method": "rk67", "h": 1e-3})
    assert stopped.h == pytest.approx([0.175, 0.1])


def test_a_step_that_divides_the_run_keeps_its_bits(top):
    assert lgint.study(top, "rk44", STEPS, t_end=0.05).h.tolist() == STEPS


def test_the_default_reference_has_an_eighth_of_the_smallest_step(top):
    best = lgint.integrate(top, "rk44", t_end=0.05, h=STEPS[-1] / 8)
    given, own = (lgint.study(top, "rk44", STEPS, t_end=0.05, reference=reference) for reference in (best, None))
    assert {name: error.tolist() for name, error in own.errors.items()} == {
        name: error.tolist() for name, error in given.errors.items()
    }


@pytest.mark.parametrize(("t0", "t_end"), [(0.0, 1.1), (0.1, 1.2), (0.5, 1.1)])
def test_errors_over_the_run_are_those_at_multiples_of_the_largest_step(t0, t_end):
    """1.1 / 0.1 is larger than 11 in floating point."""
    study = lgint.study(lgint.models.free_body(), "rk44", [0.1, 0.05], t_end=t_end, t0=t0, maximum=True)
    expected = np.linspace(t0, t_end, round((t_end - t0) / 0.1) + 1)[1:]
    for run in study.trajectories:
        assert run.t == pytest.approx(expected, rel=1e-14)


def test_a_reference_with_states_nearby_is_refused(top):
    times = np.arange(1, 51) * 1e-3
    near = times.copy()
    near[7] += 1e-8
    best = lgint.integrate(top, "rk67", t_end=0.05, h=1e-4, t_eval=near)
    with pytest.raises(ValueError, match="reference: it has no state at t = 0.008"):
        lgint.study(top, "rk44", STEPS, t_end=0.05, reference=best, maximum=True)


def test_modal_rates_count_in_other_formulations():
    """The two starts differ only in the rate of a mode."""
    beam = lgint.modal.beam(2.0, mass=3.0, bending=(500.0, 100.0), section=(0.1, 0.2), modes=2)

    def start(formulation, rate):
        builder = lgint.ModelBuilder(formulation=formulation)
        builder.add_modal_body("beam", beam, eta=(0.01, 0.02), eta_rate=(0.0, rate))
        return builder.build()

    best = lgint.integrate(start("SE3", 0.0), "rk44", t_end=1e-4, h=1e-5)
    study = lgint.study(start("R3xS3", 0.5), "rk44", [5e-5, 1e-5], t_end=1e-4, reference=best)
    assert study.errors["v"] == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize("level", ["position", "velocity"])
def test_residuals_of_a_part_of_a_run_count_themselves(top, level):
    """The drift is not their change since the first state, which violates the constraints."""
    late = lgint.integrate(top, "rk33", t_end=0.5, h=2e-3)[200:]
    found = lgint.drift(late, [f"{level}_residual"]).values["rk33"][f"{level}_residual"]
    assert found == pytest.approx(np.abs(late.constraint_residual(level)).max(axis=1)) and found[0] > 1e-9


# ---- progress, mistakes, interruptions ----


def test_a_study_has_one_bar(top, capsys):
    study = lgint.study(top, "rk44", STEPS, t_end=0.05, progress=True)
    errors = capsys.readouterr().err
    assert "4/4 runs" in errors and errors.count("100%") == 1
    assert "progress" not in str(study)
    seen = []
    lgint.study(top, "rk44", STEPS, t_end=0.05, progress=seen.append)
    assert seen == [1, 2, 3]


def test_arguments_of_a_wrong_kind(top):
    for settings in (["rk44"], 1, "rk44"):
        with pytest.raises(ValueError, match="settings: arguments of lgint.study by labels expected, got"):
            lgint.compare(settings, model=top, steps=STEPS, t_end=0.05)
    with pytest.raises(ValueError, match="settings: 'a': a method, or arguments of lgint.study, expected, got 1"):
        lgint.compare({"a": 1}, model=top, steps=STEPS, t_end=0.05)
    for observables in (1, [len], {"tip": 1}):
        with pytest.raises(ValueError, match="observables: functions of a trajectory by name expected, got"):
            lgint.study(top, "rk44", STEPS, t_end=0.05, observables=observables)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reference": 3}, "reference: a trajectory, or arguments of lgint.integrate .* expected, got 3"),
        ({"reference": {3: 4}}, "reference: a trajectory, or arguments of lgint.integrate .* expected, got {3: 4}"),
        ({"steps": None, "tolerances": 3}, "tolerances: a list of at least two expected, got 3"),
        ({"maximum": "x"}, "maximum: True or False expected, got 'x'"),
        ({"t_end": "x"}, "t_end: numbers expected, got 'x'"),
        ({"maximum": True, "t0": "x"}, "t0: numbers expected, got 'x'"),
        ({"h": 0.1}, "h: the step sizes of a study are its `steps`; leave out h, got 0.1"),
        ({"observables": {3: len}}, "observables: functions of a trajectory by name expected, got {3:"),
        ({"observables": {"x": lambda run: 3}}, r"observables: 'x' has the shape \(\); a value for each of"),
    ],
)
def test_arguments_of_studies_and_comparisons_that_mean_nothing(top, given, message):
    common = {"model": top, "steps": STEPS, "t_end": 0.05, **given}
    with pytest.raises(ValueError, match=message):
        lgint.study(method="rk44", **common)
    with pytest.raises(ValueError, match=message):
        lgint.compare({"a": "rk44", "b": "rk33"}, **common)


@pytest.mark.parametrize(
    ("invariants", "message"),
    [
        (3, "a list of names or functions of a trajectory, or a dict of functions by name, expected, got 3"),
        (None, "a list of names or functions of a trajectory, or a dict of functions by name, expected, got None"),
        ({"x": 3}, "functions of a trajectory by name expected, got {'x': 3}"),
        ({3: len}, "functions of a trajectory by name expected, got {3:"),
        ({"x": lambda run: 3}, r"'x' has the shape \(\); a value for each of \d+ states expected"),
        ({"x": lambda run: run.t[:1]}, r"'x' has the shape \(1,\); a value for each of \d+ states expected"),
        ([lambda run: 1j * run.t], "'<lambda>' returned array"),
        (
            [lambda run: run.t, lambda run: run.q],
            "different names expected, got '<lambda>', '<lambda>'; give functions as a dict",
        ),
    ],
)
def test_invariants_that_mean_nothing(top, invariants, message):
    run = lgint.integrate(top, "rk44", t_end=0.05, h=0.01)
    with pytest.raises(ValueError, match=f"invariants: {message}"):
        lgint.drift(run, invariants=invariants)
    with pytest.raises(ValueError, match=f"invariants: {message}"):
        lgint.study(top, "rk44", STEPS, t_end=0.05, invariants=invariants)


def test_one_invariant_needs_no_list(top):
    def height(run):
        return run.position("top")[:, 2]

    run = lgint.integrate(top, "rk44", t_end=0.05, h=0.01)
    assert lgint.drift(run, height).last == lgint.drift(run, [height]).last


def test_what_comparisons_lack_is_named(top):
    for common, lacking in (({"t_end": 0.05}, "model"), ({"model": top}, "t_end")):
        with pytest.raises(ValueError, match=rf"{lacking}: required in settings\['a'\], or for all settings"):
            lgint.compare({"a": "rk44"}, steps=STEPS, **common)
    with pytest.raises(ValueError, match="method: required in settings"):
        lgint.compare({"a": {"rho_inf": 1.0}}, model=top, steps=STEPS, t_end=0.05)
    with pytest.raises(ValueError, match="reference: a method is required"):
        lgint.compare({"a": "rk44"}, model=top, steps=STEPS, t_end=0.05, reference={"h": 1e-3})
    with pytest.raises(ValueError, match="ax: axes of matplotlib expected, got 3"):
        lgint.study(top, "rk44", STEPS, t_end=0.05).plot("q", ax=3)


def test_a_method_that_does_not_suit_leaves_the_others(top):
    given = {"model": top, "steps": STEPS, "t_end": 0.05, "reference": {"method": "rk67", "h": 1e-4}}
    methods = {"one": "rk44", "none": "eml", "other": "genalpha"}
    with pytest.raises(ValueError, match="eml"):
        lgint.compare(methods, **given)
    found = lgint.compare(methods, failures="keep", **given)
    assert [*found] == ["one", "other"] and "eml" in found.failures["none"]
    assert "none: " in str(found) and "<p>none: " in found._repr_html_()
    with pytest.raises(ValueError, match="eml"):
        lgint.compare({"none": "eml"}, failures="keep", **given)


def test_an_interrupted_study_keeps_the_runs_that_are_done(top):
    best = lgint.integrate(top, "rk67", t_end=0.05, h=1e-4)

    def interrupted(done):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(lgint.Interrupted, match="2 of 3 runs of the study are done") as caught:
        lgint.study(top, "rk44", STEPS, t_end=0.05, reference=best, progress=interrupted)
    study = caught.value.trajectory
    assert study.h.tolist() == STEPS[:2] and study.orders["q"] == pytest.approx(4, abs=0.3) and str(study)
    with pytest.raises(lgint.Interrupted) as caught:
        lgint.compare({"a": "rk33", "b": "rk44"}, model=top, steps=STEPS, t_end=0.05, progress=interrupted)
    assert [*caught.value.trajectory] == ["a"] and np.isnan(caught.value.trajectory["a"].errors["q"]).all()
