"""Every header of the core compiles alone and together with all others, so that no name has two meanings."""

import os
import re
import shlex
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
COMPILER = [*shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC")), "-std=c11", "-fsyntax-only"]
PATHS = [f"-I{sysconfig.get_paths()['include']}", f"-I{np.get_include()}"]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def headers(root):
    """Headers below csrc/, by the names under which they are included."""
    return sorted(str(path.relative_to(root / "csrc")) for path in root.glob("csrc/**/*.h"))


def compile_together(root, names):
    """Errors of one translation unit that includes the headers in this order."""
    text = "".join(f'#include "{name}"\n' for name in names)
    command = [*COMPILER, *WARNINGS, f"-I{root / 'csrc'}", *PATHS, "-x", "c", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True).stderr


def compile_alone(root, names):
    """Errors of the headers when each of them is a translation unit of its own."""
    command = [*COMPILER, *WARNINGS, f"-I{root / 'csrc'}", *PATHS, "-Wno-unused-function", "-x", "c"]
    return subprocess.run([*command, *(root / "csrc" / name for name in names)], capture_output=True, text=True).stderr


def test_headers_include_what_they_need():
    assert compile_alone(ROOT, headers(ROOT)) == ""


@pytest.mark.parametrize("turn", [1, -1], ids=["forwards", "backwards"])
def test_a_name_means_one_thing_in_all_headers(turn):
    assert compile_together(ROOT, headers(ROOT)[::turn]) == ""


def test_types_that_share_a_name_are_found(tmp_path):
    (tmp_path / "csrc/core").mkdir(parents=True)
    for name, field in (("a", "int"), ("b", "long")):
        path = tmp_path / f"csrc/core/{name}.h"
        path.write_text(
            f"#ifndef {name}\n#define {name}\ntypedef struct lg_place {{ {field} at; }} lg_place;\n#endif\n"
        )
    (tmp_path / "csrc/core/c.h").write_text("lg_place lg_first(void);\n")
    assert "redefinition of" in compile_together(tmp_path, ["core/a.h", "core/b.h"])
    assert re.findall(
        r"csrc/core/(\w).h:\d+:\d+: error", compile_alone(tmp_path, ["core/a.h", "core/b.h", "core/c.h"])
    ) == ["c"]
