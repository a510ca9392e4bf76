"""The part of the builder that adds rods: nodes, which are rigid bodies, and edges between them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, array, guess, listing, warn
from lgint._build.body import Body
from lgint._build.controls import ControlBuilder
from lgint._build.edges import add_edge
from lgint._build.line import Line, line
from lgint._build.sections import Section
from lgint._build.timed import Load, Motion, is_table, set_kinks, value_in_time
from lgint._build.urdf import UrdfBuilder
from lgint._model.checks import triangle
from lgint._model.compiled import CompiledFunction, function_of_time
from lgint._model.formulations import FORMULATIONS
from lgint._model.names import FormulationName
from lgint._model.record import LoadRow
from lgint._model.rod import Rod
from lgint._model.shared import Scaled, Shared
from lgint._rotation import RotationLike
from lgint._rotation import rotation as rotation_matrix

Strain = Load | Sequence[Callable[[float], ArrayLike]]
Clamps = Iterable[int] | Mapping[int, Motion | None]

FORMULATION: Final = "S3R3"
NO_DAMPING: Final = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
WIDTH: Final = 6  # components of a strain
EITHER_SIDE: Final = 1e-9  # rad: a turn this close to half a turn has no definite direction


class Laws(NamedTuple):
    """Stiffness, damping and reference strain of each edge of a rod."""

    stiffness: Array  # (edges, 6, 6)
    damping: Array  # (edges, 6)
    reference: Sequence[Any]  # strains, tables, or functions of time


class Motions(TypedDict):
    """How a node is held, as `add_support` takes it."""

    motion: Motion | None
    kinks: ArrayLike


class RodBuilder(UrdfBuilder, ControlBuilder):
    """The part of `ModelBuilder` that adds rods."""

    def add_rod(
        self,
        name: str,
        *,
        nodes: ArrayLike | None = None,
        rotations: RotationLike | None = None,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        edges: int | None = None,
        section: Section | None = None,
        stiffness: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        reference_strain: Strain | None = None,
        constraints: str | None = "kirchhoff",
        clamped: Clamps = (),
        prefix: str | None = None,
        closed: bool = False,
        length: ArrayLike | None = None,
        attached: Mapping[int, str] | None = None,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        load: Load | None = None,
        drag: ArrayLike | None = None,
        kinks: ArrayLike = (),
        formulation: FormulationName = FORMULATION,
    ) -> Rod:
        """Adds a rod, a chain of nodes that elastic edges connect (tumiotto2024, Sect. 4).

        Its line is given by `nodes`, or by `start`, `end` and `edges` if it is straight. Each node is a rigid body with
        the name "<name>.node<i>" and has half of the mass of each adjacent edge. d1, d2 and d3 are the directors
        of a section, d3 along the rod. Strains and stresses have the order shear along d1, shear along d2, stretch (1
        at the unstrained length), bending about d1, bending about d2, torsion. The stress of an edge is
        stiffness (strain - reference) + 2 damping (rate of strain).

        Parameters
        ----------
        name : str
            Of the rod.
        nodes : array_like, shape (n + 1, 3)
            Positions at the start, m, inertial. A closed rod has n nodes.
        rotations : array_like, shape (n + 1, 3, 3) or (n + 1, 4), or a SciPy Rotation of length n + 1
            From section axes (d1, d2, d3) to inertial ones. Default: d3 along the rod, turned as little as possible
            from the inertial axes at the first node, and without twist from node to node.
        start, end : array_like, shape (3,)
            Ends of a straight rod, m, inertial.
        edges : int
            Number of edges of a straight rod.
        section : Section, optional
            From `lgint.section`: gives `stiffness`, `inertia` and `damping`, unless they are given as well.
        stiffness : array_like, shape (6,), (6, 6), (n, 6) or (n, 6, 6)
            N for the first three, N m^2 for the others: one or one per edge; the diagonal or a symmetric matrix. Six
            rows of six numbers are a matrix.
        inertia : array_like, shape (4,) or (n, 4)
            Mass per length, kg/m, and moments of inertia per length about d1, d2, d3, kg m; one or one per edge.
        damping : array_like, shape (6,) or (n, 6)
            Diagonal, not negative, N s and N m^2 s. Default: that of the section, otherwise none.
        reference_strain : optional
            The strain without stress: (6,) or (n, 6); a table (times (m,), values (m, 6)) for all edges, linear between
            its times; a function of time that returns (6,), or n of them. A function that changes constrained strains
            returns (3, 6), with both derivatives; a table cannot change them. Default: the strain at the start, which
            is then free of stress.
        constraints : "kirchhoff", "inextensible" or None
            "kirchhoff": no shear; "inextensible": no stretch either; None: neither.
        clamped : sequence of int, or dict
            Numbers of nodes that are held in place (-1: the last one); they are supports, not bodies. A dict gives
            each of them a motion, as `add_support` takes it, or None if it is at rest.
        prefix : str, optional
            In place of "<name>." in the names of nodes and edges; "" gives "node0", "edge0", ...
        closed : bool
            Whether another edge connects the last node with the first.
        length : float or array_like, shape (n,), optional
            Unstrained length of the rod, which is divided as at the start, or of each edge, m. Default: that of the
            start.
        attached : dict, optional
            Bodies or nodes of other rods to which nodes are fixed, by number. A node that lies on the centre of mass of
            a body becomes that body and gives it its mass; otherwise a rigid joint "<node>.joint" holds it.
        velocity : array_like, shape (3,) or (n + 1, 3)
            Of the nodes at the start, m/s, inertial.
        angular_velocity : array_like, shape (3,) or (n + 1, 3)
            Of the nodes at the start, rad/s, section axes.
        load : array_like (3,), table or function, optional
            Dead load per length, N/m, inertial.
        drag : float or array_like, shape (3,), optional
            Viscous drag per length, not negative, N s/m^2: the force is -drag times the velocity, along each director.
        kinks : array_like, shape (k,)
            Times at which functions, that of the reference strain, of the load or of the motion of a node, are not
            smooth; steps end there.
        formulation : str
            Of the nodes: any of `add_body` except "minimal". Tait-Bryan angles are zero at the start.

        Returns
        -------
        Rod
            With its `name` and the names of its `nodes` and `edges`.

        Raises
        ------
        ValueError
            For wrong shapes, nodes that coincide, matrices that are not symmetric and positive semidefinite, numbers
            of nodes that do not exist, and edges of which both ends are clamped. The builder is then as it was before.
            Moments of inertia that violate the triangle inequality are a warning.
        """
        stiffness, inertia, damping = _material(name, section, stiffness, inertia, damping)
        shape = line(name, nodes, rotations, start, end, edges, length, closed)
        rod = self._rod_names(name, prefix, shape)
        _check_formulation(f"formulation of {name!r}", formulation)
        per_length = _inertia(f"inertia of {name!r}", inertia, shape.edges)
        clamps = _clamps(name, clamped, shape.count, kinks)
        load = function_of_time(f"load of {name!r}", load, "load", 3)
        held = self._attached(name, attached, shape.count, clamps)
        laws = _laws(name, stiffness, damping, reference_strain, shape)
        u = _per_node(f"velocity of {name!r}", velocity, shape.count)
        omega = _per_node(f"angular_velocity of {name!r}", angular_velocity, shape.count)
        viscosity = None if drag is None else _drag(f"drag of {name!r}", drag)
        if load is not None:
            value_in_time(f"load of {name!r}", load, 3)
        changing = load, *laws.reference, *(each["motion"] for each in clamps.values())
        functions: list[LoadRow] = [{"function": each} for each in changing if callable(each)]
        set_kinks(repr(name), kinks, *functions)
        with self._all_or_nothing(held.values()):
            nodes_made = self._add_nodes(rod, shape, shape.lumped(per_length), clamps, held, u, omega, formulation)
            rod = replace(rod, nodes=nodes_made)
            self._add_edges(rod, shape, laws, kinks, constraints)
            self._add_loads(rod, shape, load, kinks, viscosity)
            self._rods[name] = {"nodes": list(rod.nodes), "edges": list(rod.edges), "closed": bool(closed)}
            self._names[name] = None
            if (odd := _impossible(per_length)) is not None:
                warn(f"inertia of {name!r}: no section has moments of inertia {odd} (triangle inequality)")
        return rod

    def _add_nodes(
        self,
        rod: Rod,
        shape: Line,
        masses: Array,
        clamps: Mapping[int, Motions],
        held: Mapping[int, str],
        u: Array,
        omega: Array,
        formulation: str,
    ) -> tuple[str, ...]:
        """Adds the nodes of a rod and returns the names under which the model has them."""
        made: list[str] = []
        for i, node in enumerate(rod.nodes):
            x, R = shape.x[i], shape.R[i]
            if i in clamps:
                made.append(self.add_support(node, position=x, rotation=R, **clamps[i]))
            elif i in held and self._absorb(held[i], masses[i], x, R):
                made.append(held[i])
            else:
                made.append(self._add_node(node, masses[i], x, R, u[i], omega[i], formulation))
                if i in held:
                    self.add_joint("rigid", held[i], node, point=x, name=f"{node}.joint")
        return tuple(made)

    def _rod_names(self, name: str, prefix: str | None, shape: Line) -> Rod:
        self._new_name("rod", name)
        if prefix is not None and not isinstance(prefix, str):
            raise ValueError(f"prefix of {name!r}: a string or None expected, got {prefix!r}")
        stem = f"{name}." if prefix is None else prefix
        nodes = tuple(f"{stem}node{i}" for i in range(shape.count))
        return Rod(name, nodes, tuple(f"{stem}edge{i}" for i in range(shape.edges)))

    def _attached(
        self, name: str, attached: Mapping[int, str] | None, count: int, clamps: Collection[int]
    ) -> dict[int, str]:
        """The bodies that hold nodes, by the numbers of the nodes."""
        what = f"attached of {name!r}"
        if attached is not None and not isinstance(attached, Mapping):
            raise ValueError(f"{what}: a dict from node numbers to names of bodies expected, got {attached!r}")
        held = {_node(what, i, count): self._partner(to) for i, to in (attached or {}).items()}
        if both := sorted({*held} & {*clamps}):
            raise ValueError(f"{what}: nodes that are not clamped expected, got {both[0]}, which is in `clamped` too")
        return held

    def _add_node(self, node: str, m: Array, x: Array, R: Array, u: Array, omega: Array, formulation: str) -> str:
        self._new_name("body", node)
        turn = rotation_matrix(f"rotation of {node!r}", R)
        reference = turn if formulation.startswith("tait_bryan") else None
        return self._add_body(Body(node, float(m[0]), np.diag(m[1:]), x, turn, u, omega, formulation, None, reference))

    def _absorb(self, who: str, m: Array, x: Array, R: Array) -> bool:
        """Whether `who` is at the position of a node and replaces it; a body then takes its mass."""
        if who in self._supports or who == "ground":
            return who in self._supports and bool(np.allclose(self._at(who).x, x, rtol=0, atol=1e-12))
        body = self._bodies.get(who)
        if body is None or body.pivot is not None or who in self._links or not np.allclose(body.x, x, atol=1e-12):
            return False
        turn = body.R.T @ R
        added = body._replace(mass=body.mass + float(m[0]), inertia=body.inertia + turn @ np.diag(m[1:]) @ turn.T)
        self._bodies[who] = added
        self._parts[self._blocks[who]] = added
        return True

    # ---- edges ----

    def _add_edges(self, rod: Rod, shape: Line, laws: Laws, kinks: ArrayLike, constraints: str | None) -> None:
        """Adds the edges of a rod whose nodes exist."""
        ends = [(i, (i + 1) % shape.count) for i in range(shape.edges)]
        for i, (first, second) in enumerate(ends):
            if rod.nodes[first] in self._supports and rod.nodes[second] in self._supports:
                raise ValueError(
                    f"clamped of {rod.name!r}: nodes {first} and {second} of one edge are both clamped; leave one free"
                )
            a, b = ((rod.nodes[k], shape.x[k], shape.R[k]) for k in (first, second))
            add_edge(
                self,
                a[0],
                b[0],
                self._at(a[0]).R.T @ a[2],
                self._at(b[0]).R.T @ b[2],
                self._at(a[0]).local(a[1]),
                self._at(b[0]).local(b[1]),
                shape.ds[i],
                laws.stiffness[i],
                laws.damping[i],
                laws.reference[i],
                constraints,
                rod.edges[i],
                _own(kinks, laws.reference[i]),
            )

    def _add_loads(self, rod: Rod, shape: Line, load: Load | None, kinks: ArrayLike, drag: Array | None) -> None:
        """Adds dead loads and drag to the nodes that move, each for its part of the length."""
        shares = shape.lumped(np.ones((shape.edges, 1)))[:, 0]
        for i, (node, share) in enumerate(zip(rod.nodes, shares, strict=True)):
            if node in self._supports:
                continue
            if load is not None:
                part = _share(f"load of {rod.name!r}", load, float(share))
                self.add_force(node, force=part, kinks=_own(kinks, load), name=f"{rod.name}.load{i}")
            if drag is not None:
                self.add_drag(node, drag=share * drag, name=f"{rod.name}.drag{i}")


# ---- arguments ----


def _per_edge(what: str, value: ArrayLike, edges: int, shape: tuple[int, ...]) -> Array:
    """One value per edge, (edges, *shape), from one value for all or one for each."""
    given = array(what, value, shape, (edges, *shape))
    return np.broadcast_to(given, (edges, *shape))


def _laws(name: str, stiffness: ArrayLike, damping: ArrayLike, reference: Strain | None, shape: Line) -> Laws:
    C = _stiffness(f"stiffness of {name!r}", stiffness, shape.edges)
    D = _per_edge(f"damping of {name!r}", damping, shape.edges, (WIDTH,))
    return Laws(C, D, _strains(name, reference, shape))


def _per_node(what: str, value: ArrayLike, count: int) -> Array:
    return np.broadcast_to(array(what, value, (3,), (count, 3)), (count, 3))


def _stiffness(what: str, value: ArrayLike, edges: int) -> Array:
    """Stiffness matrices (edges, 6, 6)."""
    given = array(what, value, (WIDTH,), (WIDTH, WIDTH), (edges, WIDTH), (edges, WIDTH, WIDTH))
    if given.ndim == 1 or given.shape == (edges, WIDTH) != (WIDTH, WIDTH):
        given = given[..., None] * np.eye(WIDTH)
    return np.broadcast_to(given, (edges, WIDTH, WIDTH))


def _strains_of_start(name: str, shape: Line) -> Array:
    """The strains of edges at the start; ValueError where an edge is turned by half a turn, in either direction."""
    strains = shape.strains()
    turns = shape.ds * np.linalg.norm(strains[:, 3:], axis=1)
    if turns.max() > np.pi - EITHER_SIDE:
        edge = int(np.argmax(turns))
        raise ValueError(
            f"reference_strain of {name!r}: a strain expected, since the sections {edge} and "
            f"{(edge + 1) % shape.count} are half a turn from each other, to either side"
        )
    return strains


def _strains(name: str, reference: Strain | None, shape: Line) -> Sequence[Any]:
    """The reference strain of each edge: values or functions of time."""
    if reference is None:
        return [*_strains_of_start(name, shape)]
    what = f"reference_strain of {name!r}"
    given: Any = function_of_time(what, reference, "motion", WIDTH)
    if callable(given):
        return [given if isinstance(given, CompiledFunction) else Shared(given)] * shape.edges
    if _is_table(given):
        return [given] * shape.edges
    if isinstance(given, Sequence):
        given = [function_of_time(what, one, "motion", WIDTH) for one in given]
    if isinstance(given, Sequence) and given and all(callable(one) for one in given):
        if len(given) != shape.edges:
            raise ValueError(f"{what}: {shape.edges} functions expected, got {len(given)}")
        return given
    return [*_per_edge(what, given, shape.edges, (WIDTH,))]


def _is_table(given: object) -> bool:
    """Whether strains are given as (times, values); two strains for two edges are not a table."""
    if not isinstance(given, Sequence) or len(given) != 2:
        return False
    return [np.array(part, dtype=object).ndim for part in given] == [1, 2]


def _material(
    name: str,
    section: Section | None,
    stiffness: ArrayLike | None,
    inertia: ArrayLike | None,
    damping: ArrayLike | None,
) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
    """Stiffness, inertia and damping: what is given for itself, otherwise those of the section."""
    if section is not None:
        if not isinstance(section, Section):
            raise ValueError(f"section of {name!r}: what lgint.section gives expected, got {section!r}")
        if stiffness is not None and inertia is not None and damping is not None:
            raise ValueError(
                f"section of {name!r}: it has no effect beside stiffness, inertia and damping; leave it out"
            )
        stiffness = section.stiffness if stiffness is None else stiffness
        inertia = section.inertia if inertia is None else inertia
        damping = section.damping if damping is None else damping
    if stiffness is None or inertia is None:
        missing = "stiffness" if stiffness is None else "inertia"
        raise ValueError(f"{missing} of {name!r}: numbers expected, or a section=lgint.section(...), got None")
    return stiffness, inertia, NO_DAMPING if damping is None else damping


def _inertia(what: str, value: ArrayLike, edges: int) -> Array:
    """Masses and moments of inertia per length, (edges, 4)."""
    given = _per_edge(what, value, edges, (4,))
    if given.min() <= 0:
        raise ValueError(f"{what}: four positive numbers expected, got {value!r}")
    return given


def _impossible(inertia: Array) -> Array | None:
    """The moments of inertia per length, (3,), of the first edge where they violate the triangle inequality, if any."""
    return next((moments for moments in inertia[:, 1:] if not triangle(np.sort(moments))), None)


def _drag(what: str, value: ArrayLike) -> Array:
    """Coefficients of drag per length, (3,)."""
    given = array(what, value, (), (3,))
    if given.min() < 0:
        raise ValueError(f"{what}: numbers >= 0 expected, got {value!r}")
    return np.broadcast_to(given, (3,))


def _check_formulation(what: str, formulation: object) -> None:
    known = [*FORMULATIONS]
    if formulation not in known:
        raise ValueError(f"{what}: one of {listing(known)} expected, got {formulation!r}{guess(formulation, known)}")


def _node(what: str, i: object, count: int) -> int:
    """The number of a node; negative numbers count from the end."""
    if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or not -count <= i < count:
        raise ValueError(f"{what}: a node number from {-count} to {count - 1} expected, got {i!r}")
    return int(i) % count


def _clamps(name: str, clamped: Clamps, count: int, kinks: ArrayLike) -> dict[int, Motions]:
    """The motions of nodes that are held, by their numbers."""
    what = f"clamped of {name!r}"
    if isinstance(clamped, (str, int)) or not isinstance(clamped, Iterable):
        raise ValueError(f"{what}: a sequence of node numbers or a dict expected, got {clamped!r}")
    motions = clamped if isinstance(clamped, Mapping) else dict.fromkeys(clamped)
    motions = {i: function_of_time(what, given, "motion", WIDTH) for i, given in motions.items()}
    return {_node(what, i, count): {"motion": given, "kinks": _own(kinks, given)} for i, given in motions.items()}


def _own(kinks: ArrayLike, given: object) -> ArrayLike:
    """The kinks of what is a function, and none of anything else."""
    return kinks if callable(given) else ()


def _share(what: str, load: Load, length: float) -> Load:
    """The load on a part of the rod, as `add_force` takes it."""
    if isinstance(load, CompiledFunction):
        return load.scaled(length)
    if callable(load):
        return Scaled(load, length)
    if is_table(load):
        times, values = cast(tuple[ArrayLike, ArrayLike], load)
        return times, length * array(f"values of {what}", values)
    return length * array(what, load, (3,))
