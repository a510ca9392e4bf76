"""What files of format 4 leave out: options that were not given, the elements' memory, redundant rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lgint._run.methods import ROWS, defaults

FORMAT: Final = 4

# elements that had one value of memory, the angle of a joint; the others had none
MEMORY: Final = {"revolute": 1, "cylindrical": 1, "planar": 1, "joint_drive": 1, "joint_law": 1}

_CONTROL: Final = {
    "max_step": float("inf"),
    "min_step": 0.0,
    "safety": 0.9,
    "max_increase": 5.0,
    "max_decrease": 0.2,
    "control": "PI",
}
_ALPHA: Final = {
    "sigma": 1.0,
    "index": 3,
    "form": "exact",
    "start": "plain",
    "predictor": "extrapolate",
    "renew_after": 8,
    "tangent_terms": "all",
    "tangent_operator": True,
    "scaling": True,
    "newton_rtol": 1e-8,
    "newton_atol": 1e-10,
    "max_iter": 20,
}
_MOMENTUM: Final = {"equivariant": False, "guess": "euler", "newton_rtol": 0.0, "newton_atol": 0.0, "max_iter": 20}
_HALF_EXPLICIT: Final = {"first_stage": "printed"}
_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "ode23": _CONTROL,
    "dopri5": _CONTROL,
    **dict.fromkeys(("herk2", "herk3", "herk4"), _HALF_EXPLICIT),
    "herk5": {**_HALF_EXPLICIT, **_CONTROL},
    "genalpha": {"rho_inf": 0.9, **_ALPHA},
    "newmark": {**_ALPHA, "index": "stabilized"},
    "hht": {"alpha": -0.2, **_ALPHA},
    **dict.fromkeys(("eml", "reml", "null_eml", "mpl", "emh"), _MOMENTUM),
    "mph": {"hamiltonian": "polynomial", **_MOMENTUM},
}


def updated(about: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a run in the present format; descriptions of other things are returned as they are."""
    if "options" not in about:
        return dict(about)
    method, given = about["method"], about["options"]
    return {**about, "options": {**_usual(method), **given}}


def lacks_rows(found: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Whether the record of an older model lacks redundant rows, which a model that is built today keeps."""
    return "loops" in own and "loops" not in found and bool(found.get("dropped"))


def _usual(method: str) -> dict[str, Any]:
    """The values of the options that were not given; None where the method itself decided."""
    known = defaults(method) if method in ROWS else {}
    values = {name: value for name, value in _DEFAULTS.get(method, {}).items() if name in known}
    return {**dict.fromkeys(known), **values}
