"""Text with brackets, such as the source of nearly any language: groups and their items."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from whet.core.value_class import value_class
from whet.reduction.edit import Change, Edit, make_changes, siblings
from whet.reduction.formats.text.pieces import parse_tokens
from whet.reduction.reduction_pass import Format, PassSearch, ReductionPass, Stage, last_view

DEEP = 500
"""Where brackets lie deeper in each other most of them hold what matters: one by one each of them
would cost a call in vain, and a parser of a language more than a call."""

MOST_CHANGES = 500
FEW_CUTS = 8
_SIGNS = b"([{)]}"
_NO_SIGNS = bytes(byte for byte in range(256) if byte not in _SIGNS)


@value_class
class Group:
    """A pair of brackets.

    Attributes:
        start: where the opening one stands.
        end: behind the closing one.
        commas: where the commas stand that are in this pair and in none within.
    """

    start: int
    end: int
    commas: tuple[int, ...]


@value_class
class BracketText:
    """A text and its pairs of brackets, in the order in which they open."""

    payload: bytes
    groups: tuple[Group, ...]

    @property
    def grain(self) -> int:
        """How many brackets are changed at once, at least."""
        if len(self.groups) <= MOST_CHANGES or not is_deep(self.payload):
            return 1
        return -(-len(self.groups) // MOST_CHANGES)


_CLOSES = {b"(": b")", b"[": b"]", b"{": b"}"}


@lru_cache(maxsize=1)  # each language asks about the same payload
def is_deep(payload: bytes) -> bool:
    """Return whether more than `DEEP` brackets are open somewhere, strings not looked at."""
    signs = payload.translate(None, _NO_SIGNS)
    if len(signs) < DEEP:
        return False
    opening = signs.translate(bytes(byte in b"([{" for byte in range(256)))
    depth = 0
    for opens in opening:
        depth = depth + 1 if opens else max(0, depth - 1)
        if depth > DEEP:
            return True
    return False


@dataclass(slots=True)
class _Open:
    sign: bytes
    start: int
    commas: list[int] = field(default_factory=list[int])


def parse_brackets(payload: bytes) -> BracketText | None:
    """Return the pairs of brackets outside of strings; None if there is none.

    A bracket without a partner is passed over.
    """
    groups: list[Group] = []
    around: list[_Open] = []
    pieces = parse_tokens(payload)
    for start, text in zip(pieces.bounds, pieces.texts(), strict=False):
        if text in _CLOSES:
            around.append(_Open(text, start))
        elif text == b"," and around:
            around[-1].commas.append(start)
        elif text in _CLOSES.values() and around and _CLOSES[around[-1].sign] == text:
            pair = around.pop()
            groups.append(Group(pair.start, start + 1, tuple(pair.commas)))
    groups.sort(key=lambda group: group.start)
    return BracketText(payload, tuple(groups)) if groups else None


BRACKETS = Format(name="brackets", parse=last_view(parse_brackets))


def _changing(change: Callable[[Group], Change]) -> Callable[[BracketText], PassSearch]:
    def search(text: BracketText) -> PassSearch:
        changes = [change(group) for group in text.groups]
        return make_changes(text.payload, changes, grain=text.grain)

    return search


def _delete(group: Group) -> Change:
    return [Edit(group.start, group.end)]


def _empty(group: Group) -> Change:
    return [Edit(group.start + 1, group.end - 1)]


def _unwrap(group: Group) -> Change:
    return [Edit(group.start, group.start + 1), Edit(group.end - 1, group.end)]


def _unwrap_deep(text: BracketText) -> PassSearch:
    """Peel a deep nesting, many pairs at once, before anything else is looked at."""
    if not is_deep(text.payload):
        return text.payload
    changes = [_unwrap(group) for group in text.groups]
    return (yield from make_changes(text.payload, changes, grain=-(-len(changes) // FEW_CUTS)))


def _put_name(group: Group) -> Change:
    # The blank keeps `in[1]` from becoming `ina`; where it isn't needed, it goes later.
    return [Edit(group.start, group.end, b" a")]


def _delete_items(text: BracketText) -> PassSearch:
    """Delete what stands between commas, with one comma."""
    changes = [[edit] for group in text.groups if group.commas for edit in _items(group)]
    changes.sort(key=lambda change: change[0].start)
    return make_changes(text.payload, changes)


def _items(group: Group) -> Iterator[Edit]:
    starts = [group.start + 1, *(comma + 1 for comma in group.commas)]
    ends = [*group.commas, group.end - 1]
    yield from siblings(list(zip(starts, ends, strict=True)))


BRACKET_PASSES = (
    ReductionPass(name="unwrap deep brackets", stage=Stage.STRUCTURE, search=_unwrap_deep),
    ReductionPass(name="empty brackets", stage=Stage.TOKENS, search=_changing(_empty)),
    ReductionPass(name="delete brackets", stage=Stage.TOKENS, search=_changing(_delete)),
    ReductionPass(name="delete items", stage=Stage.TOKENS, search=_delete_items),
    ReductionPass(name="put a for brackets", stage=Stage.VALUES, search=_changing(_put_name)),
    ReductionPass(name="unwrap brackets", stage=Stage.TOKENS, search=_changing(_unwrap)),
)
