"""From where pictures in three dimensions are seen."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, choice

Plane = Literal["xy", "xz", "yz"]
PLANES: Final = get_args(Plane)
USUAL: Final = (20.0, -57.0)  # elevation and azimuth, degrees


class Side(NamedTuple):
    """Unit vectors (3,) from the scene to the eye, upwards in the picture and to its right, and both angles."""

    eye: Array
    up: Array
    right: Array
    angles: tuple[float, float]


def side(camera: ArrayLike | None, plane: Plane | None) -> Side:
    """The side of a camera with elevation and azimuth in degrees, or the one that shows a plane, right-handed."""
    if plane is not None:
        choice("plane", plane, PLANES)
        if camera is not None:
            raise ValueError("camera: a plane is seen along its normal; leave out camera or plane")
        right, up = (np.eye(3)["xyz".index(letter)] for letter in plane)
        return Side(np.cross(right, up), up, right, (0.0, 0.0))
    elevation, azimuth = USUAL if camera is None else array("camera", camera, (2,)).tolist()
    if abs(elevation) > 90:
        raise ValueError(f"camera: an elevation from -90 to 90 degrees expected, got {elevation:g}")
    e, a = np.radians((elevation, azimuth))
    eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return Side(eye, np.cross(eye, right), right, (elevation, azimuth))
