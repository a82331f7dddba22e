"""The algebra of reduction: formats, passes, and passes lifted to formats.

As in Shrink Ray (MacIver 2023) a pass knows one view of a payload, such as its lines, and
`compose` lifts it to payloads. Unlike there a pass proposes payloads, not values of its view:
a candidate is an edit of the payload's own bytes, so that what isn't touched stays as it
was, to the byte, and a candidate of a large payload costs no more than a copy of it.
"""

from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum
from functools import lru_cache
from typing import Generic, TypeAlias, TypeVar, cast

from whet.core.value_class import value_class
from whet.search.proposal import Search

ViewT = TypeVar("ViewT")

PassSearch: TypeAlias = Search[bytes, bytes]
"""Proposes payloads. It continues from each BAD one, and returns the last."""


class Stage(IntEnum):
    """What has to be done before what: each stage is cheap once those before it are done."""

    STRUCTURE = 0
    INSIDE = 1
    LINES = 2
    NAMES = 3
    TOKENS = 4
    VALUES = 5
    BYTES = 6
    LOOKS = 7
    PAIRS = 8


@value_class(kw_only=True)
class Format(Generic[ViewT]):
    """A way to look at payloads.

    Attributes:
        name: one word.
        parse: the view of a payload; None if the payload isn't of this format.
    """

    name: str
    parse: Callable[[bytes], ViewT | None]


def last_view(parse: Callable[[bytes], ViewT | None]) -> Callable[[bytes], ViewT | None]:
    """Remember the view of the last payload: several passes in turn look at the same one."""
    return lru_cache(maxsize=1)(parse)


@value_class(kw_only=True)
class ReductionPass(Generic[ViewT]):
    """One thing to try on a view.

    Attributes:
        name: verb and object, such as ``delete lines``.
        stage: when it is its turn.
        search: given a view, proposes payloads.
        unit: what it deletes one of at a time in the end, such as ``rows``: where it gains
            nothing, no single one can go. Empty: it proves no such thing.
    """

    name: str
    stage: Stage
    search: Callable[[ViewT], PassSearch]
    unit: str = ""


def compose(format_: Format[ViewT], reduction_pass: ReductionPass[ViewT]) -> ReductionPass[bytes]:
    """Lift a pass over views to payloads; it proposes nothing on those of other formats."""

    def search(payload: bytes) -> PassSearch:
        view = format_.parse(payload)
        return payload if view is None else (yield from reduction_pass.search(view))

    return replace(cast("ReductionPass[bytes]", reduction_pass), search=search)
