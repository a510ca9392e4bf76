"""Rules for the modules of the package: each is a function of the tree's root that lists the violations."""

import ast
from collections.abc import Iterator
from pathlib import Path

BASE = {"_args", "_built", "_core", "_html", "_rotation", "_version"}
MAY_IMPORT = {
    "base": {"base"},
    "groups": {"base"},
    "inertia": {"base"},
    "modal": {"base"},
    "signatures": {"base"},
    "_model": {"base", "modal", "signatures", "_model"},
    "_build": {"base", "groups", "modal", "_model", "_build"},
    "models": {"base", "_model", "_build", "models"},
    "_state": {"base", "groups", "modal", "_model", "_state"},
    "_run": {"base", "modal", "_model", "_state", "_run"},
    "_linear": {"base", "groups", "modal", "_model", "_state", "_run", "_linear"},
    "_tools": {"base", "_model", "models", "_run", "_tools"},
    "_papers": {"base", "groups", "modal", "_model", "_build", "models", "_run", "_tools", "_papers"},
    "_validation": {
        "base",
        "groups",
        "inertia",
        "_model",
        "_build",
        "models",
        "_state",
        "_run",
        "_linear",
        "_validation",
    },
    "_cli": {"base", "_model", "models", "_run", "_tools", "_papers", "_validation"},
    "_sweep": {"base", "_model", "_run", "_sweep"},
    "lgint": {
        "base",
        "groups",
        "inertia",
        "modal",
        "signatures",
        "_model",
        "_build",
        "models",
        "_state",
        "_run",
        "_linear",
        "_sweep",
        "_tools",
        "_cli",
    },
}


def arrow_violations(root: Path) -> list[str]:
    """Imports that go against the order of the layers."""
    return [
        f"{module} imports {other}"
        for module, others in graph(root).items()
        for other in others
        if room(other) not in MAY_IMPORT[room(module)]
    ]


def circle_violations(root: Path) -> list[str]:
    """Modules that import each other, directly or through others, whether at the top or inside a function."""
    reach = graph(root)
    for middle in reach:
        for module, others in reach.items():
            if middle in others:
                reach[module] = others | reach[middle]
    return [f"{module} imports itself" for module, others in reach.items() if module in others]


def shadow_violations(root: Path) -> list[str]:
    """Names in a package that hide one of its modules."""
    return [
        f"{package}: {name} hides a module"
        for package, path in modules(root).items()
        if path.name == "__init__.py"
        for name, source in _bound(package, path)
        if f"{package}.{name}" in modules(root) and source != f"{package}.{name}"
    ]


def room(module: str) -> str:
    """The layer of a module: its folder, the name of a public module, "base" or "lgint"."""
    parts = module.split(".")
    if len(parts) == 1 or parts[1] == "__main__":
        return "lgint"
    return "base" if parts[1] in BASE else parts[1]


def modules(root: Path) -> dict[str, Path]:
    """Files of the package by the names of their modules, including the compiled core."""
    found = {"lgint._core": root / "lgint/_core.pyi"}
    for path in sorted(root.glob("lgint/**/*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def graph(root: Path) -> dict[str, set[str]]:
    """The modules that each module imports, including imports inside functions and for type checkers."""
    known = modules(root)
    return {module: set(_imports(path, known)) for module, path in known.items()}


def _imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text() if path.exists() else "")):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            inner = [name for name in names if name in known]
            yield from inner
            if len(inner) < len(names):
                yield node.module


def _bound(package: str, path: Path) -> Iterator[tuple[str, str]]:
    """Names that an `__init__.py` binds, each with the module it comes from."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, package
