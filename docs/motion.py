"""The moving pictures of the README: `make pictures`."""

from pathlib import Path

import lgint

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    """Write a mechanism and a rod in motion."""
    crank = lgint.integrate(
        lgint.models.slider_crank(), "genalpha", t_end=2.0, h=1e-3, dense_output=True
    )
    rod = lgint.integrate(
        lgint.models.roll_up(edges=24),
        "herk5",
        t_end=8.0,
        rtol=1e-6,
        atol=1e-8,
        dense_output=True,
    )
    for name, run in {"slider_crank": crank, "roll_up": rod}.items():
        run.animate(4, fps=15).save(IMAGES / f"{name}.gif", dpi=70)


if __name__ == "__main__":
    main()
