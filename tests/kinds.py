"""The formulations of bodies and the methods, read from the rows of node kinds and of methods."""

from lgint import _core

NODES = {row["name"]: row for row in _core.NODES}
FREE = [name for name, row in NODES.items() if row["position"] in ("inertial", "body")]
FORMULATIONS = [name for name in FREE if not NODES[name]["explicit_only"]]  # for all methods
EXPLICIT_ONLY = [name for name in FREE if NODES[name]["explicit_only"]]
METHODS = [row["name"] for row in _core.METHODS if row["needs"] is None]
MOMENTUM = [row["name"] for row in _core.METHODS if row["momentum"]]  # for Euler parameters
BODIES = dict.fromkeys(METHODS, "R3xSO3") | dict.fromkeys(MOMENTUM, "euler_parameters")  # what each method runs
LIE = [name for name in FORMULATIONS if not NODES[name]["linear"]]
ANGLES = [name for name in FREE if NODES[name]["storage"] == "angles"]
