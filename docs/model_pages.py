"""A page per benchmark model: lines that integrate it, their picture, its parameters."""

import inspect
import warnings
from pathlib import Path

import bibliography

import lgint

# the arguments of the model and of `integrate` for the picture
EXAMPLES = {
    "chaplygin_sleigh": ("", '"genalpha", t_end=3.0, h=5e-3'),
    "crank_drive_v8": ("", '"genalpha", t_end=3.0, h=1e-3, rho_inf=0.9'),
    "flying_spaghetti": ("edges=16", '"herk5", t_end=6.0, h=2e-3, save_every=10'),
    "four_bar": ("", '"genalpha", t_end=2.0, h=1e-2, index="stabilized"'),
    "free_body": ("", '"rk44", t_end=2.0, h=1e-2'),
    "heavy_top": ("", '"genalpha", t_end=1.0, h=5e-4, sigma="optimal"'),
    "lie_term": ("", '"genalpha", t_end=1.0, h=1e-2, sigma="optimal"'),
    "mass_spring": ("", '"genalpha", t_end=10.0, h=1e-2'),
    "pendulum_chain": ("n=8", '"genalpha", t_end=2.0, h=2e-3, rho_inf=0.9'),
    "puma560": ("", '"dopri5", t_end=2.0, rtol=1e-8, atol=1e-8'),
    "rolling_disk": ("spin=-8.0", '"dopri5", t_end=5.0, rtol=1e-8, atol=1e-8'),
    "quadruped": ("", '"genalpha", t_end=0.5, h=2e-3'),
    "robot_arm": ("", '"dopri5", t_end=1.0, rtol=1e-8, atol=1e-8'),
    "roll_up": ("edges=8", '"herk5", t_end=5.0, rtol=1e-6, atol=1e-8'),
    "rotor": ("", '"genalpha", t_end=0.05, h=1e-5, sigma="optimal"'),
    "single_axis": ("", '"hht", t_end=1.0, h=1e-3, alpha=-0.1'),
    "slider_crank": ("", '"genalpha", t_end=5.0, h=5e-3'),
    "spring_pendulum": ("", '"eml", t_end=2.0, h=1e-2'),
    "steady_top": ("", '"rk44", t_end=2.0, h=1e-3'),
}


def write(folder: Path, papers: dict[str, str]) -> None:
    """Write the pages and their pictures.

    A model without an example, or an example without a model, is an error.
    """
    if sorted(EXAMPLES) != lgint.models.names():
        raise ValueError(
            f"{set(EXAMPLES) ^ set(lgint.models.names())}: without a model or an example"
        )
    folder.mkdir(exist_ok=True)
    for name, (parameters, arguments) in EXAMPLES.items():
        lines = [f"model = lgint.models.{name}({parameters})"]
        lines += [f"run = lgint.integrate(model, {arguments})", "run.plot()"]
        code = "\n".join(lines)
        scope = {"lgint": lgint}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the published inertias of the Puma 560
            exec(code, scope)
        scope["run"].plot().savefig(folder / f"{name}.png", dpi=110)
        (folder / f"{name}.md").write_text(page(name, code, scope["model"], papers))


def page(name: str, code: str, model: lgint.Model, papers: dict[str, str]) -> str:
    """Return the text of a page."""
    first = inspect.getdoc(getattr(lgint.models, name)).split("\n")[0]
    source = bibliography.cite(model.reference, papers, "../")
    return f"""# `{name}`

{first} {size(model)} Source: {source}.

```python
import lgint

{code}
```

![{name}: what the lines above draw]({name}.png)

```{{eval-rst}}
.. autofunction:: lgint.models.{name}
```
"""


def size(model: lgint.Model) -> str:
    """Return a sentence on how many coordinates and constraint rows there are."""
    sizes = f"{model.nv} velocities and {model.nc} constraint rows"
    return f"With its default parameters it has {sizes}."
