r"""JSON as a tree over its own text (RFC 8259), so that what isn't touched stays as it was.

Big integers, `1.0e5`, `\u00e9`, duplicate keys and blanks survive, as nothing is turned into
a value and back. Python's `NaN`, `Infinity` and `-Infinity` and control characters in strings
are accepted, as programs do. Several values on lines of their own are JSON lines. No
recursion: a nesting of any depth is read.
"""

import re
from itertools import pairwise
from typing import TypeAlias

from whet.core.value_class import value_class
from whet.reduction.formats.text.coarse import HUGE_BYTES, LARGE_BYTES
from whet.reduction.formats.text.tree import Node
from whet.reduction.reduction_pass import Format, last_view

JsonNode: TypeAlias = Node
"""A value; its kind is its first byte for containers and strings, ``0`` for numbers and names."""


@value_class
class JsonTree:
    """A JSON text.

    Attributes:
        payload: the text.
        roots: its values; more than one in JSON lines.
        nodes: every value, in the order of the text.
    """

    payload: bytes
    roots: list[JsonNode]
    nodes: list[JsonNode]


_TOKEN = re.compile(
    rb"""[ \t\r\n]*(?:
    (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
  | (?P<open>[\[{]) | (?P<close>[\]}]) | (?P<comma>,) | (?P<colon>:)
  | (?P<atom>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.+-])
      | (?:true|false|null|NaN|-?Infinity)(?![0-9A-Za-z_.+-]))
  | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)

_CLOSES = {b"[": b"]", b"{": b"}"}


class _Reader:
    """Reads tokens and knows what may come next.

    ``expects`` is one of: ``value``, ``first`` (a value or the end of an array), ``key``,
    ``first key``, ``colon``, ``more`` (a comma or the end of a container).
    """

    def __init__(self) -> None:
        self.roots: list[JsonNode] = []
        self.nodes: list[JsonNode] = []
        self.stack: list[JsonNode] = []
        self.expects = "value"
        self.key_start = -1

    def value(self, kind: bytes, start: int, end: int) -> bool:
        """Take a string, a number, a name or the start of a container."""
        if kind == b'"' and self.expects in {"key", "first key"}:
            self.key_start, self.expects = start, "colon"
            return True
        if self.expects not in {"value", "first"}:
            return False
        outer_start = start if self.key_start < 0 else self.key_start
        node = JsonNode(kind, start, end, outer_start, len(self.stack))
        (self.stack[-1].children if self.stack else self.roots).append(node)
        self.nodes.append(node)
        self.key_start = -1
        if kind in _CLOSES:
            self.stack.append(node)
            self.expects = "first" if kind == b"[" else "first key"
        else:
            self._after_value()
        return True

    def close(self, sign: bytes, end: int) -> bool:
        """Take the end of a container."""
        if not self.stack or _CLOSES[self.stack[-1].kind] != sign:
            return False
        if self.expects not in {"first", "first key", "more"}:
            return False
        self.stack.pop().end = end
        self._after_value()
        return True

    def sign(self, name: str) -> bool:
        """Take a comma or a colon."""
        if name == "colon" and self.expects == "colon":
            self.expects = "value"
            return True
        if name == "comma" and self.expects == "more":
            self.expects = "value" if self.stack[-1].kind == b"[" else "key"
            return True
        return False

    def is_complete(self, payload: bytes) -> bool:
        """Return whether the text may end here: one value, or values on lines of their own."""
        gaps = pairwise(self.roots)
        is_lines = all(b"\n" in payload[one.end : other.start] for one, other in gaps)
        return bool(self.roots) and not self.stack and is_lines

    def _after_value(self) -> None:
        self.expects = "more" if self.stack else "value"


def parse_json(payload: bytes) -> JsonTree | None:
    """Return the tree of a JSON text or of JSON lines; None if it is neither, or huge."""
    if len(payload) > HUGE_BYTES:
        return None
    reader = _Reader()
    position = 3 if payload.startswith(b"\xef\xbb\xbf") else 0
    while match := _TOKEN.match(payload, position):
        kind = match.lastgroup or ""
        start, position = match.span(kind)
        if kind == "end":
            return (
                JsonTree(payload, reader.roots, reader.nodes)
                if reader.is_complete(payload)
                else None
            )
        if kind in {"comma", "colon"}:
            is_right = reader.sign(kind)
        elif kind == "close":
            is_right = reader.close(payload[start:position], position)
        else:
            first = b"0" if kind == "atom" else payload[start : start + 1]
            is_right = reader.value(first, start, position)
        if not is_right:
            return None
    return None


JSON = Format(name="json", parse=last_view(parse_json))


def looks_like_json(payload: bytes) -> bool:
    """Return whether a large payload starts and ends as JSON does; of others, whether it is."""
    if len(payload) <= LARGE_BYTES:
        return JSON.parse(payload) is not None
    start, end = payload[:64].removeprefix(b"\xef\xbb\xbf").lstrip(), payload[-64:].rstrip()
    return start[:1] in {b"[", b"{"} and end[-1:] in {b"]", b"}"}
