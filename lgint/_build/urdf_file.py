"""A URDF file, read with its lines: plain XML alone, whose elements have the attributes of the format."""

from __future__ import annotations

import os
import re
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
BESIDE: Final = {  # other elements of the format, which are ignored
    "robot": ("material", "transmission", "gazebo", "sensor"),
    "link": ("visual", "collision", "gazebo", "self_collision_checking"),
    "joint": ("calibration", "dynamics", "safety_controller", "gazebo"),
    "inertial": (),
}
XACRO: Final = ("include", "macro", "property")  # its elements in older files, where they have no namespace
NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
NATIVE: Final = ("UTF-8", "UTF-16", "ISO-8859-1", "US-ASCII")  # encodings that the parser knows


@dataclass
class Element:
    """An element of the file."""

    tag: str
    attributes: dict[str, str]
    line: int
    inside: list[Element] = field(default_factory=list)
    text: str = ""  # its first words


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
        parser.CharacterDataHandler = self._read_text
        parser.StartDoctypeDeclHandler = lambda name, *_: self._refuse_here(
            "a document type or an entity; plain XML expected", tag=f"!DOCTYPE {name}"
        )
        try:
            with open(path_of(path), "rb") as file:
                parser.ParseFile(file)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            if self._open and what == expat.errors.XML_ERROR_NO_ELEMENTS:
                what = f"the file ends inside <{self._open[-1].tag}>"
            self._refuse_here(what if self._roots else f"{what}; the root element <robot> expected", error.lineno)
        self.root = self._roots[0]
        if self.root.tag != "robot":
            self.refuse(self.root, "the root element <robot> expected")
        self._check_content(self.root)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self._parser.CurrentLineNumber)
        if self._open:
            self._open[-1].inside.append(element)
        else:
            self._roots.append(element)
        self._open.append(element)
        if tag.startswith("xacro:") or (tag in XACRO and len(self._open) == 2):
            self.refuse(element, "an element of xacro; expand the file first: xacro robot.xacro > robot.urdf")

    def _read_text(self, text: str) -> None:
        if self._open and text.strip() and not self._open[-1].text:
            self._open[-1].text = text.strip()

    def _check_encoding(self, encoding: str | None) -> None:
        """Refuses what Python's parser cannot decode: unknown names, and codecs of several bytes for a character."""
        try:
            is_known = encoding is None or encoding.upper() in NATIVE
            is_known = is_known or len(bytes(range(256)).decode(str(encoding), "replace")) == 256
        except (LookupError, ValueError):
            is_known = False
        if not is_known:
            self._refuse_here(f"encoding: one of {', '.join(NATIVE)} expected, got {shown(encoding)}")

    def _check_content(self, element: Element) -> None:
        """Refuses what an element with data cannot contain, and unknown attributes of it."""
        known = ATTRIBUTES.get(element.tag)
        if element.text and known:
            self.refuse(element, f"attributes expected ({', '.join(known)}), got the text {shown(element.text)}")
        if element.text:
            self.ignore(f"text in <{element.tag}>")
        if element.inside and known:
            self.refuse(element.inside[0], f"<{element.tag}> has attributes ({', '.join(known)}) and no elements")
        self._check_attributes(element, known)

    def _check_attributes(self, element: Element, known: tuple[str, ...] | None) -> None:
        """Refuses unknown attributes of data; those of other elements, and in other namespaces, are ignored."""
        for name in element.attributes:
            if name in (known or OPEN.get(element.tag, ())) or name.startswith("xmlns"):
                continue
            if known is None or ":" in name:
                self.ignore(f"{name} in <{element.tag}>")
            elif name == "quat_xyzw":
                self.refuse(element, "quat_xyzw is not read; rpy, the angles of roll, pitch and yaw in rad, expected")
            else:
                self.refuse(element, f"unknown attribute {name!r}{guess(name, known)}; known are {listing(known)}")

    def _refuse_here(self, what: str, line: int | None = None, tag: str = "") -> NoReturn:
        where = ([Element(tag, {}, 0)] + self._roots + self._open)[-1]
        line = line or self._parser.CurrentLineNumber
        self.refuse(Element(where.tag, where.attributes, line), what)

    def refuse(self, element: Element, what: str) -> NoReturn:
        """A ValueError with the path, the line and the element."""
        raise ValueError(f"{self.place(element)}: {what}")

    def place(self, element: Element) -> str:
        """The path, the line and the element."""
        name = f" name={element.attributes['name']!r}" if "name" in element.attributes else ""
        return f"{os.fspath(self.path)}, line {element.line}" + (f", <{element.tag}{name}>" if element.tag else "")

    def children(self, element: Element) -> Iterator[Element]:
        """The elements inside that are read, with known attributes; others are counted as ignored."""
        for inside in element.inside:
            if inside.tag in READ[element.tag]:
                self._check_content(inside)
                yield inside
            else:
                self._pass_over(element, inside)

    def _pass_over(self, element: Element, inside: Element) -> None:
        """Ignores an element that is not read, unless it is one which is, misspelt or in the wrong place."""
        import difflib

        if inside.tag in BESIDE[element.tag]:
            self.ignore(f"<{inside.tag}>")
            return
        for place, known in READ.items():
            if inside.tag in known and inside.tag != "origin":  # files have those of links, which mean nothing
                self.refuse(inside, f"expected in <{place}>, not in <{element.tag}>")
        near = difflib.get_close_matches(inside.tag.lower(), READ[element.tag], n=1, cutoff=0.75)
        if near:
            self.refuse(inside, f"unknown in <{element.tag}> (did you mean <{near[0]}>?)")
        self.ignore(f"<{inside.tag}>, unknown in <{element.tag}>")

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
        if "${" in given:
            self.refuse(
                element, f"{name}: {shown(given)} is of xacro; expand the file first: xacro in.xacro > out.urdf"
            )
        values = np.array([float(word) if NUMBER.fullmatch(word) else np.nan for word in given.split()])
        if values.shape != (count,) or not np.isfinite(values).all():
            plural = "a number" if count == 1 else f"{count} numbers"
            self.refuse(element, f"{name}: {plural} expected, got {shown(given)}")
        return values
