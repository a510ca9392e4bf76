"""Sphinx settings.

The tables of methods, elements and node kinds are made from the compiled core first.
"""

import html
import re
import shutil
import sys
from pathlib import Path

from plotly.offline import get_plotlyjs
from sphinx import addnodes

import lgint
from lgint._run.view import library

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import bibliography  # noqa: E402
import model_pages  # noqa: E402
import programs  # noqa: E402

papers = bibliography.papers_in(HERE / "references.bib")
model_pages.write(HERE / "benchmark_models", papers)
for page in ("examples.md", "recipes.md", "wishes.md"):
    programs.run_page(HERE / page)
# copies keep the times of the originals, so that only changed notebooks run again
shutil.rmtree(HERE / "notebooks", ignore_errors=True)
shutil.copytree(
    HERE.parent / "notebooks",
    HERE / "notebooks",
    ignore=shutil.ignore_patterns("*.py", "*.md", "__pycache__", ".*"),
)

project = "lgint"
author = "lgint developers"
copyright = author
version = release = lgint.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build", "gallery", "mechanisms/*.ipynb"]
myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3

nb_execution_mode = "force"  # stored outputs show no views
nb_execution_timeout = 120  # s, for a cell
nb_execution_raise_on_error = True
nb_merge_streams = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "mechanisms",
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": "/",  # every program runs
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
}

autodoc_member_order = "bysource"
default_role = "code"
autodoc_typehints = "none"  # the docstrings give types together with shapes and units
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = "lgint"
html_static_path = ["_static"]
html_css_files = ["tables.css"]


# links lead to files of the sources, as on a code host; here to the pages made of them
PAGES_OF = {
    r"\]\(gallery/README\.md": "](mechanisms/index.rst",
    r"\]\(gallery/(\w+)\.py": r"](mechanisms/\1.rst",
    r"\]\(\.\./notebooks/": "](notebooks/",
    r"\]\(\.\./lgint/models/_(\w+)\.py": r"](benchmark_models/\1.md",
    r"\]\(\.\./docs/": "](../",  # from notebooks, of which there are copies
}


def setup(app):
    """Connect what changes links, docstrings, and the views of runs."""
    app.connect("source-read", lead_to_pages)
    app.connect("autodoc-process-docstring", escape, priority=400)  # before napoleon
    app.connect("doctree-read", unlink)
    app.connect("html-page-context", share_plotly)
    app.connect("build-finished", copy_plotly)


def lead_to_pages(app, docname, source):
    """Let links to programs, notebooks and models lead to their pages."""
    for link, page in PAGES_OF.items():
        source[0] = re.sub(link, page, source[0])


def escape(app, what, name, obj, options, lines):
    """Make plain text of formulas: a star or a bar outside of quotes is no markup."""
    text = re.compile(r"``.*?``|`[^`]*`|[*|]")
    lines[:] = [text.sub(lambda part: escaped(part[0]), line) for line in lines]


def escaped(part):
    return part if part[0] == "`" else "\\" + part


def unlink(app, doctree):
    """Leave letters of shapes, such as those of (n, nv), without links to attributes."""
    for link in [*doctree.findall(addnodes.pending_xref)]:
        target = link["reftarget"]
        if link["reftype"] == "class" and target.islower() and "." not in target:
            link.replace_self(link.children)


def share_plotly(app, pagename, templatename, context, doctree):
    """Let all views load one copy of plotly.js, of which each has its own elsewhere."""
    if "srcdoc=" in context.get("body", ""):
        place = context["pathto"]("_static/plotly.min.js", 1)
        shared = html.escape(f'<script src="{place}"></script>')
        context["body"] = context["body"].replace(html.escape(library()), shared)


def copy_plotly(app, exception):
    """Provide the copy that `share_plotly` names."""
    if exception is None and app.builder.format == "html":
        (Path(app.outdir) / "_static" / "plotly.min.js").write_text(get_plotlyjs())
