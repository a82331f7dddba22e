"""PDF, reduced as the JSON that says the same: objects, entries, lines of streams.

An object stands where it is referred to first, as ``{"!object": 4, "value": {}}``: with a page goes
all that only this page needs. What is written has a cross-reference table, lengths and numbers of
pages of its own. What refers to an object that is gone refers to nothing, which the format allows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import cast

from whet.reduction.formats.binary.pdf_reading import Document, read_pdf
from whet.reduction.formats.documents.packed import (
    MOST_DEPTH,
    Packing,
    Pairs,
    from_lines,
    packed_kind,
    tagged,
)

_MOST_NUMBER = 1 << 23
"""Readers know no object beyond this number."""

_DEEPEST_OBJECT = MOST_DEPTH // 2
"""An object that is nested deeper, as in a long chain, is in a list of its own."""

_ODD = re.compile(rb"[^!-~]|[#()<>\[\]{}/%]")
_START = b"%PDF-"
_FAR = 1024
_VERSION = re.compile(r"\d\.\d")
_COUNT = "/Count"


def unpack(payload: bytes) -> list[object]:
    """Return the document of a payload."""
    document = read_pdf(payload)
    shown = _Shown(document)
    trailer = shown.value(document.trailer, 0)
    parts: list[tuple[str, object]] = [("version", document.version), ("trailer", trailer)]
    if shown.waiting:
        parts.append(("objects", tuple(shown.others())))
    return [Pairs(tuple(parts))]


class _Shown:
    """Puts each object where it is referred to first.

    Attributes:
        waiting: numbers of objects that have no place yet.
    """

    def __init__(self, document: Document) -> None:
        self.waiting: list[int] = []
        self._objects = document.objects
        self._placed: set[int] = set()

    def others(self) -> Iterator[object]:
        """Yield the objects that have no place elsewhere."""
        while self.waiting:
            yield self._placed_here(self.waiting.pop(), 0)

    def value(self, value: object, depth: int) -> object:
        """Return a value with the objects that it refers to."""
        if isinstance(value, tuple):
            return tuple(self.value(each, depth + 1) for each in cast("tuple[object, ...]", value))
        if not isinstance(value, Pairs):
            return value
        number = dict(value.items).get("!ref")
        if not isinstance(number, int):
            return self._entries(value, depth)
        if number in self._placed or number not in self._objects:
            return value
        self._placed.add(number)
        if depth < _DEEPEST_OBJECT:
            return self._placed_here(number, depth)
        self.waiting.append(number)
        return value

    def _placed_here(self, number: int, depth: int) -> Pairs:
        return Pairs((("!object", number), ("value", self.value(self._objects[number], depth + 2))))

    def _entries(self, value: Pairs, depth: int) -> Pairs:
        is_counted = dict(value.items).get(_COUNT) == _pages_in(self._objects, value)
        return Pairs(
            tuple(
                (key, self.value(each, depth + 1))
                for key, each in value.items
                if key != _COUNT or not is_counted
            )
        )


def _pages_in(objects: Mapping[int, object], tree: Pairs) -> int:
    """Return how many pages are in a tree of pages; -1: it is none."""
    if dict(tree.items).get("/Type") != "/Pages":
        return -1
    pages, waiting, seen = 0, [tree], set[int]()
    while waiting:
        kids = dict(waiting.pop().items).get("/Kids")
        if not isinstance(kids, tuple):
            pages += 1
            continue
        for each in cast("tuple[object, ...]", kids):
            number = dict(each.items).get("!ref") if isinstance(each, Pairs) else None
            kid = objects.get(number) if isinstance(number, int) else each
            if isinstance(kid, Pairs) and number not in seen:
                seen |= {number} if isinstance(number, int) else set()
                waiting.append(kid)
    return pages


def pack(values: Sequence[object]) -> bytes:
    """Return the file of a document.

    Raises:
        ValueError: if it is none.
        TypeError: likewise.
    """
    (document,) = values
    if not isinstance(document, Pairs):
        raise TypeError("a document has objects")
    parts = dict(document.items)
    version = parts.get("version", "1.7")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise ValueError("a document has a version")
    objects: dict[int, object] = {}
    trailer = _apart(parts.get("trailer"), objects)
    _apart(parts.get("objects"), objects)
    if not isinstance(trailer, Pairs) or trailer.tag or "/Root" not in dict(trailer.items):
        raise TypeError("a document names its first object")
    written = bytearray(f"%PDF-{version}\n".encode())
    places: list[tuple[int, int]] = []
    for number in sorted(objects):
        places.append((number, len(written)))
        value = _object(_counted(objects[number], objects))
        written += b"%d 0 obj\n%b\nendobj\n" % (number, value)
    start = len(written)
    whole = Pairs((*trailer.items, ("/Size", max(objects, default=0) + 1)))
    written += _table(places) + b"trailer\n" + _value(whole)
    return bytes(written) + b"\nstartxref\n%d\n%%%%EOF\n" % start


def _apart(value: object, objects: dict[int, object]) -> object:
    """Return a value that refers to the objects in it, which are put aside."""
    if isinstance(value, tuple):
        return tuple(_apart(each, objects) for each in cast("tuple[object, ...]", value))
    if not isinstance(value, Pairs):
        return value
    match value.items:
        case (("!object", int(number)), ("value", inner)):
            if number in objects or not 0 < number < _MOST_NUMBER:
                raise ValueError("no object has this number")
            objects[number] = None  # its place is taken
            objects[number] = _apart(inner, objects)
            return tagged("!ref", number)
        case items:
            return Pairs(tuple((key, _apart(each, objects)) for key, each in items))


def _counted(value: object, objects: Mapping[int, object]) -> object:
    """Return a tree of pages that says how many there are."""
    if not isinstance(value, Pairs) or _COUNT in dict(value.items):
        return value
    pages = _pages_in(objects, value)
    return value if pages < 0 else Pairs((*value.items, (_COUNT, pages)))


def _table(places: Sequence[tuple[int, int]]) -> bytes:
    """Return the cross-reference table: a head for each run of numbers."""
    lines = [b"xref\n0 1\n0000000000 65535 f \n"]
    for run in _runs(places):
        lines.append(b"%d %d\n" % (run[0][0], len(run)))
        lines += [b"%010d 00000 n \n" % place for _, place in run]
    return b"".join(lines)


def _runs(places: Sequence[tuple[int, int]]) -> Iterator[Sequence[tuple[int, int]]]:
    breaks = (at for at, (one, other) in enumerate(pairwise(places), 1) if other[0] > one[0] + 1)
    bounds = [0, *breaks, len(places)]
    yield from (places[start:end] for start, end in pairwise(bounds) if end > start)


def _object(value: object) -> bytes:
    if not isinstance(value, Pairs) or not value.items or value.items[0][0] != "!stream":
        return _value(value)
    (_, content), *others = value.items
    head = dict(others).get("dict", Pairs(()))
    if not isinstance(head, Pairs) or head.tag or len(others) > 1:
        raise TypeError("a stream has one dictionary")
    raw = from_lines(content)
    written = _value(Pairs((*head.items, ("/Length", len(raw)))))
    return written + b"\nstream\n" + raw + b"\nendstream"


def _value(value: object) -> bytes:
    match value:
        case None | bool():
            return {None: b"null", True: b"true", False: b"false"}[value]
        case int():
            return b"%d" % value
        case float() if isfinite(value):
            return f"{value:.10f}".rstrip("0").encode()
        case str():
            return _name(value[1:]) if value.startswith("/") else _text(value.encode("ascii"))
        case tuple():
            return b"[" + b" ".join(map(_value, cast("tuple[object, ...]", value))) + b"]"
        case Pairs():
            return _tagged(value) if value.tag else b"<<" + b" ".join(_entries(value)) + b">>"
        case _:
            raise ValueError("there is no such value")


def _tagged(value: Pairs) -> bytes:
    match value.items:
        case (("!ref", int(number)),) if 0 <= number < _MOST_NUMBER:
            return b"%d 0 R" % number
        case (("!bytes", str(text)),):
            return b"<" + bytes.fromhex(text).hex().encode() + b">"
        case _:
            raise ValueError("there is no such value")


def _name(text: str) -> bytes:
    return b"/" + _ODD.sub(lambda match: b"#%02X" % match[0][0], text.encode("latin-1"))


def _entries(value: Pairs) -> Iterator[bytes]:
    for key, each in value.items:
        if not key.startswith("/"):
            raise ValueError("a key is no name")
        yield _value(key) + b" " + _value(each)


def _text(raw: bytes) -> bytes:
    escaped = raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return b"(" + escaped.replace(b"\r", b"\\r") + b")"


def _is_likely(payload: bytes) -> bool:
    return _START in payload[:_FAR]


PDF = packed_kind(
    Packing(name="pdf", suffixes=(".pdf",), unpack=unpack, pack=pack, is_likely=_is_likely)
)
