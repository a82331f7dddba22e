"""Text in UTF-16 or UTF-32: first as UTF-8 if that fails too, then reduced as what it says."""

import codecs
from functools import partial

from whet.reduction.edit import first_that_fails
from whet.reduction.order import TEXT, Order
from whet.reduction.payload_kind import Kind, Part
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""The longer ones first: UTF-16's mark is the start of one of UTF-32's."""


def _encoding_of(payload: bytes) -> tuple[bytes, str] | None:
    return next(((mark, name) for mark, name in _MARKS if payload.startswith(mark)), None)


def text_of(payload: bytes) -> bytes | None:
    """Return in UTF-8 what a payload says; None if it has no mark of its encoding, or breaks it."""
    found = _encoding_of(payload)
    if found is None:
        return None
    mark, name = found
    try:
        return payload[len(mark) :].decode(name).encode()
    except ValueError:
        return None


def _weight(payload: bytes) -> float:
    text = text_of(payload)
    return TEXT.weight(payload) if text is None else TEXT.weight(text) + 1


def _rank(payload: bytes) -> tuple[object, ...]:
    text = text_of(payload)
    return TEXT.rank(payload if text is None else text), len(payload)


def _put_utf_8(payload: bytes) -> PassSearch:
    text = text_of(payload)
    if text is None:
        return payload
    better = yield from first_that_fails([text, codecs.BOM_UTF8 + text])
    return payload if better is None else better


def _content(payload: bytes) -> list[Part]:
    text = text_of(payload)
    if text is None:  # UTF-8 by now
        return [Part(content=payload, name="", put=lambda content: content)]
    return [Part(content=text, name="", put=partial(_encoded, payload))]


def _encoded(payload: bytes, content: bytes) -> bytes | None:
    found = _encoding_of(payload)
    try:
        return None if found is None else found[0] + content.decode().encode(found[1])
    except ValueError:
        return None


def _shown(payload: bytes) -> str:
    text = text_of(payload)
    return "" if text is None else text.decode(errors="backslashreplace")


ENCODED = Kind(
    name="encoded",
    claims=lambda payload, _name: text_of(payload) is not None,
    passes=(ReductionPass(name="put UTF-8", stage=Stage.STRUCTURE, search=_put_utf_8),),
    order=Order(_weight, _rank),
    is_text=False,
    inside=_content,
    shown=_shown,
)
