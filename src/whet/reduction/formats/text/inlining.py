"""What a name stands for, put wherever the name stands: larger at first, with less in it to keep.

A definition and its uses hold each other: neither goes alone, and what is defined can be cut only
as far as all uses bear it. With the text in each of their places every use is reduced on its own.
"""

import re
from collections.abc import Callable, Iterator

from whet.core.value_class import value_class

_PLAIN = re.compile(rb"[\w.]+|\"[^\"\\\n]*\"|'[^'\\\n]*'")


@value_class(kw_only=True)
class Definition:
    """How definitions are written in a language.

    Attributes:
        pattern: finds one: groups ``name``, ``text`` and ``gone``, what goes when it is inlined.
        before: what stands before a use of the name, as a pattern.
        after: what stands behind one.
        wraps: whether a text that is more than a word gets brackets.
    """

    pattern: re.Pattern[bytes]
    before: bytes = rb"(?<![\w.])"
    after: bytes = rb"(?!\w)"
    wraps: bool = False


VARIABLE = Definition(
    pattern=re.compile(
        rb"^(?P<gone>[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?P<text>[^=\s#][^\n#]*)(?:\n|\Z))",
        re.MULTILINE,
    ),
    wraps=True,
)
"""Of Python: ``name = text``."""

MACRO = Definition(
    pattern=re.compile(
        rb"^(?P<gone>[ \t]*\#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+(?P<text>[^\n]*[^\s\\])[ \t]*(?:\n|\Z))",
        re.MULTILINE,
    )
)
"""Of C, without parameters."""

ENTITY = Definition(
    pattern=re.compile(
        rb"""(?P<gone><!ENTITY\s+(?P<name>[\w.-]+)\s+(?P<quote>["'])(?P<text>[^"'<&]*)(?P=quote)\s*>\s*)"""
    ),
    before=rb"&",
    after=rb";",
)
"""Of XML."""

ANCHOR = Definition(
    pattern=re.compile(rb"(?P<gone>&(?P<name>[\w-]+)[ \t]+)(?P<text>[^\s&*#][^\n#]*)"),
    before=rb"\*",
    after=rb"(?![\w-])",
)
"""Of YAML, of what is in one line."""

MOST_DEFINITIONS = 8


def inlining(definition: Definition) -> Callable[[bytes], Iterator[bytes]]:
    """Return what yields a payload with one definition put instead of its uses."""

    def inlined(payload: bytes) -> Iterator[bytes]:
        for number, found in enumerate(definition.pattern.finditer(payload)):
            if number == MOST_DEFINITIONS:
                return
            text = found["text"].rstrip()
            if definition.wraps and not _PLAIN.fullmatch(text):
                text = b"(" + text + b")"
            use = re.compile(definition.before + re.escape(found["name"]) + definition.after)
            start, end = found.span("gone")
            verbatim = text.replace(b"\\", rb"\\")  # in a replacement it would be an escape
            head, above = use.subn(verbatim, payload[:start])
            tail, below = use.subn(verbatim, payload[end:])
            if above + below:
                yield head + tail

    return inlined
