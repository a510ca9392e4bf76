"""A URDF file, read with its lines: plain XML alone, whose elements have the attributes of the format."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from lgint._args import Array, guess, listing, path_of, shown

READ: Final = {
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "mimic", "limit"),
}
MOMENTS: Final = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
MORE_LIMITS: Final = ("effort", "velocity", "acceleration", "deceleration", "jerk")
ATTRIBUTES: Final = {
    "origin": ("xyz", "rpy"),
    "mass": ("value",),
    "inertia": MOMENTS,
    "axis": ("xyz",),
    "limit": ("lower", "upper", *MORE_LIMITS),
    "mimic": ("joint", "multiplier", "offset"),
    "parent": ("link",),
    "child": ("link",),
}
OPEN: Final = {"robot": ("name",), "link": ("name",), "joint": ("name", "type"), "inertial": ()}  # may have others
NATIVE: Final = ("UTF-8", "UTF-16", "ISO-8859-1", "US-ASCII")  # encodings that the parser knows


@dataclass
class Element:
    """An element of the file."""

    tag: str
    attributes: dict[str, str]
    line: int
    inside: list[Element] = field(default_factory=list)


class File:
    """A file and its root element; complains with lines and elements."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from xml.parsers import expat

        self.path = path
        self.ignored: dict[str, int] = {}  # how often what was not read occurs
        self._open: list[Element] = []
        self._roots: list[Element] = []
        self._parser = parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = lambda _: self._open.pop()
        parser.XmlDeclHandler = lambda _, encoding, __: self._check_encoding(encoding)
        parser.StartDoctypeDeclHandler = lambda *_: self._refuse_here(
            "a document type or an entity; plain XML expected"
        )
        parser.EntityDeclHandler = lambda *_: self._refuse_here("an entity; plain XML expected")
        try:
            with open(path_of(path), "rb") as file:
                parser.ParseFile(file)
        except expat.ExpatError as error:
            self._refuse_here(expat.ErrorString(error.code), error.lineno)
        self.root = self._roots[0]
        if self.root.tag != "robot":
            self.refuse(self.root, "the root element <robot> expected")
        self._check_attributes(self.root)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self._parser.CurrentLineNumber)
        if self._open:
            self._open[-1].inside.append(element)
        else:
            self._roots.append(element)
        self._open.append(element)

    def _check_encoding(self, encoding: str | None) -> None:
        """Refuses what Python's parser cannot decode: unknown names, and codecs of several bytes for a character."""
        try:
            is_known = encoding is None or encoding.upper() in NATIVE
            is_known = is_known or len(bytes(range(256)).decode(str(encoding), "replace")) == 256
        except (LookupError, ValueError):
            is_known = False
        if not is_known:
            self._refuse_here(f"encoding: one of {', '.join(NATIVE)} expected, got {shown(encoding)}")

    def _check_attributes(self, element: Element) -> None:
        """Refuses unknown attributes of data; those of other elements, and in other namespaces, are ignored."""
        known = ATTRIBUTES.get(element.tag)
        for name in element.attributes:
            if name in (known or OPEN.get(element.tag, ())) or name.startswith("xmlns"):
                continue
            if known is None or ":" in name:
                self.ignore(f"{name} in <{element.tag}>")
            elif name == "quat_xyzw":
                self.refuse(element, "quat_xyzw is not read; rpy, the angles of roll, pitch and yaw in rad, expected")
            else:
                self.refuse(element, f"unknown attribute {name!r}{guess(name, known)}; known are {listing(known)}")

    def _refuse_here(self, what: str, line: int | None = None) -> NoReturn:
        where = self._open[-1] if self._open else Element("", {}, 0)
        line = line or self._parser.CurrentLineNumber
        self.refuse(Element(where.tag, where.attributes, line), what)

    def refuse(self, element: Element, what: str) -> NoReturn:
        """A ValueError with the path, the line and the element."""
        name = f" name={element.attributes['name']!r}" if "name" in element.attributes else ""
        tag = f" <{element.tag}{name}>" if element.tag else ""
        raise ValueError(f"{os.fspath(self.path)}, line {element.line},{tag}: {what}".replace(",:", ":"))

    def children(self, element: Element, where: str = "") -> Iterator[Element]:
        """The elements inside that are read, with known attributes; others are counted as ignored."""
        for inside in element.inside:
            if inside.tag in READ[where or element.tag]:
                self._check_attributes(inside)
                yield inside
            else:
                self.ignore(f"<{inside.tag}>")

    def ignore(self, what: str) -> None:
        """Counts something that is not used."""
        self.ignored[what] = self.ignored.get(what, 0) + 1

    def one(self, element: Element, tag: str) -> Element | None:
        """The only element inside with this tag; None if there is none."""
        found = [inside for inside in element.inside if inside.tag == tag]
        if len(found) > 1:
            self.refuse(found[1], f"one <{tag}> expected, this is another one")
        return found[0] if found else None

    def text(self, element: Element, name: str) -> str:
        """An attribute that has to be there."""
        if not element.attributes.get(name):
            self.refuse(element, f"the attribute {name!r} expected")
        return element.attributes[name]

    def numbers(self, element: Element | None, name: str, count: int, default: ArrayLike | None = None) -> Array:
        """The numbers of an attribute, (count,)."""
        if element is None or (name not in element.attributes and default is not None):
            return np.array(default, dtype=float)
        given = self.text(element, name)
        try:
            values = np.array([float(word) for word in given.split()])
        except ValueError:
            values = np.array([np.nan])
        if values.shape != (count,) or not np.isfinite(values).all():
            plural = "a number" if count == 1 else f"{count} numbers"
            self.refuse(element, f"{name}: {plural} expected, got {shown(given)}")
        return values
