"""PDF read by its objects, wherever they stand: the cross-reference table isn't asked.

Values are those of JSON: a name is a text that starts with a slash, another object is
``{"!ref": 7}``, a stream ``{"!stream": ["BT", "ET"], "dict": {}}``. What is packed in a plain
way is unpacked; all other bytes stay as they are.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from whet.core.value_class import value_class
from whet.reduction.formats.documents.packed import MOST_BYTES, MOST_DEPTH, Pairs, as_lines, tagged

_BLANKS = re.compile(rb"(?:[\0\t\n\f\r ]|%[^\r\n]*+)*+")
_TOKEN = re.compile(
    rb"(?P<ref>(\d{1,10})[\0\t\n\f\r ]++(\d{1,5})[\0\t\n\f\r ]++R(?![^\0\t\n\f\r ()<>\[\]{}/%]))"
    rb"|(?P<number>[+-]?(?:\d++\.?\d*+|\.\d++))"
    rb"|(?P<name>/[^\0\t\n\f\r ()<>\[\]{}/%]*+)"
    rb"|(?P<open><<|\[)|(?P<close>>>|\])|(?P<text>\()|<(?P<hex>[0-9A-Fa-f\0\t\n\f\r ]*+)>"
    rb"|(?P<word>true|false|null)(?![^\0\t\n\f\r ()<>\[\]{}/%])"
)
_OBJECT = re.compile(rb"(?<![0-9])(\d{1,10})[\0\t\n\f\r ]++\d{1,5}[\0\t\n\f\r ]++obj|\btrailer\b")
_STREAM = re.compile(rb"stream(?:\r\n|\n|\r)")
_END = re.compile(rb"\r?\n?endstream")
_IN_TEXT = re.compile(rb"[()]|\\(?:\r\n|[0-7]{1,3}|[\0-\xff])", re.DOTALL)
_ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_VERSION = re.compile(rb"%PDF-(\d\.\d)")
_WORDS = {b"true": True, b"false": False, b"null": None}
_PRINTABLE = frozenset(b"\t\n\r" + bytes(range(32, 127)))
_WRITTEN_ANEW = {
    "/Size",
    "/Prev",
    "/XRefStm",
    "/W",
    "/Index",
    "/Type",
    "/Length",
    "/Filter",
    "/DecodeParms",
}
"""What says how a file was written, in the place that names its first object."""


@dataclass(slots=True)
class _Reader:
    payload: bytes
    at: int = 0
    left: int = MOST_BYTES
    """The most bytes to unpack from streams, in total."""

    objects: dict[int, object] = field(default_factory=dict[int, object])
    trailer: dict[str, object] = field(default_factory=dict[str, object])

    def skip(self) -> None:
        match = _BLANKS.match(self.payload, self.at)
        self.at = self.at if match is None else match.end()

    def value(self, depth: int = 0) -> object:
        """Return the value that starts here, and go behind it."""
        self.skip()
        token = _TOKEN.match(self.payload, self.at)
        if token is None or depth > MOST_DEPTH:
            raise ValueError("no value starts so")
        self.at = token.end()
        kind, text = str(token.lastgroup), token[0]
        match kind:
            case "ref":
                return tagged("!ref", int(token[2]))
            case "number":
                return float(text) if b"." in text else int(text)
            case "name":
                return "/" + _name_of(text[1:])
            case "word":
                return _WORDS[text]
            case "hex":
                digits = token["hex"].translate(None, b"\0\t\n\f\r ")
                return _text_value(bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode()))
            case "text":
                return _text_value(self.literal())
            case "open":
                return self.dictionary(depth) if text == b"<<" else tuple(self.items(depth, b"]"))
            case _:
                raise ValueError("something ends that didn't start")

    def items(self, depth: int, end: bytes) -> Iterator[object]:
        self.skip()
        while not self.payload.startswith(end, self.at):
            yield self.value(depth + 1)
            self.skip()
        self.at += len(end)

    def dictionary(self, depth: int) -> Pairs:
        items = list(self.items(depth, b">>"))
        keys, values = items[::2], items[1::2]
        if not all(isinstance(key, str) for key in keys):
            raise ValueError("a key is no name")
        return Pairs(tuple(zip(cast("list[str]", keys), values, strict=True)))

    def literal(self) -> bytes:
        """Return a text in brackets, the first of which was read."""
        parts: list[bytes] = []
        depth = 1
        while (match := _IN_TEXT.search(self.payload, self.at)) is not None:
            parts.append(self.payload[self.at : match.start()])
            self.at, found = match.end(), match[0]
            depth += (found == b"(") - (found == b")")
            if not depth:
                return b"".join(parts)
            parts.append(_unescaped(found[1:]) if found[:1] == b"\\" else found)
        raise ValueError("a text doesn't end")

    def take_object(self, number: bytes) -> None:
        """Read an object, behind its number."""
        value = self.value()
        self.skip()
        stream = _STREAM.match(self.payload, self.at)
        if stream is not None and isinstance(value, Pairs):
            raw = self.raw(value, stream.end())
            value = self.stream(value, raw)
        if value is not None:
            self.objects[int(number)] = value

    def raw(self, head: Pairs, start: int) -> bytes:
        """Return the bytes of a stream as they are in the file."""
        length = dict(head.items).get("/Length")
        end = start + length if isinstance(length, int) and length >= 0 else start
        match = _END.match(self.payload, end) if end > start else None
        match = match or _END.search(self.payload, start)
        if match is None:
            raise ValueError("a stream doesn't end")
        self.at = match.end()
        return self.payload[start : match.start()]

    def stream(self, head: Pairs, raw: bytes) -> object:
        """Return a stream; None: what is in it is taken out, as it says where objects are."""
        parts = {key: value for key, value in head.items if key != "/Length"}
        if parts.get("/Type") == "/XRef":
            self.add_trailer(head)
            return None
        is_plain = parts.get("/Filter") in ("/FlateDecode", ("/FlateDecode",))
        content = self.unpacked(raw) if is_plain and parts.get("/DecodeParms") is None else None
        if content is None:
            content = raw
        else:
            del parts["/Filter"]
            parts.pop("/DecodeParms", None)
            if parts.get("/Type") == "/ObjStm":
                self.add_inner(parts, content)
                return None
        return Pairs((("!stream", as_lines(content)), ("dict", Pairs(tuple(parts.items())))))

    def unpacked(self, raw: bytes) -> bytes | None:
        """Return what was packed; None: it can't be told, or is more than a file may hold."""
        unpacker = zlib.decompressobj()
        try:
            content = unpacker.decompress(raw, self.left + 1)
        except zlib.error:
            return None
        self.left -= len(content)
        if self.left < 0:
            raise ValueError("its streams hold too much")
        return content if unpacker.eof else None

    def add_inner(self, head: dict[str, object], content: bytes) -> None:
        """Take the objects out of a stream that holds some."""
        first = head.get("/First")
        if not isinstance(first, int) or not 0 <= first <= len(content):
            raise ValueError("a stream of objects doesn't say where they are")
        numbers = content[:first].split()
        for number, place in zip(numbers[::2], numbers[1::2], strict=True):
            inner = _Reader(content, first + int(place))
            self.objects[int(number)] = inner.value()

    def add_trailer(self, head: object) -> None:
        if not isinstance(head, Pairs):
            raise TypeError("the trailer is no dictionary")
        self.trailer |= {key: value for key, value in head.items if key not in _WRITTEN_ANEW}


@value_class
class Document:
    """A document.

    Attributes:
        version: of the format, such as `1.7`.
        trailer: what names its first objects.
        objects: all, by their numbers.
    """

    version: str
    trailer: Pairs
    objects: dict[int, object]


def read_pdf(payload: bytes) -> Document:
    """Return a document.

    Raises:
        ValueError: if it is none.
        TypeError: likewise.
    """
    version = _VERSION.search(payload, 0, 1024)
    if version is None:
        raise ValueError("it isn't PDF")
    reader = _Reader(payload, version.end())
    while (match := _OBJECT.search(payload, reader.at)) is not None:
        reader.at = match.end()
        if match[1] is None:
            reader.add_trailer(reader.value())
        else:
            reader.take_object(match[1])
    if "/Root" not in reader.trailer:
        raise ValueError("it doesn't name its first object")
    trailer = Pairs(tuple(reader.trailer.items()))
    return Document(version[1].decode(), trailer, reader.objects)


def _name_of(raw: bytes) -> str:
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), raw).decode("latin-1")


def _unescaped(raw: bytes) -> bytes:
    if raw[:1].isdigit():
        return bytes([int(raw, 8) & 0xFF])
    return b"" if raw[:1] in (b"\r", b"\n") else _ESCAPES.get(raw, raw)


def _text_value(raw: bytes) -> object:
    if _PRINTABLE.issuperset(raw) and raw[:1] != b"/":
        return raw.decode()
    return tagged("!bytes", raw.hex())
