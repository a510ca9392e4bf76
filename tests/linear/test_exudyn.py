"""Eigenvalues at rest against those of Exudyn."""

import numpy as np
import pytest

import lgint
from lgint._tools import bench_exudyn
from linear.spinning import FORMULATIONS

X = np.array([(0, 0, 0), (1.0, 0.2, -0.1)])
MASS, INERTIA = (3.0, 1.5), ((0.3, 0.4, 0.5), (0.05, 0.1, 0.12))
# from the ground or a body to a body, at a point of both: stiffness along the inertial axes
SPRINGS = [
    (None, 0, (-0.3, 0.2, 0.1), (900.0, 500.0, 700.0)),
    (None, 0, (0.4, -0.3, -0.2), (200.0, 300.0, 800.0)),
    (0, 1, (0.6, 0.3, 0.2), (400.0, 600.0, 350.0)),
    (0, 1, (0.5, -0.2, 0.3), (150.0, 250.0, 450.0)),
    (None, 1, (1.4, 0.1, -0.3), (100.0, 50.0, 80.0)),
]


def by_exudyn(exudyn, hinged):
    """The squares of the frequencies of the same system; `hinged`: the bodies have a revolute joint about z."""

    def build(peer):
        bodies = [peer.body(MASS[i], INERTIA[i], X[i]) for i in range(2)]
        for first, second, point, k in SPRINGS:
            ends = [
                peer.marker(
                    peer.ground if body is None else bodies[body], np.array(point) - (0 if body is None else X[body])
                )
                for body in (first, second)
            ]
            peer.mbs.AddObject(peer.items.ObjectConnectorCartesianSpringDamper(markerNumbers=ends, stiffness=list(k)))
        if hinged:
            ends = [peer.marker(bodies[i], np.array((0.5, 0.1, 0)) - X[i]) for i in range(2)]
            axes = [1, 1, 1, 1, 1, 0]
            peer.mbs.AddObject(peer.items.ObjectJointGeneric(markerNumbers=ends, constrainedAxes=axes))

    peer = bench_exudyn.Peer(exudyn, build)
    found = exudyn.solver.ComputeODE2Eigenvalues(peer.mbs)[0]
    return np.sort(np.array(found).real)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Exudyn's own
@pytest.mark.parametrize("hinged", [False, True])
@pytest.mark.parametrize("formulation", [each for each in FORMULATIONS if each != "minimal"])
def test_eigenvalues_at_rest_are_those_of_exudyn(formulation, hinged):
    if (exudyn := bench_exudyn.load()) is None:
        pytest.skip("Exudyn is not installed")
    b = lgint.ModelBuilder(formulation=formulation)
    for i in range(2):
        b.add_body(f"body{i}", mass=MASS[i], inertia=INERTIA[i], position=X[i])
    for n, (first, second, point, k) in enumerate(SPRINGS):
        a = lgint.ground if first is None else f"body{first}"
        b.add_cartesian_spring(a, f"body{second}", stiffness=k, point=point, name=f"spring{n}")
    if hinged:
        b.add_joint("revolute", "body0", "body1", point=(0.5, 0.1, 0), axis=(0, 0, 1), name="hinge")
    found = lgint.linearize(b.build().state()).frequencies
    expected = by_exudyn(exudyn, hinged)
    assert len(found) == (7 if hinged else 12)
    assert np.abs(found**2 / expected - 1).max() < 1e-8
