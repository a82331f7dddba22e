"""The arrays of a TOML text, reduced where they lie as the JSON that most of them are."""

import json
import re
from collections.abc import Iterator
from functools import partial

from whet.reduction.formats.documents.sections import TOML, SectionText
from whet.reduction.payload_kind import Part

_TOML_KEY = re.compile(rb"""[ \t]*+(?:[\w.-]|"[^"\n]*+"|'[^'\n]*+'|[ \t])+=[ \t]*+(?=\[)""")
_LAST_COMMA = re.compile(rb",(?=\s*+\])")


def arrays_in_toml(payload: bytes) -> list[Part]:
    """Return the arrays that are JSON as well, most of those that hold neither comments nor dates."""
    text = TOML.parse(payload)
    return [] if text is None else list(_arrays(text))


def _arrays(text: SectionText) -> Iterator[Part]:
    for start, end in text.entries:
        key = _TOML_KEY.match(text.payload, start, end)
        if key is None:
            continue
        value = text.payload[key.end() : end].rstrip()
        # A comma behind the last element is fine in TOML only.
        for content in (value, _LAST_COMMA.sub(b"", value)):
            if _is_json(content):
                yield Part(
                    content=content,
                    name="",
                    put=partial(_put_value, text.payload, key.end(), key.end() + len(value)),
                )
                break


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


def _put_value(payload: bytes, start: int, end: int, content: bytes) -> bytes | None:
    changed = payload[:start] + content + payload[end:]
    return None if TOML.parse(changed) is None else changed
