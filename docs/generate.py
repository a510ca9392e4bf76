"""Tables of the documentation.

They come from the rows of the core (methods, options, elements, node kinds), from the
verdicts on papers and from files of measurements.
"""

import ast
import csv
import html
import json
import math
import re
from collections.abc import Iterable
from itertools import groupby, product
from pathlib import Path
from typing import Any

from bibliography import LINE, cite, papers_in, reference_list, wrapped

from lgint import Stepper, _core, models
from lgint._model.formulations import FORMULATIONS
from lgint._papers import catalogue

Row = dict[str, Any]
VALIDATION_COLUMNS = ("number", "reference", "here", "difference", "verdict")


def write(folder: Path, bibliography: Path) -> None:
    """Write every table as a Markdown fragment into a folder."""
    known = papers_in(bibliography)
    folder.mkdir(exist_ok=True)
    with (bibliography.parent / "verdicts.csv").open(newline="") as file:
        verdicts = paper_tables(list(csv.DictReader(file)), known)
    times = bibliography.parents[1] / "benchmarks"
    tables = {
        "papers": verdicts,
        "references": reference_list(bibliography),
        "benchmarks": exudyn_table(times),
        "rods": elastica_table(times),
        "scipy": scipy_table(times),
        "trees": tree_table(times),
        "stiff": stiff_table(times),
        "validation": validation_tables(bibliography.parent / "validation.csv"),
        "gallery": gallery_list(bibliography.parent / "gallery"),
        "notebooks": notebook_list(bibliography.parents[1] / "notebooks"),
    }
    for name, text in (fragments(known) | tables).items():
        (folder / f"{name}.md").write_text(text + "\n")


def fragments(papers: dict[str, str]) -> dict[str, str]:
    """Return name and text of every fragment."""
    methods = _core.METHODS
    found = {
        "methods": method_table(methods, papers),
        "formulations": formulation_table(methods),
        "nodes": node_table(_core.NODES, papers),
    }
    elements = _core.ELEMENTS
    examples = examples_of_elements()
    found["elements"] = "\n".join(
        element_text(row, papers, examples.get(row["name"])) for row in elements
    )
    found["joints"] = joint_table(elements)
    found |= {f"options_{row['name']}": option_text(row) for row in methods}
    for stepper in sorted({row["stepper"] for row in methods}):
        rows = [row for row in methods if row["stepper"] == stepper]
        found[f"tableaux_{stepper}"] = "\n".join(
            tableau_text(row) for row in rows if row.get("tableau")
        )
    return found


def method_table(rows: list[Row], papers: dict[str, str]) -> str:
    """Return one line per method."""
    head = ["method", "order", "what it is", "reference"]
    return table(
        head,
        (
            [code(r["name"]), r["order"], r["doc"], cite(r["reference"], papers)]
            for r in rows
        ),
    )


def formulation_table(rows: list[Row]) -> str:
    """Return which methods run bodies in which formulation, found by trying."""
    systems = {
        code(f'"{name}"'): models.pendulum_chain(n=1, joint="revolute", formulation=name)
        for name in (*FORMULATIONS, "minimal")
    }
    systems["`LagrangianModel`"] = models.spring_pendulum()
    lines = []
    for name, system in systems.items():
        refused = [code(r["name"]) for r in rows if not runs(system, r["name"])]
        lines.append([name, " ".join(refused) or "none"])
    return table(["formulation", "methods that refuse it"], lines)


def runs(system: Any, method: str) -> bool:
    """Return whether a method takes a step of a system."""
    try:
        Stepper(system, method).step(1e-3)
    except ValueError:
        return False
    return True


def node_table(rows: list[Row], papers: dict[str, str]) -> str:
    """Return one line per node kind."""
    head = [
        "kind",
        "nq",
        "nv",
        "own rows",
        "linear",
        "velocity of the position",
        "reference",
    ]
    places = {
        "NO_BODY": "no body",
        "FIXED": "fixed point",
        "INERTIAL": "inertial axes",
        "BODY": "body axes",
    }
    return table(
        head,
        (
            [
                code(r["name"]),
                r["nq"] or "n",
                r["nv"] or "n",
                r["nown"],
                "yes" if r["linear"] else "no",
                places.get(str(r["position"]).upper(), r["position"]),
                cite(r["reference"], papers),
            ]
            for r in rows
        ),
    )


def joint_table(rows: list[Row]) -> str:
    """Return one line per kind of joint."""
    joints = [r for r in rows if r["nrows"] and not r["name"].endswith("edge")]
    return table(
        ["joint", "what it does", "constraint rows"],
        ([code(f'"{r["name"]}"'), r["doc"], r["nrows"]] for r in joints),
    )


def option_text(row: Row) -> str:
    """Return the options of a method."""
    if not row["options"]:
        return "This method has no options of its own."
    head = ["option", "default", "values", "meaning"]
    return table(
        head,
        (
            [
                code(option["name"]),
                code(show(option["default"])),
                values(option),
                option["doc"],
            ]
            for option in row["options"]
        ),
    )


def values(option: Row) -> str:
    """Return what an option may be."""
    choices = " or ".join(code(show(choice)) for choice in option.get("choices") or [])
    if option["type"] in ("choice", "flag"):
        return choices or f"{code('True')} or {code('False')}"
    low, high = show(option["low"]), show(option["high"])
    if low == high:
        return low
    return f"{option['type']} from {low} to {high}" + (
        f", or {choices}" if choices else ""
    )


def tableau_text(row: Row) -> str:
    """Return a Butcher tableau as a formula: A, b, embedded weights, d.

    One in decimals of many digits is too wide for that.
    """
    tableau = row["tableau"]
    stages = len(tableau["b"])
    if any("." in weight for weight in tableau["b"]):
        name = row["name"]
        return (
            f"{code(name)} has {stages} stages, with decimals of 30 digits:\n"
            f'`lgint.method_info("{name}")["tableau"]` gives them.\n'
        )
    lines = [
        " & ".join(
            [
                fraction(c),
                *(
                    fraction(entry) if row["explicit"] is False or j < i else ""
                    for j, entry in enumerate(A)
                ),
            ]
        )
        for i, (c, A) in enumerate(zip(tableau["c"], tableau["A"], strict=True))
    ]
    weights = [
        " & ".join(["", *map(fraction, tableau[b])])
        for b in ("b", "b_hat", "d")
        if tableau.get(b)
    ]
    rows = [*lines[:-1], lines[-1] + r" \\ \hline", *weights]
    size = r"\scriptsize " if stages > 6 else ""
    columns = "c" * stages
    body = " \\\\\n".join(map(wrapped, rows))
    array = rf"{size}\begin{{array}}{{c|{columns}}}" + f"\n{body}\n" + r"\end{array}"
    return f"{code(row['name'])}\n\n$$\n{array}\n$$\n"


def fraction(number: str) -> str:
    """Return an exact number such as -1/2 or (3 - 1*sqrt(3))/6 as a formula."""
    surd = re.fullmatch(r"\((-?\d+) ([+-]) (\d+)\*sqrt\((\d)\)\)/(\d+)", str(number))
    if surd:
        whole = "" if surd[1] == "0" else surd[1]
        sign = "" if surd[2] == "+" and not whole else surd[2]
        root = "" if surd[3] == "1" else surd[3]
        return rf"\tfrac{{{whole}{sign}{root}\sqrt{{{surd[4]}}}}}{{{surd[5]}}}"
    over = re.fullmatch(r"(-?)(\d+)/(\d+)", str(number))
    return rf"{over[1]}\tfrac{{{over[2]}}}{{{over[3]}}}" if over else str(number)


OF_AXES = {
    "inertial": "",
    "first": "; in the axes of the first body",
    "second": "; in the axes of the second body",
}
DEFAULTS = {
    "required": "–",
    "distance": "the distance at the start",
    "separation": "that of the start",
    "axes": "those that agree at the start",
}


def element_text(row: Row, papers: dict[str, str], example: str | None) -> str:
    """Return one element: what it does, how many rows it has and its parameters."""
    counts = f"Frames: {row['nframes']}. Constraint rows: {row['nrows']}."
    source = f"Reference: {cite(row['reference'], papers)}."
    shown = f" Example: {example}." if example else ""
    head = ["parameter", "shape", "unit", "meaning", "valid", "default"]
    lines = [
        [
            code(p["name"]),
            "any number" if p["shape"] is None else p["shape"],
            p["unit"] or "–",
            p["doc"] + OF_AXES[p["axes"]],
            ", ".join(map(code, p["choices"])) or p["valid"],
            default(p),
        ]
        for p in row["parameters"]
    ]
    parameters = table(head, lines) if lines else ""
    text = wrapped(f"{row['doc']} {counts} {source}{shown}")
    return f"## {row['name']}\n\n{text}\n\n{parameters}\n"


def default(parameter: Row) -> str:
    """Return what a parameter is if it is not given; zero is the first of choices."""
    if parameter["default"] == "zero":
        choices = parameter["choices"]
        return code(choices[0]) if choices else "0"
    return DEFAULTS[parameter["default"]]


def examples_of_elements() -> dict[str, str]:
    """Return a link to the section of the docs that shows each element.

    `tests/layout/test_examples.py` runs the sections and compares the elements that they
    build with the file.
    """
    here = Path(__file__).parent
    with (here / "examples.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    titles = {row["example"]: title(here, row["example"]) for row in rows}
    return {r["element"]: f"[{titles[r['example']]}]({r['example']})" for r in rows}


def title(folder: Path, example: str) -> str:
    """Return the heading of a section such as `forces.md#bushings`, or of a page."""
    page, _, anchor = example.partition("#")
    headings = re.findall(r"^##* (.*)$", (folder / page).read_text(), re.MULTILINE)
    return next(text for text in headings if not anchor or slug(text) == anchor)


def slug(heading: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# ---- papers ----


def paper_tables(verdicts: list[Row], papers: dict[str, str]) -> str:
    """Return per paper tables of artifacts, claims that differ and claims that hold."""
    found: dict[str, list[Row]] = {}
    for row in verdicts:
        found.setdefault(f"{row['paper']}/{row['artifact']}", []).append(row)
    parts = []
    for paper, group in groupby(catalogue.artifacts(), key=lambda row: row.paper):
        rows = list(group)
        title = (
            f"## {papers[paper]}\n\n{cite(paper, papers)} has the key `{paper}`.\n"
            if paper in papers
            else f"## Beyond the papers\n\nThese artifacts have the key `{paper}`.\n"
        )
        parts += [title, artifact_table(rows, found)]
        parts += claim_lists(
            [(row.name, claim) for row in rows for claim in found.get(row.key, [])]
        )
    return "\n".join(parts)


def artifact_table(rows: list[Any], found: dict[str, list[Row]]) -> str:
    """Return a row per artifact: its thumbnail, and beside it its verdict.

    Two columns fit a telephone.
    """
    return html_table(
        [thumbnail(row), artifact_text(row, found.get(row.key, []))] for row in rows
    )


def artifact_text(row: Any, claims: list[Row]) -> str:
    """Return the verdict on an artifact, what it shows, and what was expected."""
    parts = [
        f"{code(row.name)}: {score(claims)}",
        plain(row.shows),
        f"Reproduced if: {plain(row.reproduced)}",
    ]
    parts += [f"*Chosen here: {plain(row.ours)}.*"] if row.ours else []
    return "\n\n".join(parts)


def thumbnail(row: Any) -> str:
    """Return the small picture of an artifact, if there is one."""
    path = f"images/papers/{row.key}.webp"
    there = (Path(__file__).parent / path).exists()
    return f"![{plain(row.key)}]({path})" if there else "table"


def score(claims: list[Row]) -> str:
    """Return the verdict on an artifact, and how many of its claims hold."""
    if not claims:
        return "not run"
    held = sum(claim["verdict"] == "reproduced" for claim in claims)
    verdict = "reproduced" if held == len(claims) else "**differs**"
    return f"{verdict}, {held} of {len(claims)} claims hold"


def claim_lists(claims: list[tuple[str, Row]]) -> list[str]:
    """Return a list of what differs, with reasons, and a folded one of what holds."""
    differ, hold = [], []
    for name, claim in claims:
        text, paper, here, why = (
            plain(claim[column]) for column in ("claim", "in the paper", "here", "why")
        )
        line = f"- {code(name)}: {text}: paper {paper}, here {here}."
        if claim["verdict"] == "differs":
            differ.append(wrapped(f"{line} Why: {why}." if why else line, "  "))
        else:
            hold.append(wrapped(line, "  "))
    parts = ["What differs:\n", *differ, ""] if differ else []
    if hold:
        summary = f"<details><summary>{len(hold)} claims that hold</summary>\n"
        parts += [summary, *hold, "\n</details>\n"]
    return parts


def plain(text: str) -> str:
    """Return text in which no character is markup."""
    return re.sub(r"([*_$`<\[\\])", r"\\\1", text)


# ---- measured ----


def latest(path: Path) -> list[dict[str, str]]:
    """Return the rows of the last run in a file of measurements."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if row["date"] == rows[-1]["date"]]


def exudyn_table(folder: Path) -> str:
    """Return one line per case of the last comparison with Exudyn."""
    rows = latest(folder / "results.csv")
    columns = {
        "case": "case",
        "method": "method",
        "lgint_us": "lgint, µs",
        "exudyn_us": "Exudyn, µs",
        "ratio": "ratio",
        "equal": "ratio at equal error",
    }
    return source(rows) + measured(rows, columns)


def elastica_table(folder: Path) -> str:
    """Return the runs of the soft bar in the last comparison with PyElastica."""
    rows = [
        row
        for row in latest(folder / "rods.csv")
        if row["case"] in ("cantilever", "pendulum")
    ]
    columns = {
        "case": "case",
        "edges": "edges",
        "code": "code",
        "h": "step, s",
        "us": "µs per step",
        "seconds": "time of the run, s",
        "error": "error, m",
    }
    return source(rows) + measured(rows, columns)


def tree_table(folder: Path) -> str:
    """Return the trees of the last comparison with MuJoCo and Pinocchio."""
    rows = latest(folder / "trees.csv")
    for row in rows:
        for code in ("mujoco", "pinocchio"):
            row[f"{code}_ratio"] = str(float(row[f"{code}_us"]) / float(row["lgint_us"]))
    columns = {
        "case": "case",
        "lgint_us": "lgint, µs",
        "mujoco_us": "MuJoCo, µs",
        "mujoco_ratio": "ratio",
        "pinocchio_us": "Pinocchio, µs",
        "pinocchio_ratio": "ratio ",
        "mujoco_error": "difference from MuJoCo",
        "pinocchio_error": "from Pinocchio",
    }
    return source(rows) + measured(rows, columns)


def stiff_table(folder: Path) -> str:
    """Return the times at some errors in the last comparison with stiff solvers."""
    rows = latest(folder / "stiff.csv")
    others = [
        row["code"]
        for row in rows
        if row["code"].endswith(("Euler parameters", "minimal"))
    ]
    first_table = [
        row["code"].split(", ")[0] for row in rows if row["code"] not in others
    ]
    columns = dict.fromkeys([*first_table, *others])
    lines = []
    for case, error in product(
        dict.fromkeys(row["case"] for row in rows), ("1e-06", "1e-08")
    ):
        here = {
            row["code"]: row["ms"]
            for row in rows
            if (row["case"], row["error"]) == (case, error)
        }
        plain = {
            code.split(", ")[0]: ms for code, ms in here.items() if code not in others
        }
        lines.append(
            [case, error, *(rounded((plain | here).get(code, "nan")) for code in columns)]
        )
    first = 2 + len(dict.fromkeys(first_table))
    head = ["case", "error", *columns]
    return "\n".join(
        [
            source(rows) + table(head[:first], (line[:first] for line in lines)),
            "In other formulations:\n",
            table(
                [*head[:2], *head[first:]], ([*row[:2], *row[first:]] for row in lines)
            ),
        ]
    )


def scipy_table(folder: Path) -> str:
    """Return the runs of the heavy top in the last comparison with SciPy."""
    rows = latest(folder / "scipy.csv")
    columns = {
        "program": "program",
        "solver": "solver",
        "tolerance": "tolerance",
        "ms": "time, ms",
        "error": "error",
    }
    return source(rows) + measured(rows, columns)


def measured(rows: list[dict[str, str]], columns: dict[str, str]) -> str:
    """Return a table of some columns under their titles."""
    cells = ([rounded(row[key]) for key in columns] for row in rows)
    return table(list(columns.values()), cells)


def rounded(text: str) -> str:
    """Return a number to three digits, a dash for NaN, and other text as it is."""
    try:
        number = float(text or "nan")
    except ValueError:
        return text
    return (
        "–"
        if math.isnan(number)
        else f"{number:.3g}"
        if number < 1000
        else f"{number:.0f}"
    )


def source(rows: list[dict[str, str]]) -> str:
    """Return when and where rows were measured."""
    return f"Measured on {rows[0]['date'][:10]}, {rows[0]['machine']}.\n\n"


# ---- programs and notebooks ----


def gallery_list(folder: Path) -> str:
    """Return each program's title, text and picture."""
    parts = []
    for path in sorted(folder.glob("*.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
        title, _, text = docstring.split("\n", 2)
        picture = f"![{title}](../images/gallery/{path.stem}.webp)"
        parts.append(
            f"## [{title}]({path.name})\n\n{wrapped(text.strip())}\n\n{picture}\n"
        )
    return "\n".join(parts)


def notebook_list(folder: Path) -> str:
    """Return each notebook's title and first sentences, in the order of the docs."""
    lines = []
    index = (folder.parent / "docs" / "index.md").read_text()
    for name in re.findall(r"^notebooks/(\w+)$", index, re.MULTILINE):
        path = folder / f"{name}.ipynb"
        first = "".join(json.loads(path.read_text())["cells"][0]["source"])
        title, text = first.split("\n\n")[:2]
        lines.append(wrapped(f"- [{title[2:]}]({path.name}): {text}", "  "))
    return "\n".join(lines) + "\n"


# ---- Markdown ----


def validation_tables(path: Path) -> str:
    """Return a table for each validation case."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    cases = [list(lines) for _, lines in groupby(rows, key=lambda row: row["case"])]
    published = sum(lines[0]["published"] == "yes" for lines in cases)
    counted = (
        f"{len(cases)} cases with {len(rows)} numbers. Others have published the numbers "
        f"of {published} cases; those of the rest are closed forms and integrals."
    )
    return "\n".join(
        [wrapped(counted) + "\n", *(validation_table(lines) for lines in cases)]
    )


def validation_table(lines: list[Row]) -> str:
    """Return heading, source and numbers of a validation case."""
    case = lines[0]
    head = ["number", "reference", "lgint", "difference", "verdict"]
    numbers = table(head, ([row[key] for key in VALIDATION_COLUMNS] for row in lines))
    begin = {"agrees": "Compared less closely", "reference is wrong": "Evidence"}
    reasons = [(begin.get(row["verdict"], "Why"), row["why"]) for row in lines]
    why = dict.fromkeys(f"{what}: {reason}." for what, reason in reasons if reason)
    notes = "".join(f"\n{wrapped(text)}\n" for text in why)
    title = case["title"][0].upper() + case["title"][1:]
    source = case["source"]
    command = code(f"lgint reproduce validation/{case['case']}")
    made = wrapped(f"{source}; {command}")
    return f"## {title}\n\n{made}\n\n{numbers}{notes}"


def table(head: list[str], lines: Iterable[list[Any]]) -> str:
    """Return a table; one with rows that are too wide for a line is written in HTML."""
    cells = [[str(cell) for cell in row] for row in lines]
    rows = [[cell.replace("|", r"\|") for cell in row] for row in (head, *cells)]
    rows.insert(1, ["---"] * len(head))
    text = [f"| {' | '.join(row)} |" for row in rows]
    if max(map(len, text)) <= LINE:
        return "\n".join(text) + "\n"
    return html_table(cells, head)


def html_table(rows: Iterable[list[str]], head: Iterable[str] = ()) -> str:
    """Return a table whose rows, unlike those of Markdown, may have many lines."""
    titles = [*head]
    top = f"<thead>\n{html_row(titles, 'th')}\n</thead>\n" if titles else ""
    body = "\n".join(map(html_row, rows))
    return f'<table class="docutils">\n{top}<tbody>\n{body}\n</tbody>\n</table>\n'


def html_row(cells: list[str], kind: str = "td") -> str:
    """Return a row in lines of limited length."""
    text = " ".join(f"<{kind}>{html_cell(cell)}</{kind}>" for cell in cells)
    return "\n\n".join(map(wrapped, f"<tr>{text}</tr>".split("\n\n")))


def html_cell(text: str) -> str:
    """Return a cell in HTML, or between blank lines as Markdown if it needs that."""
    if re.search(r"[\[$*\\]|\n\n", text):
        return f"\n\n{text}\n\n"
    return re.sub("`(.*?)`", r"<code>\1</code>", html.escape(text, quote=False))


def code(text: Any) -> str:
    """Return text in a fixed-width font."""
    return f"`{text}`"


def show(value: Any) -> str:
    """Return a value as it would be typed in Python."""
    return f"{value:g}" if isinstance(value, float) else repr(value)
