"""Base64 in any text: what it says is reduced where it lies, and encoded again as it was.

A JSON text may hold a picture, a cell of a table a JSON text, a token of the web three of them.
Cut as text, base64 soon says something else; cut as what it says, it gets as small as that can be.
Both alphabets of RFC 4648 are known (``+/`` and ``-_``), with and without padding, and lines of
one width, as in a PEM or a ``!!binary`` of YAML.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice

from whet.core.value_class import value_class
from whet.reduction.payload_kind import Kind, Part

MOST_PARTS = 100
"""How many texts whet decodes: each one needs its own search."""

# No group is possessive: until Python 3.11.4 such a group keeps half of what it has tried last.
_WRAPPED = re.compile(
    rb"(?<![\w+/=-])[\w+/-]{16,}+(?:(?P<break>\r?\n[ \t]*+)[\w+/-]++(?:(?P=break)[\w+/-]++)*)?={0,2}+"
    rb"(?![\w+/=-])",
    re.ASCII,
)
_RUN = re.compile(rb"[\w+/-]{16,}+={0,2}+", re.ASCII)
_BREAK = re.compile(rb"\r?\n[ \t]*")
_FOREIGN = b"_-"
"""The characters that only the web alphabet has."""

_IN_TEXT = bytes([*b"\t\n\r", *range(0x20, 0x7F), *range(0x80, 0x100)])
"""The characters of a text in UTF-8."""


@value_class
class _Coding:
    """How a text is encoded.

    Attributes:
        is_for_web: ``-_`` stand instead of ``+/``.
        is_padded: ``=`` fills it up to whole groups of four.
        line: how many characters stand on a line; 0: all of them are on one.
        line_break: what stands between two lines.
    """

    is_for_web: bool
    is_padded: bool
    line: int
    line_break: bytes

    def encoded(self, content: bytes) -> bytes:
        """Return a text that says ``content``."""
        text = base64.b64encode(content)
        if self.is_for_web:
            text = text.replace(b"+", b"-").replace(b"/", b"_")
        if not self.is_padded:
            text = text.rstrip(b"=")
        if not self.line:
            return text
        return self.line_break.join(
            text[start : start + self.line] for start in range(0, len(text), self.line)
        )


def base64_in_text(payload: bytes) -> list[Part]:
    """Return what is encoded in a text and has parts of its own, or is itself a text."""
    return list(islice(_parts(payload), MOST_PARTS))


def _parts(payload: bytes) -> Iterator[Part]:
    for whole in _WRAPPED.finditer(payload):
        matches = [whole] if whole["break"] is None or _is_even(whole[0]) else []
        for match in matches or _RUN.finditer(payload, *whole.span()):
            found = _decoded(match[0])
            if found is not None:
                content, coding = found
                put = partial(_put, payload, *match.span(), coding)
                yield Part(content=content, name="", put=put)


def _is_even(text: bytes) -> bool:
    """Return whether all lines are of one width, but for the last one, which may be shorter."""
    *lines, last = _BREAK.split(text)
    return all(len(each) == len(lines[0]) for each in lines) and len(last) <= len(lines[0])


def _decoded(text: bytes) -> tuple[bytes, _Coding] | None:
    """Return what a text says and how; None if it is no base64, or says nothing one can see."""
    lines = _BREAK.split(text)
    bare = b"".join(lines).rstrip(b"=")
    is_for_web = any(sign in bare for sign in _FOREIGN)
    try:
        content = base64.b64decode(
            bare + b"=" * (-len(bare) % 4), b"-_" if is_for_web else None, validate=True
        )
    except binascii.Error:
        return None
    separator = _BREAK.search(text)
    coding = _Coding(
        is_for_web,
        text.endswith(b"=") or not len(bare) % 4,
        len(lines[0]) if separator else 0,
        separator[0] if separator else b"",
    )
    if coding.encoded(content) != text or not _says_something(content):
        return None
    return content, coding


def _says_something(content: bytes) -> bool:
    """Return whether it is a text, or a file whose own signs tell what it is."""
    from whet.reduction.payload_kinds import kinds_of

    try:
        content.decode()
    except UnicodeDecodeError:
        is_text = False
    else:
        is_text = not content.translate(None, _IN_TEXT)
    return is_text or not kinds_of(content)[-1].is_text


def _put(payload: bytes, start: int, end: int, coding: _Coding, content: bytes) -> bytes:
    return payload[:start] + coding.encoded(content) + payload[end:]


BASE64 = Kind(
    name="base64",
    claims=lambda _payload, _name: True,
    passes=(),
    inside=base64_in_text,
    is_text=False,
)
"""Every text can contain it; no payload is of this kind alone."""
