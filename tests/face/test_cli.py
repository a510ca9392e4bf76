"""The command line: output and exit status."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import lgint
from lgint._cli import main

RUN = ["run", "heavy_top", "--method", "genalpha", "--h", "1e-3", "--t-end", "0.05"]


def test_list(capsys):
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    for name in [*lgint.models.names(), *lgint.methods(), "rho_inf"]:
        assert name in text
    assert main(["list", "models"]) == 0
    assert "genalpha" not in capsys.readouterr().out


def test_run(capsys, tmp_path):
    out, picture = tmp_path / "top.npz", tmp_path / "top.png"
    settings = [
        "--formulation",
        "SE3",
        "--set",
        "mass=10",
        "constraint_frame=body",
        "--set",
        "rho_inf=0.8",
        "sigma=optimal",
    ]
    assert main([*RUN, *settings, "-o", str(out), "--plot", str(picture)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "50 steps" in captured.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    run = lgint.load(out)
    assert run.model.parameters["formulation"] == "SE3"
    assert run.model.parameters["mass"] == 10
    assert (run.options["rho_inf"], run.options["sigma"], run.options["index"]) == (0.8, "optimal", 3)
    same = lgint.models.heavy_top(formulation="SE3", mass=10, constraint_frame="body")
    again = lgint.integrate(same, "genalpha", t_end=0.05, h=1e-3, rho_inf=0.8, sigma="optimal")
    assert np.array_equal(run.q, again.q)


BAD = [
    ([], "usage"),
    (["fly"], "invalid choice"),
    (["run", "heavy_top"], "--method"),
    (["run", "heavy_tip", *RUN[2:]], "did you mean 'heavy_top'"),
    ([*RUN, "--formulation", "SE4"], "formulation 'SE4'"),
    ([*RUN, "--set", "weight=3"], "weight"),
    ([*RUN, "--set", "mas=3"], "'mas' (did you mean 'mass'?)"),
    ([*RUN[:4], "--t-end", "1"], "h: a step size is required"),
    ([*RUN, "--set", "mass"], "NAME=VALUE"),
    ([*RUN, "--set", "mass=-1"], "positive"),
    ([*RUN[:3], "rk45", *RUN[4:]], "method 'rk45'"),
    ([*RUN, "--h", "0"], "h must be a positive number"),
    ([*RUN, "--h", "small"], "invalid float"),
    ([*RUN, "-o", "/no/such/folder/out.npz"], "No such file"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=lambda value: str(value)[-40:])
def test_bad_usage(capsys, arguments, message):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_run_that_fails_keeps_what_there_is(capsys, tmp_path):
    out = tmp_path / "top.npz"
    assert main([*RUN[:4], "--h", "0.2", "--t-end", "10", "-o", str(out)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("lgint: ")
    assert len(lgint.load(out)) >= 1


def test_demo(capsys, tmp_path):
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0
    text = capsys.readouterr().out
    for name in ("euler", "rk33", "rk44", "rk67", "dopri5", "genalpha"):
        assert name in text
    assert (tmp_path / "demo" / "heavy_top.png").read_bytes().startswith(b"\x89PNG")


def test_adaptive_runs_need_no_step(capsys):
    assert main(["run", "free_body", "--method", "dopri5", "--t-end", "0.5", "--set", "rtol=1e-8"]) == 0
    assert "steps of at most" in capsys.readouterr().out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"lgint {lgint.__version__}\n"


@pytest.mark.parametrize("arguments", [["list"], ["list", "methods"]])
def test_a_closed_pipe_is_silent(arguments):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "lgint", *arguments]
    run = subprocess.run(command, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert run.returncode == 128 + signal.SIGPIPE
    assert run.stderr == b""


def test_module_and_help(tmp_path):
    command = [sys.executable, "-m", "lgint", "--help"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "demo" in shown.stdout
