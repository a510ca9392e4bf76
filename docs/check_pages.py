"""Opens every page in Chromium and says what a reader would stumble over.

Formulas and code fit into a window of 1280 pixels, no page is wider than that or than the
390 pixels of a telephone, no script fails, no formula has an error, views of runs are
drawn, and nothing is fetched from a network. The search finds pages for the words that
people look for.

`make docs` runs it. Without Chromium it says so and opens no page, unless the variable
LGINT_CHROMIUM demands one.
"""

import itertools
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

WINDOW, TELEPHONE = {"width": 1280, "height": 1000}, {"width": 390, "height": 800}

FOUND = """() => {
    const cut = (kind) => [...document.querySelectorAll(kind)]
        .filter((box) => box.clientWidth && box.scrollWidth > box.clientWidth + 2)
        .map((box) => box.innerText.replace(/\\s+/g, " ").slice(0, 60));
    return {
        wide: [...cut("div.math"), ...cut("div.highlight pre")],
        wrong: document.querySelectorAll("mjx-merror").length,
        formulas: document.querySelectorAll("div.math, span.math").length,
        shown: document.querySelectorAll("mjx-container").length,
    };
}"""
SOUGHT = """
double pendulum, slider-crank, four-bar linkage, Stewart platform, gyroscope
top, crane, car suspension, wind turbine, robot URDF, quadruped, bouncing ball
rolling wheel, belt, gear, hinge, ball joint, revolute joint, universal joint
spring, damper, friction, contact, rope, cable, beam, rigid body
moment of inertia, centre of mass, quaternion, Euler angles, rotation matrix
DAE solver, index reduction, Lagrange multiplier, Baumgarte, stiff, step size
Runge-Kutta, generalized-alpha, stiffness, eigenvalue, natural frequency
mode shape, buckling, Campbell diagram, static equilibrium, PID controller
inverse dynamics, degrees of freedom, reaction force, torque, event, restart
units, CSV, ParaView, animation, parallel, sensitivity, fit parameters
"""
WIDTHS = "() => [window.innerWidth, document.documentElement.scrollWidth]"


def main(folder: Path) -> int:
    """Print what is wrong with each page; the exit status is 1 if there is anything."""
    unknown = unfound((folder / "searchindex.js").read_text())
    for phrase in unknown:
        print(f"the search finds nothing for: {phrase}", file=sys.stderr)
    return max(opened(folder), 1 if unknown else 0)


def unfound(index: str) -> list[str]:
    """Return those of the phrases for which Sphinx's search shows no page."""
    from sphinx.search.en import SearchEnglish

    language = SearchEnglish({})
    known = json.loads(index[index.index("{") : index.rindex("}") + 1])
    found = []
    for phrase in re.split(r", |\n", SOUGHT.strip()):
        words = [word for word in language.split(phrase) if language.word_filter(word)]
        pages = (pages_with(language.stem(word), known) for word in words)
        if not set.intersection(*pages):
            found.append(phrase)
    return found


def pages_with(stem: str, known: dict[str, Any]) -> set[int]:
    """Return the numbers of the pages whose text or titles have a word with this stem."""
    places = [known[part].get(stem, []) for part in ("terms", "titleterms")]
    lists = [[found] if isinstance(found, int) else found for found in places]
    return set(itertools.chain(*lists))


def opened(folder: Path) -> int:
    """Open every page, and print what is wrong with each."""
    named = os.environ.get("LGINT_CHROMIUM")
    chromium = shutil.which(named or "chromium")
    if chromium is None:
        print("no Chromium found: the pages were not opened", file=sys.stderr)
        return 1 if named else 0
    from playwright.sync_api import sync_playwright

    count = 0
    with sync_playwright() as program:
        # the processor computes WebGL
        arguments = [
            "--no-sandbox",
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
        ]
        browser = program.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page()
        for path in sorted(folder.rglob("*.html")):
            if "_static" not in path.parts:
                for line in defects(page, path):
                    count += 1
                    print(f"{path.relative_to(folder)}: {line}", file=sys.stderr)
        browser.close()
    return 1 if count else 0


def defects(page: Any, path: Path) -> list[str]:
    """Return what is wrong with one page."""
    fetched: list[str] = []
    failed: list[str] = []

    def note(request: Any) -> None:
        fetched.append(request.url)

    def complain(error: Any) -> None:
        failed.append(f"a script fails: {error}")

    page.on("request", note)
    page.on("pageerror", complain)
    page.set_viewport_size(WINDOW)
    page.goto(path.as_uri())
    page.wait_for_function("() => !window.MathJax || MathJax.startup?.promise")
    page.evaluate("() => window.MathJax?.startup?.promise")
    found = page.evaluate(FOUND)
    views = undrawn(page)
    wide = too_wide(page, WINDOW) + too_wide(page, TELEPHONE)
    page.remove_listener("request", note)
    page.remove_listener("pageerror", complain)

    lines = [f"does not fit: {text}" for text in found["wide"]]
    lines += [f"{found['wrong']} formulas with errors"] if found["wrong"] else []
    lines += ["formulas are not shown"] if found["formulas"] > found["shown"] else []
    here = ("file:", "data:", "blob:")
    lines += [f"fetches {url}" for url in fetched if not url.startswith(here)]
    return lines + failed + wide + views


def too_wide(page: Any, size: dict[str, int]) -> list[str]:
    """Give the window this size, and say whether the page is wider."""
    page.set_viewport_size(size)
    window, width = page.evaluate(WIDTHS)
    if window != size["width"]:
        return [f"was opened at {window} pixels instead of {size['width']}"]
    return [f"{width} pixels wide where there are {window}"] if width > window else []


def undrawn(page: Any) -> list[str]:
    """Scroll to the views of runs, and name those in which no slider appears."""
    from playwright.sync_api import TimeoutError as Late

    views = page.locator("iframe[srcdoc]")
    found = []
    for i in range(views.count()):
        views.nth(i).scroll_into_view_if_needed()
        try:
            views.nth(i).content_frame.locator(".slider-label").first.wait_for()
        except Late:
            found.append(f"view {i} is not drawn")
    return found


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute()))
