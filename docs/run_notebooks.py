"""Runs the notebooks and stores what they show: `make notebooks`.

A code host shows stored outputs, but runs no scripts: views and films are stored as
pictures of themselves, which need Chromium. What differs from run to run without telling
a reader anything is left out: times of execution, addresses of objects, versions of
Python.
"""

import base64
import hashlib
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
LARGE = 100_000  # characters; views and films have more


def main() -> None:
    """Run all notebooks, or those that are named."""
    paths = [Path(name) for name in sys.argv[1:]]
    for path in paths or sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, 4)
        run(notebook, path.parent)
        tidy(notebook)
        draw_views(notebook)
        path.write_text(nbformat.writes(notebook) + "\n")
        print(path.name, f"{path.stat().st_size / 1e3:.0f} kB")


def run(notebook: Any, folder: Path) -> None:
    """Run all cells in place, with all steps."""
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()


def digest(notebook: Any) -> str:
    """Return a digest of the code of all cells, by which stale outputs are noticed."""
    code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    text = "\0".join("".join(source) for source in code)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tidy(notebook: Any) -> None:
    """Leave out what only concerns the machine, and store the digest of the code."""
    notebook.metadata.language_info = {"name": "python"}
    notebook.metadata.lgint = {"sources": digest(notebook)}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            if "text/plain" in output.get("data", {}):
                plain = re.sub(r" at 0x[0-9a-f]+", "", output.data["text/plain"])
                output.data["text/plain"] = plain


def draw_views(notebook: Any) -> None:
    """Replace views and films by pictures of them."""
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    large = [
        out for out in outputs if len(out.get("data", {}).get("text/html", "")) > LARGE
    ]
    if not large:
        return
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_playwright() as program:
        place = shutil.which("chromium")
        browser = program.chromium.launch(executable_path=place, args=arguments)
        page = browser.new_page(viewport={"width": 720, "height": 600})
        for output in large:
            page.set_content(
                f"<body style='margin: 0'>{output.data.pop('text/html')}</body>"
            )
            output.data["image/png"] = base64.b64encode(picture(page)).decode() + "\n"
        browser.close()


def picture(page: Any) -> bytes:
    """Return what the page shows once it is drawn, as PNG."""
    view = page.locator("iframe[srcdoc]")
    if view.count():
        view.content_frame.locator(".slider-label").first.wait_for()
        taken: bytes = view.screenshot()
    else:
        page.wait_for_function(
            "() => [...document.images].every((image) => image.complete)"
        )
        taken = page.locator("img").first.screenshot()
    return taken


if __name__ == "__main__":
    main()
