"""`lgint bench` without Exudyn, its table and file with Exudyn, and the counts of instructions."""

import csv
import math
import re
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import lgint
from lgint import _cli
from lgint._run.integrate import integrate
from lgint._tools import (
    bench,
    bench_clock,
    bench_counts,
    bench_exudyn,
    bench_file,
    bench_ggl,
    bench_long,
    bench_rods,
    bench_stiff,
    bench_trees,
)
from lgint._tools.bench_counts import Function
from lgint._tools.ladder import Ladder

IDS = [case.name for case in bench.CASES]
LOAD = bench_exudyn.load


@pytest.fixture(autouse=True)
def _no_peer(monkeypatch):
    monkeypatch.setattr(bench_exudyn, "load", lambda: None)


@pytest.mark.parametrize("case", bench.CASES, ids=IDS)
def test_every_case_runs_and_is_near_its_fine_run(case):
    result = bench.measure(case, None, 1, 20)
    assert math.isfinite(result.lgint_us)
    assert 0 < result.lgint_error < 1e-3
    assert math.isnan(result.exudyn_us)
    assert result.verdict == ""


@pytest.mark.parametrize("case", bench.CASES, ids=IDS)
def test_options_are_what_a_user_types(case):
    """One case of the rotor chooses the printed form; all other options have their defaults."""
    assert set(case.options) == ({"form"} if "printed" in case.name else set())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Exudyn renames settings
@pytest.mark.parametrize("case", [c for c in bench.CASES if c.peer])
def test_the_peer_solves_the_same_equations(case):
    """After 40 steps the positions differ by less than a thousandth of the distance that the body has moved."""
    exudyn = LOAD()
    assert exudyn is not None, 'the package exudyn is in the extra "test"'
    steps = 40
    peer = bench_exudyn.Peer(exudyn, case.peer, case.method, linear=case.linear)
    peer.run(case.h, steps)
    ours = integrate(case.model(), case.method, t_end=steps * case.h, h=case.h, save_every=steps, **case.options)
    start, end = ours.position(case.body)
    assert np.linalg.norm(end - start) > 0
    assert np.linalg.norm(peer.position() - end) < 1e-3 * np.linalg.norm(end - start)


def test_the_command_writes_rows_with_the_name_of_the_machine(tmp_path, capsys):
    file = tmp_path / "new" / "results.csv"
    arguments = ["bench", "--only", "free top", "--repeat", "1", "--machine", "abacus", "-o", str(file)]
    assert _cli.main(arguments) == 0
    assert _cli.main(arguments) == 0
    table = capsys.readouterr().out
    assert "abacus; lgint without comparison" in table
    assert "free top, rk67" in table
    with file.open(newline="") as rows:
        read = list(csv.DictReader(rows))
    assert [row["case"] for row in read] == ["free top, rk44", "free top, rk67"] * 2
    assert {row["machine"] for row in read} == {"abacus"}
    assert all(float(row["lgint_us"]) > 0 for row in read)


def test_an_unknown_case_is_bad_usage(capsys):
    assert _cli.main(["bench", "--only", "pendulum of Foucault"]) == 2
    assert "pendulum of Foucault" in capsys.readouterr().err


def test_verdicts():
    row = {"case": "", "method": "", "h": 1.0, "steps": 1, "lgint_us": 1.0, "lgint_iterations": 0.0, "exudyn_us": 4.0}
    row |= {"ratio": 4.0, "equal": 8.0, "exudyn_error": 1e-6}
    assert bench.Result(**row, lgint_error=1.1e-6, target=4.0).verdict == "reached"
    assert bench.Result(**row, lgint_error=1e-7, target=8.0).verdict == "missed by 2.00"
    assert bench.Result(**row, lgint_error=2e-6, target=3.0).verdict == "reached, error 2 times the peer's"
    assert bench.Result(**row, lgint_error=2e-6, target=math.nan).verdict == ""
    below = row | {"exudyn_error": 1e-13}
    assert bench.Result(**below, lgint_error=9e-12, target=4.0).verdict == "reached"


def test_a_step_costs_what_is_left_without_the_start(monkeypatch):
    """One run advances the clock by 7 s and by 0.25 s per step, the other one by 0.5 s per step alone."""
    clock = np.zeros(1)
    monkeypatch.setattr(bench_clock.time, "process_time", lambda: clock[0])

    def run(fixed, a_step):
        return lambda count: clock.__iadd__(fixed + a_step * count)

    found = bench_clock.seconds_a_step([run(7, 0.25), run(0, 0.5), None], (20, 100), 3)
    np.testing.assert_array_equal(found, [0.25, 0.5, np.nan])


# ---- instructions per step ----

# A profile with a step in `integrator/one.c` that spends 100 itself, of which 30 in a norm. It calls the model (50, and
# 10 in a sine), the solver (200, and 20 in a sine), what follows the unknowns (40), and a sine itself.
PROFILE = """version: 1
positions: line
events: Ir

ob=/usr/lib/libm.so
fl=./math/sin.c
fn=sin
1 60

ob=/site/lgint/_core.so
fl=/home/user/csrc/integrator/one.c
fn=step
12 70
fi=/home/user/csrc/solve/newton.h
2 30
fe=/home/user/csrc/integrator/one.c
cfi=/home/user/csrc/model/rigid.c
cfn=eval
calls=1 1
13 60
cfi=/home/user/csrc/sparse/front.c
cfn=solve
calls=1 1
14 220
cfi=/home/user/csrc/group/rotation.c
cfn=turn
calls=2 1
15 40
cob=/usr/lib/libm.so
cfi=./math/sin.c
cfn=sin
calls=1 1
16 20

fl=/home/user/csrc/model/rigid.c
fn=eval
5 20
cfi=/home/user/csrc/group/rotation.c
cfn=turn
calls=1 1
5 40

fl=/home/user/csrc/sparse/front.c
fn=solve
9 200
cob=/usr/lib/libm.so
cfi=./math/sin.c
cfn=sin
calls=3 1
10 20

fl=/home/user/csrc/group/rotation.c
fn=turn
3 60
cob=/usr/lib/libm.so
cfi=./math/sin.c
cfn=sin
calls=1 1
4 20
"""
NEWTON = """/* norms */
static inline double norm_of(const double *r)
{
    return r[0];
}
"""


@pytest.fixture
def source(tmp_path):
    (tmp_path / "csrc" / "solve").mkdir(parents=True)
    (tmp_path / "csrc" / "solve" / "newton.h").write_text(NEWTON)
    return bench_counts.Source(tmp_path / "csrc")


def test_a_profile_is_read():
    profile = bench_counts.parse(PROFILE)
    step = profile[Function("/home/user/csrc/integrator/one.c", "step")]
    assert step.lines == {("/home/user/csrc/integrator/one.c", 12): 70, ("/home/user/csrc/solve/newton.h", 2): 30}
    assert step.calls == {
        Function("/home/user/csrc/model/rigid.c", "eval"): 60,
        Function("/home/user/csrc/sparse/front.c", "solve"): 220,
        Function("/home/user/csrc/group/rotation.c", "turn"): 40,
        Function("./math/sin.c", "sin"): 20,
    }
    assert sum(sum(costs.lines.values()) for costs in profile.values()) == 440
    assert all(callee in profile for costs in profile.values() for callee in costs.calls)


def test_a_callee_without_a_file_is_in_the_callers():
    profile = bench_counts.parse("fl=a.c\nfn=f\n1 5\ncfn=g\ncalls=1 1\n2 7\nfn=g\n3 7\n")
    assert profile[Function("a.c", "f")].calls == {Function("a.c", "g"): 7}


def test_costs_go_to_the_part_that_they_are_spent_for(source):
    """The model and the step each call `turn` once and share its costs and those of its sine; nothing is lost."""
    parts = bench_counts.by_part(bench_counts.divide(bench_counts.parse(PROFILE), source))
    assert parts == pytest.approx(
        {"evaluation": 20 + 30 + 10, "following": 30 + 10, "solving": 200 + 20, "norms": 30, "rest": 70 + 20}
    )


def test_lines_are_found_in_their_functions():
    text = (
        NEWTON
        + "\nlg_status declared(int n);\n\nstatic const int TABLE[] = {\n    1,\n};\n\nint two(\n    int n)\n{\n}\n"
    )
    names = bench_counts.functions(text)
    assert names == ["", *["norm_of"] * 4, "", "declared", "", "", "", "", "", *["two"] * 4]


def test_more_than_a_tenth_more_is_a_fault():
    before = {"a": {"solving": 100.0}, "b": {"solving": 100.0}, "c": {"solving": 50.0, "rest": 50.0}}
    now = {"a": {"solving": 109.0}, "b": {"solving": 112.0}, "c": {"solving": 90.0, "rest": 0.0}, "d": {"rest": 1.0}}
    assert bench_counts.compare(now, before) == [
        "b: 112 instructions per step, 1.12 times the committed 100",
        "d: no committed count",
    ]


def test_counts_survive_the_file(tmp_path):
    parts = {"evaluation": 5.0, "following": 4.0, "solving": 3.0, "norms": 2.0, "rest": 1.0}
    bench_counts.write({"top, full": parts}, tmp_path / "new" / "counts.csv")
    assert bench_counts.read(tmp_path / "new" / "counts.csv") == {"top, full": parts}


def test_committed_counts_are_of_the_cases_that_are_counted():
    committed = bench_counts.read(Path(__file__).parents[2] / "benchmarks" / "instructions.csv")
    assert list(committed) == list(bench_counts.STEPS)
    assert set(committed) <= {*IDS, *(case.name for case in bench_counts.COUNTED)}


def test_what_energy_momentum_steps_cost():
    """At most three steps of generalized-alpha on the slider-crank; per link or edge always the same."""
    committed = bench_counts.read(Path(__file__).parents[2] / "benchmarks" / "instructions.csv")
    total = {name: sum(parts.values()) for name, parts in committed.items()}
    assert 1.5 < total["slider-crank to round-off, reml"] / total["slider-crank to round-off, genalpha"] < 3
    for few, many in (
        ("pendulum of 32 links, reml", "pendulum of 256 links, reml"),
        ("rod of 32 edges, emh", "rod of 256 edges, emh"),
    ):
        assert total[many] / 256 == pytest.approx(total[few] / 32, rel=0.05)


@pytest.mark.parametrize(
    ("case", "most"),
    [("constrained top", 6), ("slider-crank", 5), ("chain of 10", 7), ("stiff pair", 5), ("rod of 16 edges", 9)],
)
def test_what_radau_steps_cost(case, most):
    """In steps of generalized-alpha of the same size, at most ten; on the rod that one takes a single iteration."""
    committed = bench_counts.read(Path(__file__).parents[2] / "benchmarks" / "instructions.csv")
    total = {name: sum(parts.values()) for name, parts in committed.items()}
    plain = total.get(f"{case}, genalpha") or total[case]
    assert most - 2 < total[f"{case}, radau5"] / plain < most


def test_explicit_steps_of_trees_take_linear_work():
    committed = bench_counts.read(Path(__file__).parents[2] / "benchmarks" / "instructions.csv")
    few, many = (sum(committed[f"tree of {n} links, rk44"].values()) for n in (30, 300))
    assert 0.9 < math.log10(many / few) < 1.15


def test_without_valgrind_nothing_is_counted(monkeypatch, capsys):
    monkeypatch.setattr(bench_counts.shutil, "which", lambda _: None)
    assert bench_counts.main([]) == 2
    assert "needs valgrind, which is not installed" in capsys.readouterr().err


def test_a_case_that_is_not_counted(capsys):
    assert bench_counts.main(["--only", "chain of 3"]) == 2
    assert "chain of 3" in capsys.readouterr().err


def test_a_share_of_the_cases(monkeypatch):
    counted = []
    monkeypatch.setattr(bench_counts, "count", lambda names, source: counted.extend(names) or {})
    assert bench_counts.main(["--share", "8"]) == 0
    assert counted == list(bench_counts.STEPS)[::8]


# replaces valgrind: writes the profile of a run, whose costs are those of PROFILE times the number of steps
VALGRIND = """#!{python}
import re, sys
from itertools import product
from pathlib import Path
out = next(option for option in sys.argv if option.startswith("--callgrind-out-file=")).partition("=")[2]
for i, steps in enumerate({steps}):
    text = re.sub(r"^(\\d+) (\\d+)$", lambda m: f"{{m[1]}} {{int(m[2]) * steps + 7}}", {profile!r}, flags=re.M)
    Path(f"{{out}}.{{i + 1}}").write_text(text)
sys.exit({status})
"""


def _stand_in(monkeypatch, tmp_path, steps, profile=PROFILE, status=0):
    program = tmp_path / "valgrind"
    program.write_text(VALGRIND.format(python=sys.executable, steps=steps, profile=profile, status=status))
    program.chmod(0o755)
    monkeypatch.setattr(bench_counts.shutil, "which", lambda _: str(program))


def test_the_start_of_a_run_does_not_count(monkeypatch, tmp_path, source, capsys):
    _stand_in(monkeypatch, tmp_path, bench_counts.STEPS["free top, rk44"])
    committed, out = tmp_path / "committed.csv", tmp_path / "out.csv"
    arguments = [
        "--only",
        "free top, rk44",
        "--source",
        str(source.root),
        "--committed",
        str(committed),
        "-o",
        str(out),
    ]
    assert bench_counts.main(arguments) == 1
    assert "no committed count" in capsys.readouterr().err
    counts = bench_counts.read(out)["free top, rk44"]
    assert counts["solving"] == pytest.approx(220, abs=1)
    assert sum(counts.values()) == pytest.approx(440, abs=2)

    out.rename(committed)
    assert bench_counts.main([*arguments, "--functions", "1"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"free top, rk44 .* 440 +440 +1\.000", shown)
    assert re.search(r"solving +200 +sparse/front.c: solve", shown)


@pytest.mark.parametrize(
    ("steps", "more", "message"),
    [
        ((10,), {}, "1 profiles for 2 runs: is there still a function lg_integrate"),
        ((10, 20), {"profile": PROFILE.replace("/csrc/", "/")}, "CFLAGS=-g"),
        ((10, 20), {"status": 3}, "the runs under valgrind failed"),
    ],
)
def test_profiles_that_tell_nothing(monkeypatch, tmp_path, capsys, steps, more, message):
    _stand_in(monkeypatch, tmp_path, steps, **more)
    assert bench_counts.main(["--only", "free top, rk44"]) == 2
    assert message in capsys.readouterr().err


# ---- rods ----


def test_rods_of_the_bench():
    """Cases without Exudyn: shorter steps have smaller errors, and two methods agree on the end of the cantilever."""
    found = list(bench_rods.cases(None))
    assert [(name, edges) for name, edges, _ in found[:3]] == [("flying_spaghetti", n) for n in (16, 128, 1024)]
    cantilever = next(runs for name, edges, runs in found if (name, edges) == ("cantilever", 16))
    ends = []
    for runs in cantilever:
        coarse, fine = bench_rods._measure("cantilever", 16, runs, repeat=1)
        assert fine.error < coarse.error < 1e-3
        ends.append(runs[-1].end(runs[-1].h, runs[-1].steps))
    assert np.linalg.norm(ends[0] - ends[1]) < 1e-3


def test_rods_are_written(tmp_path, capsys):
    row = bench_rods.Result("pendulum", 16, "herk4", 1e-3, 12.0, 0.5, 1e-9)
    for _ in range(2):
        bench_file.append([row], tmp_path / "rods.csv", "here")
    lines = (tmp_path / "rods.csv").read_text().splitlines()
    assert len(lines) == 3 and lines[1].endswith("pendulum,16,herk4,0.001,12,0.5,1e-09")
    assert "pendulum" in bench_rods._line(row)


# ---- long models ----


@pytest.mark.parametrize("method", bench_long.METHODS)
def test_long_chains_of_the_bench(method, monkeypatch, capsys):
    """The clock stands still but in runs: 0.1 s to open one, 1 us a link and step of a short chain, 2 of a long one."""
    clock = [0.0]

    def timed(model, name, *, save_every, **options):
        run = bench_long_integrate(model, name, save_every=save_every, **options)
        clock[0] += 0.1 + save_every * len(model.bodies) * (1e-6 if len(model.bodies) == 3 else 2e-6)
        return run

    bench_long_integrate = bench_long.integrate
    monkeypatch.setattr(bench_long, "integrate", timed)
    monkeypatch.setattr(bench_clock.time, "process_time", lambda: clock[0])
    monkeypatch.setattr(bench_long, "LINKS", (3, 300))
    results = [result for result in bench_long.run(only=method, repeat=1) if result.method == method]
    assert [(result.case, result.links) for result in results] == list(product(["at rest", "moving"], [3, 300]))
    assert [result.ns for result in results] == pytest.approx([1000, 2000] * 2)
    assert [result.ratio for result in results] == pytest.approx([1, 2] * 2)
    assert capsys.readouterr().out.count(" 2.00") == 2 * sum(method in name for name in bench_long.METHODS)


def test_a_moving_chain_turns_about_its_fixed_end():
    start = bench_long.chain(7, "moving").state()
    assert np.abs(start.constraint_residual("velocity")).max() < 1e-14
    assert np.allclose(start.angular_velocity("link7"), [0, 0, bench_long.SPEED / (7 * bench_long.LENGTH)])


def test_methods_of_long_chains_are_named():
    with pytest.raises(ValueError, match="unknown case 'euler'; choose from"):
        bench_long.run(only="euler")


# ---- trees ----

PEERS = {"mujoco": bench_trees.MuJoCo, "pinocchio": bench_trees.Pinocchio}


def branched_tree():
    """Revolute and prismatic joints, two branches, inertias with products, and a start that is not at zero."""
    builder = lgint.ModelBuilder(gravity=(0.3, -1.0, -9.81), formulation="minimal")
    joints = [
        ("ground", "revolute", (1, 2, 0.5), 0.7),
        ("link0", "prismatic", (0, 1, 0.4), -0.4),
        ("link0", "revolute", (0, 0.3, 1), 1.1),
        ("link2", "revolute", (1, 0, 0), -0.9),
    ]
    for i, (parent, kind, axis, rate) in enumerate(joints):
        I = np.diag([0.2, 0.3, 0.4]) + 0.02 * np.array([[0, 1, -2], [1, 0, 3], [-2, 3, 0]])  # noqa: E741
        turn = lgint.groups.so3.exp([0.3 * i, -0.2, 0.5])
        builder.add_body(f"link{i}", mass=1 + 0.3 * i, inertia=I, position=(0.3 * i, 0.2, -0.4 * i), rotation=turn)
        builder.add_joint(kind, parent, f"link{i}", point=(0.3 * i - 0.1, 0.1, 0.2), axis=axis, rate=rate)
    model = builder.build()
    return model.with_state(q=[0.4, -0.2, 0.8, -0.5], v=model.v0)


@pytest.mark.parametrize("name", PEERS)
def test_peers_find_the_same_accelerations_of_a_free_root(name):
    """At the start, and at other coordinates and velocities."""
    model = bench_trees.branched_arm()
    moved = lgint.integrate(model, "rk44", t_end=0.1, h=1e-3)
    for at in (model, model.with_state(q=moved.q[-1], v=moved.v[-1])):
        peer = PEERS[name](pytest.importorskip(name), at)
        assert bench_trees.compare(at, peer) < 1e-11
        assert np.abs(peer.run(5) - peer.start[0]).max() > 1e-3


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("make", [branched_tree, *(make for _, make in list(bench_trees.cases())[:3])])
def test_peers_move_trees_alike(name, make):
    model = make()
    peer = PEERS[name](pytest.importorskip(name), model)
    moved = np.abs(peer.run(bench_trees.COMPARED) - model.q0).max()
    assert moved > 1e-2 and bench_trees.compare(model, peer) < 1e-9


def test_trees_of_the_bench_without_peers(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(bench_trees, "load", lambda name: None)
    monkeypatch.setattr(bench_trees, "WORK", 60_000)
    file = tmp_path / "trees.csv"
    assert _cli.main(["bench", "--trees", "--only", "chain of 30", "--repeat", "3", "-o", str(file)]) == 0
    assert "MuJoCo is not installed" in (table := capsys.readouterr().out) and "grows with their number" in table
    with file.open(newline="") as rows:
        read = list(csv.DictReader(rows))
    assert [row["links"] for row in read] == ["30", "300"] and {row["mujoco_us"] for row in read} == {"nan"}
    assert all(float(row["lgint_us"]) > 0 for row in read)


def test_exponent_of_trees():
    rows = [bench_trees.Result(f"chain of {n}", n, 0.5 * n**1.1, *4 * [math.nan]) for n in (10, 30, 300)]
    assert bench_trees.exponent(rows) == pytest.approx(1.1)
    assert math.isnan(bench_trees.exponent(rows[:2]))


# ---- stiff systems, and the peers on our equations ----


@pytest.mark.parametrize("case", ["stiff pair", "stiff chain"])
def test_committed_times_of_radau_and_generalized_alpha(case):
    """docs/comparison.md: a tenth of the time for errors of 1e-6 and below, in minimal coordinates below 1e-6."""
    with (Path(__file__).parents[2] / "benchmarks" / "stiff.csv").open(newline="") as file:
        ms = {
            (row["code"], float(row["error"])): float(row["ms"]) for row in csv.DictReader(file) if row["case"] == case
        }
    assert all(ms["genalpha", error] > 10 * ms["radau5", error] for error in (1e-6, 1e-7, 1e-8))
    ratios = [ms["genalpha, minimal", error] / ms["radau5, minimal", error] for error in (1e-6, 1e-7, 1e-8)]
    assert 4 < ratios[0] < 9 and min(ratios[1:]) > 10


@pytest.fixture(scope="module")
def equations():
    """The residual of the stabilised equations of index 2, compiled from the sources beside the tests."""
    return bench_ggl.compiled(Path(__file__).parents[2])


@pytest.mark.parametrize("case", bench_stiff.CASES, ids=[case.name for case in bench_stiff.CASES])
def test_peers_solve_the_equations_of_the_core(case, equations):
    """The start satisfies them, the plain function is the compiled one, and the Jacobian is that of differences."""
    problem = bench_ggl.Problem(case.model(formulation="euler_parameters"), equations)
    y, yp = problem.start()
    res, plain = np.ones((2, problem.size))
    problem.residual(0.0, y, yp, res)
    problem._plain(0.0, y, yp, plain)
    size = np.abs(y[2 * problem.nv :]).max()
    assert np.abs(res).max() < 1e-12 * max(size, 1) and np.array_equal(res, plain)

    rng, d = np.random.default_rng(0), 1e-6
    moved = np.arange(problem.size) < problem.size - problem.nrows  # mu = 0: its derivative by q is left out
    y, yp = y + 1e-3 * rng.normal(size=problem.size) * moved, yp + 1e-3 * rng.normal(size=problem.size)
    for which, jacobian in enumerate(problem.jacobians(0.0, y, yp)):
        for _ in range(5):
            step = d * rng.normal(size=problem.size)
            ends = np.empty((2, problem.size))
            for end, sign in zip(ends, (1, -1), strict=True):
                problem.residual(0.0, y + sign * step * (which == 0), yp + sign * step * (which == 1), end)
            scale = np.abs(jacobian).max() * d
            assert np.abs((ends[0] - ends[1]) / 2 - jacobian @ step).max() < 1e-6 * scale


def test_times_at_equal_errors_are_those_of_the_front():
    """Runs that another one beats in both do not count, and no time is given for an error that was not reached."""
    ladder = Ladder("one", [1.0, 5.0, 4.0, 16.0], [1e-2, 1e-1, 1e-4, 1e-8])
    assert ladder.at(1e-3) == pytest.approx(2.0) and ladder.at(1e-6) == pytest.approx(8.0)
    assert ladder.at(1e-1) == 1.0 and math.isnan(ladder.at(1e-9))


def test_the_stiff_table_without_peers(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench_ggl, "load", lambda name: None)
    monkeypatch.setattr(bench_stiff, "TOLERANCES", (1e-4, 1e-6))
    file = tmp_path / "stiff.csv"
    arguments = ["bench", "--stiff", "--only", "top", "--methods", "dop853", "--repeat", "1", "-o", str(file)]
    assert _cli.main(arguments) == 0
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [row["code"] for row in rows] == ["dop853"] * len(bench_stiff.LEVELS)
    assert float(rows[0]["ms"]) > 0 and "constrained top" in capsys.readouterr().out
    assert _cli.main(["bench", "--methods", "dop853"]) == 2


def evaluations(method, errors, model, t_end, best, part, tolerances):
    """Evaluations with which runs with tolerances reach these errors of `q` or `v`, relative to its largest number."""
    ladder, exact = Ladder(method), getattr(best, part)[-1]
    for rtol in tolerances:
        run = lgint.integrate(model, method, t_end=t_end, rtol=rtol, atol=rtol, save_every=10**9)
        ladder.seconds.append(run.stats.force_evaluations)
        ladder.errors.append(np.abs(getattr(run, part)[-1] - exact).max() / np.abs(exact).max())
    return np.array([ladder.at(error) for error in errors])


@pytest.mark.parametrize("constrained", [False, True])
def test_order_eight_takes_a_quarter_of_the_evaluations_of_order_five(constrained):
    """At an error of 1e-11 on the top: a sixth without joints, and a fifth with."""
    model = lgint.models.heavy_top(constrained=constrained)
    best = lgint.integrate(model, "dop853", t_end=0.2, h=5e-5, project="both", save_every=10**9)
    given = ([1e-11], model, 0.2, best, "q", 10.0 ** -np.arange(9, 13.6, 0.5))
    assert evaluations("dopri5", *given) > 4 * evaluations("dop853", *given)


def test_order_eight_takes_a_third_of_the_evaluations_on_a_rod_for_ten_digits():
    """docs/runge_kutta.md: `dopri5` evaluates 1.4 times as often at an error of 1e-6, and 3.2 times at 1e-10."""
    model = lgint.models.flying_spaghetti(edges=8)
    best = lgint.integrate(model, "dop853", t_end=0.3, rtol=1e-13, atol=1e-13, save_every=10**9)
    given = ([1e-6, 1e-10], model, 0.3, best, "v", 10.0 ** -np.arange(5, 13, 0.5))
    coarse, fine = evaluations("dopri5", *given) / evaluations("dop853", *given)
    assert 1.2 < coarse < 1.6 and 2.9 < fine < 3.5


@pytest.mark.parametrize(("case", "fixed", "each"), [("top", 1.6, 0.4), ("links", 1.83, 0.21)])
def test_what_derivatives_cost(case, fixed, each):
    """In runs without them, by the committed counts of a heavy top and of a chain of 100 links."""
    counts = bench_counts.read(Path(__file__).parents[2] / "benchmarks" / "instructions.csv")
    total = {p: sum(counts[f"{case} by {p} parameters"].values()) for p in (0, 1, 5)}
    assert all(total[0] < total[p] <= (fixed + each * p) * total[0] for p in (1, 5))


@pytest.mark.parametrize(("case", "fixed", "each"), [("top", 2.05, 0.02), ("links", 2.65, 0.01), ("tree", 11.4, 0.01)])
def test_what_derivatives_cost_backwards(case, fixed, each):
    """In runs without them, together with the run itself."""
    counts = bench_counts.read(Path(__file__).parents[2] / "benchmarks" / "instructions.csv")
    plain = sum(counts[f"{case} by 0 parameters"].values())
    back = {p: sum(counts[f"{case} backwards by {p} parameters"].values()) / plain for p in (1, 5)}
    assert all(1 < back[p] < fixed + each * p for p in (1, 5))
    assert case == "tree" or fixed + each < 4.05 and each < 0.05


@pytest.mark.parametrize(
    ("case", "method", "least", "most"),
    [("top", "rk44", 3, 3.75), ("top", "herk3", 2.5, 3.25), ("top", "radau5", 2.5, 3.5), ("tree", "rk44", 9, 10)],
)
def test_what_derivatives_backwards_cost_with_other_methods(case, method, least, most):
    """By one parameter, and less than 0.05 for each further one, in runs without derivatives, with the run itself."""
    counts = bench_counts.read(Path(__file__).parents[2] / "benchmarks" / "instructions.csv")
    plain = sum(counts[f"{case} by 0 parameters, {method}"].values())
    one, five = (sum(counts[f"{case} backwards by {p} parameters, {method}"].values()) / plain for p in (1, 5))
    assert least < one < most and one < five < one + 4 * 0.05
