"""Small copies of pictures: of the papers' artifacts and of the gallery's programs.

`make papers` calls it with the folder of a full run, `make pictures` without arguments.
docs/papers.md and docs/gallery/README.md show them.
"""

import runpy
import sys
import tempfile
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
from PIL import Image

HERE = Path(__file__).parent
IMAGES = HERE / "images"
WIDTH, HEIGHT = 360, 240  # pixels, at most
LARGEST = 8000  # bytes


def main() -> None:
    """Write the thumbnails of a run, or those of the gallery."""
    if len(sys.argv) > 1:
        papers(Path(sys.argv[1]))
    else:
        gallery()


def papers(run: Path) -> None:
    """Write a thumbnail for each picture of the run."""
    for path in sorted(run.glob("*/*.png")):
        target = IMAGES / "papers" / path.parent.name / f"{path.stem}.webp"
        target.parent.mkdir(parents=True, exist_ok=True)
        small(path, target)


def gallery() -> None:
    """Run every program of the gallery, and write a thumbnail of its picture."""
    matplotlib.use("Agg")
    (IMAGES / "gallery").mkdir(exist_ok=True)
    for path in sorted((HERE / "gallery").glob("*.py")):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no window to show
            runpy.run_path(str(path), run_name="__main__")
            picture = Path(folder) / "picture.png"
            plt.gcf().savefig(picture, dpi=150)
            small(picture, IMAGES / "gallery" / f"{path.stem}.webp")
        plt.close("all")


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
    main()
