"""Opens every page in Chromium: formulas fit, none has an error, and nothing is fetched from a network.

`make docs` runs it. Without Chromium it says so and does nothing, unless the variable LGINT_CHROMIUM demands one.
"""

import os
import shutil
import sys
from pathlib import Path

FOUND = """() => ({
    wide: [...document.querySelectorAll("div.math")].filter((box) => box.scrollWidth > box.clientWidth + 2)
        .map((box) => box.id || box.innerText.replace(/\\s+/g, " ").slice(0, 60)),
    wrong: document.querySelectorAll("mjx-merror").length,
    formulas: document.querySelectorAll("div.math, span.math").length,
    shown: document.querySelectorAll("mjx-container").length,
})"""


def main(folder: Path) -> int:
    """Print what is wrong with each page; the exit status is 1 if there is anything."""
    named = os.environ.get("LGINT_CHROMIUM")
    chromium = shutil.which(named or "chromium")
    if chromium is None:
        print("no Chromium found: the pages were not opened", file=sys.stderr)
        return 1 if named else 0
    from playwright.sync_api import sync_playwright

    defects = 0
    with sync_playwright() as program:
        browser = program.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        fetched: list[str] = []
        page.on("request", lambda request: fetched.append(request.url))
        for path in sorted(folder.rglob("*.html")):
            if "_static" in path.parts:
                continue
            fetched.clear()
            page.goto(path.as_uri())
            page.wait_for_function("() => !window.MathJax || MathJax.startup?.promise")
            page.evaluate("() => window.MathJax?.startup?.promise")
            found = page.evaluate(FOUND)
            lines = [f"a formula does not fit: {text}" for text in found["wide"]]
            lines += [f"{found['wrong']} formulas with errors"] if found["wrong"] else []
            lines += ["formulas are not shown"] if found["formulas"] > found["shown"] else []
            lines += [f"fetches {url}" for url in fetched if not url.startswith(("file:", "data:", "blob:"))]
            defects += len(lines)
            for line in lines:
                print(f"{path.relative_to(folder)}: {line}", file=sys.stderr)
        browser.close()
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute()))
