"""Small copies of the pictures of the papers' artifacts, which docs/papers.md shows.

`make papers` calls it with the folder of a full run.
"""

import sys
from pathlib import Path

from PIL import Image

FOLDER = Path(__file__).parent / "images" / "papers"
WIDTH, HEIGHT = 360, 240  # pixels, at most
LARGEST = 8000  # bytes


def main(run: Path) -> None:
    """Write a thumbnail for each picture of the run."""
    for path in sorted(run.glob("*/*.png")):
        target = FOLDER / path.parent.name / f"{path.stem}.webp"
        target.parent.mkdir(parents=True, exist_ok=True)
        small(path, target)


def small(path: Path, target: Path) -> None:
    """Write a picture of limited size in pixels and bytes."""
    with Image.open(path) as whole:
        image = whole.convert("RGB")
    image.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    for quality in range(80, 0, -10):
        image.save(target, quality=quality, method=6)
        if target.stat().st_size <= LARGEST:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
