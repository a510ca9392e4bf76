"""Tables that stand in the pages themselves, so that these read well without a build.

A table is between two comments, `<!-- table NAME -->` and `<!-- end of table -->`. This
program, `make tables`, writes them anew from what `generate` gives.
"""

import re
import tempfile
from pathlib import Path

import generate

HERE = Path(__file__).parent
TABLE = re.compile(
    r"(?<=<!-- table )(\w+)( -->\n)(.*?)(?=<!-- end of table -->)", re.DOTALL
)


def tables() -> dict[str, str]:
    """Return every table by its name."""
    with tempfile.TemporaryDirectory() as folder:
        generate.write(Path(folder), HERE / "references.bib")
        return {path.stem: path.read_text() for path in Path(folder).glob("*.md")}


def written(page: str, known: dict[str, str]) -> str:
    """Return the text of a page with its tables written anew."""
    return TABLE.sub(
        lambda found: f"{found[1]}{found[2]}\n{known[found[1]].strip()}\n\n", page
    )


def outdated(known: dict[str, str]) -> dict[Path, str]:
    """Return the pages whose tables are not those, with their new texts."""
    lists = [HERE / "gallery" / "README.md", HERE.parent / "notebooks" / "README.md"]
    texts = {path: path.read_text() for path in [*sorted(HERE.glob("*.md")), *lists]}
    new = {path: written(text, known) for path, text in texts.items()}
    return {path: text for path, text in new.items() if text != texts[path]}


if __name__ == "__main__":
    for path, text in outdated(tables()).items():
        path.write_text(text)
        print(path)
