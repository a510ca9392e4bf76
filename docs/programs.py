"""The programs that stand in pages, which run as they are printed.

The docs run those of the examples, the recipes and the wishes, with all of their steps.
"""

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path
from typing import Any

PROGRAM = re.compile(r"```python\n(.*?)```", re.DOTALL)


def run_page(page: Path) -> None:
    """Run the programs of a page from its top; they build on each other."""
    names: dict[str, Any] = {}
    for code in PROGRAM.findall(page.read_text()):
        run(code, page.name, names)


def run(code: str, name: str, names: dict[str, Any]) -> None:
    """Run a program in an empty folder; what it prints is not shown."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(code, name, "exec"), names)
        finally:
            os.chdir(before)
