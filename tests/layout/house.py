"""Rules of the source tree: each is a function of the tree's root that lists the violations."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MAY_SEE = {
    "core": {"core"},
    "sparse": {"core", "sparse"},
    "group": {"core", "group"},
    "system": {"core", "sparse", "group", "system"},
    "solve": {"core", "sparse", "group", "system", "solve"},
    "integrator": {"core", "sparse", "group", "system", "solve", "integrator"},
    "run": {"core", "sparse", "group", "system", "solve", "integrator", "run"},
    "model": {"core", "sparse", "group", "system", "model"},
    "bind": {"core", "sparse", "group", "system", "solve", "integrator", "run", "model", "bind"},
}
STANDARD = {
    *("errno.h", "float.h", "limits.h", "math.h", "stddef.h"),
    *("stdarg.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h"),
}
LAPACK = {"lapacke.h", "lapack.h", "cblas.h", "openblas_config.h"}
FORBIDDEN_CALLS = re.compile(r"\b(printf|fprintf|puts|abort|exit|assert|setjmp|longjmp)\s*\(")
POINTER = re.compile(r"[\w\s*]*\(\s*\*\s*(?:const\s+)?(\w+)")  # matches int (*name)(int)
MAX_FUNCTION, MAX_FILE = 40, 700
MAX_NAMESAKES = 4  # files with a static function of the same name
# functions that may be longer, each with the reason
LONGER = {
    "puma_by_scipy": "one recursion over the links, whose steps share all of their quantities",
    "puma560_minimal": "the description of one robot in the calls of another program",
    "test_against_exudyn": "the description of one mechanism in the calls of another program",
}


class Function(NamedTuple):
    """A function of the tree, with its file and line and its length, in Python without signature and docstring."""

    where: str
    name: str
    lines: int


# ---- includes and imports ----


def include_violations(root: Path) -> list[str]:
    """Include lines that go against the layers."""
    return [
        f"{path.relative_to(root)}: includes {header}"
        for path in c_files(root)
        for header in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', path.read_text(), re.MULTILINE)
        if not may_include(path.relative_to(root / "csrc"), header)
    ]


def may_include(path: Path, header: str) -> bool:
    """Whether a file, named from csrc/, may include a header."""
    room, is_bind = path.parts[0], path.parts[0] == "bind"
    if header.split("/")[0] in MAY_SEE:
        return header.split("/")[0] in MAY_SEE[room]
    if header in LAPACK:
        return path == Path("sparse/linalg.c")
    if header == "sys/mman.h":  # huge pages
        return path == Path("core/arena.c")
    if header in ("Python.h", "structmember.h") or header.startswith("numpy/"):
        return is_bind
    return header in STANDARD or is_bind


def import_violations(root: Path) -> list[str]:
    """Files that import the compiled core although they belong neither to the package nor to its tests or docs."""
    files = [*root.glob("notebooks/**/*.ipynb"), *root.glob("notebooks/**/*.py"), *root.glob("benchmarks/**/*.py")]
    pattern = re.compile(r"from lgint import .*\b_core\b|\blgint\._core\b|from \.+ import .*\b_core\b")
    return [str(path.relative_to(root)) for path in files if pattern.search(path.read_text())]


def circle_violations(root: Path) -> list[str]:
    """Circles of units: a .c file and its header are one, and use those whose headers or functions they name."""
    owner = {name: unit_of(root, path) for path in c_files(root, "*.c") for name in exports(path)}
    uses = {unit_of(root, path): set[str]() for path in c_files(root, "*.c", "*.h")}
    for path in c_files(root, "*.c", "*.h"):
        uses[unit_of(root, path)] |= used_units(root, path, owner) - {unit_of(root, path)}
    while outside := {u for u, below in uses.items() if not below & uses.keys()} | uses.keys() - set().union(
        *uses.values()
    ):
        uses = {unit: below for unit, below in uses.items() if unit not in outside}
    return [f"{unit} is in a circle with {', '.join(sorted(below & uses.keys()))}" for unit, below in uses.items()]


def unit_of(root: Path, path: Path) -> str:
    """The path of a C file from csrc/ without its suffix."""
    return str(path.relative_to(root / "csrc").with_suffix(""))


def exports(path: Path) -> list[str]:
    """Names of the functions and objects with external linkage that a C file defines."""
    return [declared_name(statement) or "" for statement, _ in statements(path.read_text()) if is_exported(statement)]


def used_units(root: Path, path: Path, owner: dict[str, str]) -> set[str]:
    """Units that a file includes or names; a header may declare functions of others."""
    text = path.read_text()
    included = re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE)
    tables = [root / "csrc" / name for name in included if name.endswith(".def") and path.suffix == ".c"]
    macros = re.findall(r"^[ \t]*#[ \t]*define(?:\\\n|[^\n])*", text, re.MULTILINE)
    code = plain(text) if path.suffix == ".c" else " ".join(bodies(text))
    named = re.findall(r"\b\w+", " ".join([code, *macros, *(plain(table.read_text()) for table in tables)]))
    headers = {str(Path(name).with_suffix("")) for name in included if name.endswith(".h")}
    return headers | {owner[name] for name in named if name in owner}


def bodies(text: str) -> list[str]:
    """The text inside the outermost braces of a C text."""
    depth, inside = 0, [""]
    for character in plain(text):
        depth -= character == "}"
        inside[-1] += character if depth else ""
        depth += character == "{"
        if character == "}" and not depth:
            inside.append("")
    return inside


def call_violations(root: Path) -> list[str]:
    """Calls by which the core would print, abort or jump."""
    return [
        f"{path.relative_to(root)}: calls {name}"
        for path in c_files(root)
        if room_of(path) != "bind"
        for name in FORBIDDEN_CALLS.findall(plain(path.read_text()))
    ]


# ---- symbols ----


def prefix_violations(root: Path) -> list[str]:
    """Functions and objects with external linkage whose name does not begin with lg_."""
    return [
        f"{path.relative_to(root)}: {declared_name(statement)}"
        for path in c_files(root, "*.c")
        for statement, _ in statements(path.read_text())
        if is_exported(statement) and not may_export(room_of(path), declared_name(statement) or "")
    ]


def may_export(room: str, name: str) -> bool:
    """Whether a file in a folder of csrc/ may export a name."""
    return name.startswith("lg_") or (room == "bind" and name.startswith("PyInit_"))


def is_exported(statement: str) -> bool:
    """Whether a top-level statement defines something with external linkage."""
    inner = statement.startswith(("static", "extern"))
    return declared_name(statement) is not None and not inner and not is_prototype(statement)


def common_name_violations(root: Path) -> list[str]:
    """Names of static functions in more files than a debugger can keep apart; they should carry their file's name."""
    files: dict[str, list[str]] = {}
    for path in c_files(root, "*.c"):
        for statement, _ in statements(path.read_text()):
            if statement.startswith("static") and statement.endswith(") {}"):
                files.setdefault(declared_name(statement) or "?", []).append(str(path.relative_to(root)))
    return [f"{name} is in {', '.join(found)}" for name, found in files.items() if len(set(found)) > MAX_NAMESAKES]


def mutable_violations(root: Path) -> list[str]:
    """Objects of static storage outside bind/ that could change."""
    found = []
    kinds = function_types(root)
    for path in c_files(root):
        if room_of(path) == "bind":
            continue
        text = path.read_text()
        local = re.findall(r"^[ \t]+(static\b[^;{(]*)", plain(text), re.MULTILINE)
        objects = [
            s for s, _ in statements(text) if declared_name(s) and not s.endswith(") {}") and not is_prototype(s)
        ]
        for statement in [*objects, *local]:
            if not is_const(statement) and statement.split()[0] not in {"extern", *kinds}:
                found.append(f"{path.relative_to(root)}: {' '.join(statement.split())}")
    return found


def function_types(root: Path) -> set[str]:
    """Names of function types: what is declared with one of them is a function."""
    pattern = re.compile(r"^typedef [\w *]+?\b(\w+)\(", re.MULTILINE)
    return {name for path in c_files(root) for name in pattern.findall(plain(path.read_text()))}


def is_prototype(statement: str) -> bool:
    """Whether a top-level statement declares a function without defining it."""
    return "=" not in statement and statement.endswith(")") and not POINTER.match(statement)


def is_const(statement: str) -> bool:
    """Whether the declared object itself, not only what it points to, is const."""
    declarator = statement.split("=")[0]
    return re.search(r"\bconst\b", declarator.rsplit("*", 1)[-1]) is not None


def declared_name(statement: str) -> str | None:
    """Name of the function or object that a top-level statement declares; None for types and macro rows."""
    if re.match(r"typedef\b|(struct|union|enum)\b[\w ]*(\{\})?$|[A-Z_]+\([^)]*\)", statement):
        return None
    named = POINTER.match(statement) or re.search(r"(\w+)\s*(?:[(\[=;]|$)", statement)
    return named.group(1) if named else None


# ---- sizes ----


def functions(root: Path) -> list[Function]:
    """Every function of csrc/, of its tests and of the Python files, with its length."""
    return [*c_functions(root, c_files(root)), *c_functions(root, c_tests(root)), *python_functions(root)]


def c_functions(root: Path, paths: list[Path]) -> list[Function]:
    """Every function defined in these C files."""
    return [
        Function(str(path.relative_to(root)), declared_name(statement) or "?", lines)
        for path in paths
        for statement, lines in statements(path.read_text())
        if statement.endswith(") {}")
    ]


def python_functions(root: Path) -> list[Function]:
    """Every function defined in the package, the tests and setup.py."""
    return [
        Function(str(path.relative_to(root)), node.name, body_length(node))
        for path in python_files(root)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]


def body_length(node: ast.FunctionDef) -> int:
    """Lines of a Python function without its signature and docstring."""
    body = node.body[ast.get_docstring(node) is not None :]
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def point_violations(root: Path) -> list[str]:
    """Points that do not begin with lg_point_at, which sets what every point needs, such as the load factor 1."""
    made = re.compile(r"\(lg_point\)\s*\{|\blg_point\s+\w+\s*=\s*\{")
    return [
        f"{path.relative_to(root)}: {match.group()}"
        for path in c_files(root)
        if path != root / "csrc/system/point.h"
        for match in made.finditer(plain(path.read_text()))
    ]


def length_violations(root: Path) -> list[str]:
    """Functions of more than 40 lines without a reason in LONGER, and files of more than 700 lines."""
    long_functions = [
        f"{f.where}: {f.name} has {f.lines} lines"
        for f in functions(root)
        if f.lines > MAX_FUNCTION and f.name not in LONGER
    ]
    lengths = {
        path: len(path.read_text().splitlines()) for path in [*c_files(root), *c_tests(root), *python_files(root)]
    }
    long_files = [f"{path.relative_to(root)} has {n} lines" for path, n in lengths.items() if n > MAX_FILE]
    return long_functions + long_files


# ---- reading the tree ----


def c_files(root: Path, *patterns: str) -> list[Path]:
    """C files below csrc/, headers and tables included unless patterns say otherwise."""
    return sorted(path for pattern in patterns or ("*.c", "*.h", "*.def") for path in root.glob(f"csrc/**/{pattern}"))


def c_tests(root: Path) -> list[Path]:
    """C files of the tests."""
    return sorted(path for suffix in ("c", "h") for path in root.glob(f"tests/c/*.{suffix}"))


def python_files(root: Path) -> list[Path]:
    """Python files of the package, the tests, the docs and the build."""
    patterns = ("lgint/**/*.py", "tests/**/*.py", "docs/*.py", "benchmarks/**/*.py", "setup.py")
    return sorted(path for pattern in patterns for path in root.glob(pattern))


def room_of(path: Path) -> str:
    """The folder directly below csrc/ that a C file is in, at whatever depth."""
    parts = path.parts
    return parts[len(parts) - 1 - parts[::-1].index("csrc") + 1]


def plain(text: str) -> str:
    """C text without comments, strings, characters and preprocessor lines; line breaks stay."""

    def blank(match: re.Match[str]) -> str:
        return '""' * match.group().startswith('"') + "\n" * match.group().count("\n")

    # a macro that expands to `static`, as in #define INLINE static inline
    for name in re.findall(r"^#define (\w+) +static\b", text, re.MULTILINE):
        text = re.sub(rf"^{name}\b", "static", text, flags=re.MULTILINE)

    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.DOTALL)
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", blank, text, flags=re.MULTILINE)


def statements(text: str) -> Iterator[tuple[str, int]]:
    """Top-level statements of a C text, each with the number of lines it spans; bodies are replaced by {}."""
    depth, head, lines = 0, "", 0
    for character in plain(text):
        lines = lines + (character == "\n") if head.strip() else 1
        depth -= character == "}"
        if depth == 0:
            head += character
        depth += character == "{"

        # a function ends with its body, anything else with a semicolon
        is_body = character == "}" and re.search(r"\)\s*\{\}$", head)
        if depth == 0 and (character == ";" or is_body):
            yield " ".join(head.rstrip(";").split()).replace("){}", ") {}"), lines
            head = ""
