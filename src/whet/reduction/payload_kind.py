"""Kinds of payload: what a payload is, which passes it gets, and which of two is better."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from whet.core.value_class import value_class
from whet.reduction.order import TEXT, Order
from whet.reduction.reduction_pass import Format, ReductionPass, compose

ViewT = TypeVar("ViewT")


@value_class(kw_only=True)
class Kind:
    """A kind of payload.

    Attributes:
        name: one word, that of its format.
        claims: whether a payload of a file name (empty: it has none) is of this kind. It must be
            quick to say no: it is asked about every payload.
        passes: what is tried on it.
        order: which of two payloads is better.
        is_text: whether what a person reads are its bytes: then it gets the passes of text too.
        inside: what is in it that may be of a kind of its own; None: nothing does.
        shown: what a person reads instead of its bytes; None: these are what they read.
        pretty: the same payload as it reads best, which may be longer; None where there is none.
        exact: what of a payload must stay as it is for a program that knows the format.
        again: the same payload as the passes write it; None where they edit its own bytes.
        detours: larger payloads that say the same, from which a smaller one may be reached.
        suffixes: how names of such files end, if whoever names one so means this kind.
    """

    name: str
    claims: Callable[[bytes, str], bool]
    passes: tuple[ReductionPass[bytes], ...]
    order: Order = TEXT
    is_text: bool = True
    inside: "Callable[[bytes], list[Part]] | None" = None
    shown: Callable[[bytes], str] | None = None
    pretty: Callable[[bytes], bytes | None] | None = None
    exact: "Callable[[bytes], Exactness | None] | None" = None
    again: Callable[[bytes], bytes] | None = None
    detours: Callable[[bytes], Iterator[bytes]] | None = None
    suffixes: tuple[str, ...] = ()


@value_class(kw_only=True)
class Exactness:
    """What must stay as it is, and how to find out whether the program cares.

    A program that reads the payload as text fails on any text; one that knows the format fails
    otherwise on nearly all that the passes over words and bytes propose. One trial tells which.

    Attributes:
        probe: a smaller payload in which something is changed that has to stay as it is.
        holds: whether a payload is worth a trial where the probe did not fail.
    """

    probe: bytes
    holds: Callable[[bytes], bool]


@value_class(kw_only=True)
class Part:
    """Something that is in a payload, as what it is on its own: unquoted, unpacked, decoded.

    Attributes:
        content: that.
        name: a file name that fits it; empty: it has none.
        put: returns the whole payload with other content in its place; None if there is no such
            payload. The order of parts is the same in the result.
    """

    content: bytes
    name: str
    put: Callable[[bytes], bytes | None]


def lifted(
    format_: Format[ViewT], passes: Iterable[ReductionPass[ViewT]]
) -> tuple[ReductionPass[bytes], ...]:
    """Return passes over views of a format as passes over payloads."""
    return tuple(compose(format_, each) for each in passes)
