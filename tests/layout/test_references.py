"""Papers that the sources name are in the bibliography, and links of the Markdown pages have a target."""

import csv
import json
import math
import re
from pathlib import Path

import pytest

import lgint
from lgint._model.formulations import FORMULATIONS

ROOT = Path(__file__).parents[2]
KEYS = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text(), re.MULTILINE))
ELSEWHERE = ["/Python.h", "/build/instructions.csv"]  # the second is written by a tool
FAMILIES = ("explicit", "half-explicit", "implicit", "energy-momentum", "midpoint")
FOLDERS = (".", "docs", "docs/api", "docs/gallery", "notebooks", "benchmarks")
PAGES = [page for folder in FOLDERS for page in (ROOT / folder).glob("*.md")]


def test_every_key_in_the_code_is_in_the_bibliography():
    files = [*ROOT.glob("csrc/**/*.[ch]"), *ROOT.glob("csrc/**/*.def"), *ROOT.glob("lgint/**/*.py")]
    used = {key for path in files for key in re.findall(r"\b[a-z]{4,}(?:19|20)\d\d\b", path.read_text())}
    assert used - KEYS == set()
    assert "holzinger2024" in used


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md", "benchmarks/README.md"])
def test_files_that_a_page_names_are_there(page):
    named = set(re.findall(r"`([\w/.]+\.(?:c|h|def|py|csv|toml))`", (ROOT / page).read_text()))
    files = [*ELSEWHERE, *(f"/{path.relative_to(ROOT)}" for path in tracked())]
    assert named and [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []


@pytest.mark.parametrize("folder", ["csrc", "lgint"])
def test_the_architecture_names_every_folder(folder):
    text = (ROOT / "docs/architecture.md").read_text()
    folders = {path.parent.relative_to(ROOT).parts[:2] for path in tracked() if path.is_relative_to(ROOT / folder)}
    assert [name for name in map("/".join, folders) if f"`{name}`" not in text and name != folder] == []


def tracked():
    """Files of the tree that are not made by a build."""
    patterns = ("csrc/**/*.*", "lgint/**/*.py", "tests/**/*.*", "docs/*.*", "benchmarks/*.*", "notebooks/*.*", "*.*")
    return [path for pattern in patterns for path in ROOT.glob(pattern)]


def test_pages_that_the_readme_links_to_read_well_without_a_build():
    """They have no roles and directives of Sphinx, and their citations lead to an entry."""
    linked = {ROOT / name for name in re.findall(r"\]\((docs/\w+\.md)\)", (ROOT / "README.md").read_text())}
    assert len(linked) > 20
    sphinx = re.compile(r"\{[a-z:-]+\}`|^(?:```|:::)\{", re.MULTILINE)
    assert {page.name: found for page in sorted(linked) if (found := sphinx.findall(page.read_text()))} == {}
    cited = set(re.findall(r"references\.md#(\w+)", "".join(page.read_text() for page in ROOT.glob("docs/*.md"))))
    assert cited and cited <= KEYS == set(
        re.findall("^## (.*)$", (ROOT / "docs/references.md").read_text(), re.MULTILINE)
    )


def test_each_of_25_first_tasks_has_a_page_and_a_section():
    rows = re.findall(r"^\| (.*) \| (\[.*) \|$", (ROOT / "docs/tasks.md").read_text(), re.MULTILINE)
    assert len(rows) == len({task for task, _ in rows}) == 25
    links = [link for _, cell in rows for link in re.findall(r"\]\((\S+?)\)", cell)]
    assert [link for link in links if "#" in link and not has_section(*link.split("#"))] == []


def has_section(page, anchor):
    """Whether a page has a heading that makes an anchor."""
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    return anchor in [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_no_file_names_an_address_of_this_project():
    """It has no public place yet, so that any such address would lead nowhere."""
    listed = [*ROOT.glob("csrc/**/*.[ch]"), ROOT / "CITATION.cff", ROOT / ".ci/run", *ROOT.glob("docs/**/*.*")]
    files = [path for path in [*tracked(), *listed] if path.is_file() and "_build" not in path.parts]
    own = re.compile(rb"https?://[^\s\"')>]*\b" + b"lgint")
    assert [str(path.relative_to(ROOT)) for path in files if own.search(path.read_bytes())] == []
    assert "[project.urls]" not in (ROOT / "pyproject.toml").read_text()
    assert "repository-code" not in (ROOT / "CITATION.cff").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page):
    """As on a code host; the docs make pages of programs, notebooks and models, to which they let these links lead."""
    links = re.findall(r"(?:\]\(|src(?:set)?=\")(?!https?:|#)([^)#\"]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).is_file()] == []


def test_links_of_notebooks_lead_to_files():
    for path in ROOT.glob("notebooks/*.ipynb"):
        cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "markdown"]
        links = re.findall(r"\]\((?!https?:|#)([^)#]+)", "".join(line for cell in cells for line in cell["source"]))
        assert [link for link in links if not (path.parent / link).is_file()] == []


def test_the_readme_says_which_methods_run_which_formulation():
    readme = (ROOT / "README.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in readme.splitlines() if line.startswith("| ")]
    families = {row[0]: re.findall(r"`(\w+)`", row[2]) for row in rows if row[0] in FAMILIES}
    assert sorted(sum(families.values(), [])) == sorted(lgint.methods())
    said = {name: row[3].split(", ") for row in rows if len(row) == 4 for name in re.findall(r"`(\w+)`", row[0])}
    assert said.keys() == {*FORMULATIONS, "minimal"}
    for name, taken in said.items():
        model = lgint.models.pendulum_chain(n=1, joint="revolute", formulation=name)
        for family, methods in families.items():
            assert {runs(model, method) for method in methods} == {family in taken}
    pendulum = lgint.models.spring_pendulum()
    assert [method for method in lgint.methods() if not runs(pendulum, method)] == ["emh"]


def runs(model, method):
    try:
        lgint.Stepper(model, method).step(1e-3)
    except ValueError:
        return False
    return True


def test_the_readme_has_the_ratios_of_the_comparison():
    stiff, trees = table("stiff"), table("trees")
    ratios = {
        "Exudyn": [float(row[4]) for row in table("benchmarks") if row[4] != "–"],
        "SUNDIALS IDA": [float(row[6]) / float(row[5]) for row in stiff],
        "scipy_dae": [float(row[7]) / float(row[5]) for row in stiff],
        "MuJoCo": [float(row[3]) for row in trees],
        "Pinocchio": [float(row[5]) for row in trees],
        "PyElastica": [theirs / own for own, theirs in zip(rod_times("herk4"), rod_times("PyElastica"), strict=True)],
    }
    found = re.findall(r"^\| ([\w ]+): .* \| ([\d.]+) to ([\d.]+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert found == [(name, shortened(min(all_)), shortened(max(all_))) for name, all_ in ratios.items()]


def table(name):
    """The cells of a table of the comparison, row by row; where there are two, of the first."""
    page = (ROOT / "docs/comparison.md").read_text()
    (text,) = re.findall(rf"<!-- table {name} -->(.*?)<!-- end of table -->", page, re.DOTALL)
    rows = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)[0].splitlines()
    return [row.strip("| ").split(" | ") for row in rows[2:]]


def rod_times(code):
    return [float(row[4]) for row in table("rods") if row[1:3] == ["64", code]]


def shortened(ratio):
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}"


@pytest.fixture(scope="module")
def stiff():
    """Milliseconds of the last measurement by case, code and k for an error of 10^-k."""
    with (ROOT / "benchmarks" / "stiff.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        (row["case"], row["code"], round(-math.log10(float(row["error"])))): float(row["ms"])
        for row in rows
        if row["date"] == rows[-1]["date"]
    }


@pytest.mark.parametrize("case", ["constrained top", "slider-crank", "stiff pair", "stiff chain"])
def test_radau5_takes_at_most_half_of_the_time_of_the_best_peer(stiff, case):
    """At every error that a peer has reached, in both formulations."""
    codes = {code for _, code, _ in stiff}
    peers = [code for code in codes if code.startswith(("IDA", "scipy_dae"))]
    assert len(peers) >= 2
    compared = 0
    for code in codes & {"radau5", "radau5, Euler parameters"}:
        for k in range(4, 11):
            times = [stiff[case, peer, k] for peer in peers if stiff.get((case, peer, k), math.nan) > 0]
            assert not times or stiff[case, code, k] <= 0.5 * min(times), (code, k)
            compared += len(times) > 0
    assert compared >= 7


@pytest.mark.parametrize(("kind", "first"), [("", 6), (", minimal", 7)])
@pytest.mark.parametrize("case", ["stiff pair", "stiff chain"])
def test_radau5_takes_at_most_a_tenth_of_the_time_of_genalpha_on_stiff_systems(stiff, case, kind, first):
    """For errors of 1e-6 and below, and in minimal coordinates, which have no constraints, of 1e-7 and below."""
    for k in range(first, 11):
        own, other = (stiff[case, f"{method}{kind}", k] for method in ("radau5", "genalpha"))
        assert math.isnan(other) or own <= 0.1 * other, k
