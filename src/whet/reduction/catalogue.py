"""Which passes there are, and which of them a payload gets."""

from whet.core.errors import UnknownFormat
from whet.reduction.formats.pieces import (
    BYTES,
    DELETE_BYTES,
    DELETE_DUPLICATE_LINES,
    DELETE_LINES,
    DELETE_TOKENS,
    DELETE_WORDS,
    LINES,
    TOKENS,
    WORDS,
)
from whet.reduction.reduction_pass import ReductionPass, compose

_PASSES: dict[str, tuple[ReductionPass[bytes], ...]] = {
    "lines": (compose(LINES, DELETE_DUPLICATE_LINES), compose(LINES, DELETE_LINES)),
    "tokens": (compose(TOKENS, DELETE_TOKENS),),
    "words": (compose(WORDS, DELETE_WORDS),),
    "bytes": (compose(BYTES, DELETE_BYTES),),
}


def passes_for(
    payload: bytes, *, name: str = "", format_name: str | None = None
) -> tuple[ReductionPass[bytes], ...]:
    """Return the passes for a payload, in the order of the catalogue.

    Raises:
        UnknownFormat: if there is no format called ``format_name``.
    """
    del payload, name
    if format_name is None:
        return tuple(each for passes in _PASSES.values() for each in passes)
    if format_name not in _PASSES:
        raise UnknownFormat(
            f"there is no format `{format_name}`", hint=f"choose one of {', '.join(_PASSES)}"
        )
    return _PASSES[format_name]
