"""`lgint reproduce`: the registry, verdicts from claims, exit status, files, interruption."""

import csv
import dataclasses
import os
import re
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest

import lgint
from lgint._cli import main
from lgint._papers import catalogue, claims, runner, sherif2019
from lgint._papers.pictures import picture, plane
from lgint._papers.registry import Artifact, Result

ROOT = Path(__file__).parents[2]
KEYS = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text(), re.MULTILINE))


# ---- the registry ----


def test_every_row_is_complete():
    rows = catalogue.artifacts()
    assert len({row.key for row in rows}) == len(rows)
    for row in rows:
        assert row.paper in KEYS | {"beyond"}
        assert re.fullmatch(r"[A-Za-z0-9_]+", row.name)
        assert row.shows and row.reproduced


def test_committed_verdicts_are_of_full_runs_of_artifacts_that_exist():
    with (ROOT / "docs/verdicts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["run"] for row in rows} == {"full"}
    found, known = ({f"{row['paper']}/{row['artifact']}" for row in rows}, {row.key for row in catalogue.artifacts()})
    assert found == known, "`make papers` writes docs/verdicts.csv"


def test_what_about_means_stands_beside_it():
    """In every claim, with the verdict that follows from the numbers."""
    with (ROOT / "docs/verdicts.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["in the paper"].startswith("about")]
    assert len(rows) >= 20
    for row in rows:
        number, factor = re.fullmatch(r"about (\S+) \(within a factor of (\S+)\)", row["in the paper"]).groups()
        found = claims.within_factor("", float(number), float(row["here"].split(";")[0]), float(factor))
        assert (found.paper, found.verdict) == (row["in the paper"], row["verdict"]), row


def test_artifacts_are_listed(capsys):
    assert main(["list", "artifacts"]) == 0
    text = capsys.readouterr().out
    assert "rho_inf" not in text
    assert [row.key for row in catalogue.artifacts() if f"  {row.key} " not in text] == []


@pytest.mark.parametrize("which", ["sherif2018", "sherif2019/eq41", "eq42", "sherif2019/"])
def test_unknown_artifacts(which, capsys, tmp_path):
    assert main(["reproduce", which, "--out", str(tmp_path / "out")]) == 2
    captured = capsys.readouterr()
    assert f"unknown artifact {which!r}" in captured.err
    assert captured.out == ""
    assert not (tmp_path / "out").exists()


# ---- claims ----


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (claims.slope("", 2, 2.1), True),
        (claims.slope("", 2, 1.8), False),
        (claims.slope("", 2, 2.2), False),
        (claims.slope("", 2, np.nan), False),
        (claims.close("", [1, 2], [1.01, 2], 0.02), True),
        (claims.close("", [1, -2], [1, -2.1], 0.02), False),
        (claims.close("", [1, 2], [1, np.nan], 0.02), False),
        (claims.ratio("", 4, 8, 2.05), True),
        (claims.ratio("", 4, 8, 1), False),
        (claims.within_factor("", 10, 19, 2), True),
        (claims.within_factor("", 10, 4.9, 2), False),
        (claims.within_factor("", 10, np.nan, 2), False),
        (claims.less("", 1, 2), True),
        (claims.less("", 1, 2, times=3), False),
        (claims.less("", np.nan, 2), False),
        (claims.below("", 1e-15, 1e-14), True),
        (claims.below("", np.nan, 1e-14), False),
        (claims.above("", 3.9, 4), False),
        (claims.contrast("", 1.25, 1.2), True),
        (claims.contrast("", 1.25, 1.01), False),
        (claims.contrast("", 1.25, 0.8), False),
        (claims.contrast("", 0.8, 0.85), True),
        (claims.contrast("", 1.25, 1.6), False),
        (claims.contrast("", 1.01, 1.02), True),
        (claims.contrast("", 1.01, 1.05), False),
        (claims.equal("", 5, 5), True),
        (claims.equal("", 5, 6), False),
    ],
)
def test_claims_decide(claim, holds):
    assert claim.holds is holds
    (decided,) = claims.of_full_run([claim])
    assert decided.verdict == ("reproduced" if holds else "differs")


def test_without_a_number_nothing_is_resolved():
    claim = claims.slope("", 2, np.nan)
    assert (claim.verdict, claim.ours) == ("not resolved", "none")


def test_a_quick_run_confirms_and_does_not_refute():
    held, failed = claims.needs_full_run(claims.below("", 1, 2), claims.below("", 3, 2))
    assert [held.verdict, failed.verdict] == ["reproduced", "not resolved"]


def test_the_worst_claim_is_the_verdict_on_an_artifact():
    held, failed = claims.below("", 1, 2), claims.below("", 3, 2)
    open_ = claims.needs_full_run(failed)[0]
    assert claims.verdict([held, open_]) == "not resolved"
    assert claims.verdict([open_, held, failed]) == "differs"


def test_the_reason_is_given_only_where_a_claim_fails():
    assert claims.slope("", 2, 1, why="too coarse").why == "too coarse"
    assert claims.slope("", 2, 2, why="too coarse").why == ""


def test_the_farthest_of_several_numbers_is_shown():
    claim = claims.close("", [1.0, 2.0, 3.0], [1.01, 2.2, 3.0], 0.05)
    assert (claim.paper, claim.ours) == ("2", "2.2")


def test_fitted_slopes():
    h = np.array([1e-2, 5e-3, 1e-3])
    assert claims.fitted(h, 7 * h**3) == pytest.approx(3)


# ---- running ----


def made(name, holds, timed=False):
    """An artifact with one claim."""
    result = Result({"x": [1.0, 2.0], "y": [3.0]}, [claims.less("one is less", 1, 2 if holds else 0)])
    return Artifact("fake", name, "Shows.", "Holds.", lambda quick: result, timed)


def broken(quick):
    raise ZeroDivisionError("no result")


@pytest.mark.parametrize("quick, verdict", [(True, "not resolved"), (False, "differs")])
def test_what_a_full_run_finds_is_resolved(monkeypatch, quick, verdict, tmp_path):
    result = Result({"x": [1.0]}, [claims.slope("order", 2, np.nan)])
    row = Artifact("fake", "coarse", "Shows.", "Holds.", lambda quick: result)
    monkeypatch.setattr(catalogue, "MODULES", [types.SimpleNamespace(coarse=row)])
    reproduce("fake/coarse", tmp_path, *["--quick"] * quick)
    with (tmp_path / "verdicts.csv").open(newline="") as file:
        assert [line["verdict"] for line in csv.DictReader(file)] == [verdict]


@pytest.fixture
def fake(monkeypatch):
    """A paper with one artifact for each verdict; the first one measures time."""
    rows = [made("timed", True, timed=True), made("good", True), made("bad", False)]
    rows.append(Artifact("fake", "broken", "Shows.", "Holds.", broken))
    monkeypatch.setattr(catalogue, "MODULES", [types.SimpleNamespace(**{row.name: row for row in rows})])


def reproduce(which, out, *more):
    return main(["reproduce", which, "--out", str(out), "--jobs", "1", *more])


@pytest.mark.parametrize(
    ("which", "status", "strict"), [("good", 0, 0), ("bad", 0, 1), ("broken", 1, 1), ("timed", 0, 0)]
)
def test_exit_status(fake, which, status, strict, tmp_path):
    assert reproduce(f"fake/{which}", tmp_path) == status
    assert reproduce(f"fake/{which}", tmp_path, "--strict") == strict


def test_what_is_written(fake, capsys, tmp_path):
    assert reproduce("all", tmp_path) == 1
    captured = capsys.readouterr()
    assert "ZeroDivisionError: no result" in captured.err
    assert captured.out.count("ZeroDivisionError") == 0
    lines = captured.out.splitlines()
    assert lines[0] == "fake/good: reproduced: one is less: paper first < second, here 1 and 2"
    assert lines[3].startswith("fake/timed: "), "what measures time comes last"
    assert [line.split()[0] for line in lines[6:10]] == ["fake/timed", "fake/good", "fake/bad", "fake/broken"]
    assert lines[-1] == "2 reproduced, 1 differs, 0 not resolved, 1 failed"
    assert (tmp_path / "fake/good.csv").read_text().split() == ["x,y", "1,3", "2,"]
    assert not (tmp_path / "fake/broken.csv").exists()


def test_pictures_have_the_requested_formats(monkeypatch, tmp_path):
    """Equal runs write equal files."""
    lines = {"line": ([1.0, 2.0], [3.0, 4.0])}
    result = Result({"x": [1.0]}, [claims.less("", 1, 2)], picture(plane("title", "x / m", "y / m", lines)))
    row = Artifact("fake", "line", "Shows.", "Holds.", lambda quick: result)
    monkeypatch.setattr(catalogue, "MODULES", [types.SimpleNamespace(line=row)])
    for folder in ("one", "two"):
        assert reproduce("fake/line", tmp_path / folder, "--format", "svg", "pdf") == 0
    assert {path.name for path in (tmp_path / "one/fake").iterdir()} == {"line.csv", "line.svg", "line.pdf"}
    for name, start in (("line.svg", b"<?xml"), ("line.pdf", b"%PDF")):
        one, two = ((tmp_path / folder / "fake" / name).read_bytes() for folder in ("one", "two"))
        assert one.startswith(start) and one == two
    assert reproduce("fake/line", tmp_path) == 0 and (tmp_path / "fake/line.png").read_bytes()[1:4] == b"PNG"


def test_formats_that_do_not_exist(capsys, tmp_path):
    assert reproduce("sherif2019/eq28", tmp_path, "--format", "gif") == 2
    assert "invalid choice: 'gif'" in capsys.readouterr().err
    assert main(["reproduce", "validation", "--out", str(tmp_path), "--format", "svg"]) == 2
    assert "--format: validation has no pictures" in capsys.readouterr().err


def test_thumbnails_are_small_and_those_of_artifacts():
    keys = {row.key for row in catalogue.artifacts()}
    found = [*(ROOT / "docs/images/papers").glob("*/*.webp")]
    assert len(found) > 60 and {f"{path.parent.name}/{path.stem}" for path in found} <= keys
    assert all(path.stat().st_size <= 8000 for path in found)


def test_verdicts_of_other_artifacts_stay_in_the_table(fake, tmp_path):
    reproduce("fake/good", tmp_path)
    reproduce("fake/bad", tmp_path, "--quick")
    reproduce("fake/good", tmp_path)
    with (tmp_path / "verdicts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["artifact"], row["run"], row["verdict"]) for row in rows] == [
        ("bad", "quick", "differs"),
        ("good", "full", "reproduced"),
    ]


def test_results_without_claims_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        Result({"x": [1.0]}, [])


def test_a_process_that_dies_is_an_artifact_that_failed():
    with runner._pool(1) as submit:
        outcomes = [*runner._completed(["fake/dead"], lambda key: submit(os._exit, 3))]
        outcomes += runner._completed(["fake/next"], lambda key: submit(os._exit, 3))
    assert [outcome.key for outcome in outcomes] == ["fake/dead", "fake/next"]
    assert [outcome.verdict for outcome in outcomes] == ["failed", "failed"]
    assert all("died" in outcome.error for outcome in outcomes)


def test_progress_without_tqdm(fake, monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    reproduce("all", tmp_path)
    assert [line for line in capsys.readouterr().err.splitlines() if line.endswith("artifacts")] == [
        f"{i} of 4 artifacts" for i in (1, 2, 3, 4)
    ]


def test_what_was_made_before_an_interruption_is_kept(fake, monkeypatch, capsys, tmp_path):
    def interrupted(quick):
        raise KeyboardInterrupt

    row = catalogue.artifacts()[-1]
    monkeypatch.setattr(catalogue.MODULES[0], row.name, dataclasses.replace(row, make=interrupted))
    assert reproduce("all", tmp_path) == 130
    errors = capsys.readouterr().err
    assert errors.endswith("lgint: interrupted\n") and f"2 artifacts are in {tmp_path}; not made: fake/" in errors
    with (tmp_path / "verdicts.csv").open(newline="") as file:
        assert [row["artifact"] for row in csv.DictReader(file)] == ["bad", "good"]


def wrong_alpha(given):
    given["alpha"] *= 1.05


def wrong_torque(given):
    given["moment"] *= 1.0001


def wrong_centre_of_mass(given):
    given["crank_com"] = "pivot"


@pytest.mark.parametrize(
    ("key", "place", "name", "tamper"),
    [
        ("sherif2019/eq28", sherif2019, "integrate", wrong_alpha),
        ("sherif2019/eq42", lgint.models, "single_axis", wrong_torque),
        ("holzinger2025/fig9", lgint.models, "slider_crank", wrong_centre_of_mass),
    ],
)
def test_a_wrong_coefficient_turns_the_verdict(key, place, name, tamper, monkeypatch, capsys, tmp_path):
    assert reproduce(key, tmp_path, "--quick", "--strict") == 0
    right = getattr(place, name)

    def wrong(*arguments, **given):
        tamper(given)
        return right(*arguments, **given)

    monkeypatch.setattr(place, name, wrong)
    assert reproduce(key, tmp_path, "--quick") == 0
    assert reproduce(key, tmp_path, "--quick", "--strict") == 1
    assert f"{key}: differs: " in capsys.readouterr().out


# ---- the installed package in an empty folder ----

COMMAND = [sys.executable, "-m", "lgint", "reproduce"]


def test_a_whole_run_in_an_empty_folder(tmp_path):
    command = [*COMMAND, "sherif2019/eq28", "--quick", "--strict"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert "1 reproduced, 0 differs, 0 not resolved, 0 failed" in shown.stdout
    assert "1 of 1" in shown.stderr
    folder = tmp_path / "reproduced"
    assert (folder / "sherif2019/eq28.png").read_bytes().startswith(b"\x89PNG")
    with (folder / "sherif2019/eq28.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(float(row["h (s)"]) > 0 for row in rows)
    assert {path.name for path in tmp_path.iterdir()} == {"reproduced"}


def test_interruption_ends_all_processes(tmp_path):
    command = [*COMMAND, "sherif2019/eq28", "--jobs", "2"]
    run = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    run.stderr.read(1)  # the progress bar has appeared, so that work has begun
    os.killpg(run.pid, signal.SIGINT)
    errors = run.communicate(timeout=60)[1]
    assert run.returncode == 130
    assert errors.endswith(b"lgint: interrupted\n")
    assert b"Traceback" not in errors
    assert ends(run.pid)


def ends(group, seconds=20):
    """Whether all processes of a group end within some time."""
    for _ in range(100 * seconds):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_matplotlib_missing(tmp_path):
    code = "import sys; sys.modules['matplotlib'] = None; from lgint._cli import main; sys.exit(main({}))"
    listing = subprocess.run([sys.executable, "-c", code.format(["list", "artifacts"])], capture_output=True, text=True)
    assert listing.returncode == 0
    command = [sys.executable, "-c", code.format(["reproduce", "all"])]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 2
    assert "pip install 'lgint[plot]'" in run.stderr
    assert list(tmp_path.iterdir()) == []
