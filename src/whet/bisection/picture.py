"""What is left of a search, as lines of plain text, oldest version first.

Words carry the meaning, marks only repeat it; a terminal without UTF-8 gets ASCII.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

from whet.bisection.terms import Terms
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.history.bisection import Standing

VersionT = TypeVar("VersionT", bound=Hashable)

MAX_SUSPECTS = 8
"""The picture shows more suspects than this as a number only."""
MAX_SKIPPED = 12
_TESTED = {
    Standing.TESTED_GOOD: Verdict.GOOD,
    Standing.TESTED_BAD: Verdict.BAD,
    Standing.SKIPPED: Verdict.SKIP,
}


@value_class(kw_only=True)
class Shown(Generic[VersionT]):
    """A version with a line of its own.

    Attributes:
        version: which one.
        standing: what is known of it.
        is_side: whether it came in with a merge.
        is_first_bad: whether it is what was searched.
    """

    version: VersionT
    standing: Standing
    is_side: bool = False
    is_first_bad: bool = False


@value_class(kw_only=True)
class Folded:
    """Neighbouring versions that share a line, counted by what is known of them."""

    counts: Mapping[Standing, int]


Row: TypeAlias = Shown[VersionT] | Folded


def outline(
    standings: Mapping[VersionT, Standing],
    *,
    first_bad: VersionT | None = None,
    side: Collection[VersionT] = frozenset(),
) -> tuple[Row[VersionT], ...]:
    """Return the rows of a picture: what was tested and what is left, the rest folded.

    Args:
        standings: what is known of each version, oldest first.
        first_bad: what was searched, if it is found.
        side: the versions that came in with a merge.
    """
    count = Counter(standings.values())
    own_line = {Standing.TESTED_GOOD, Standing.TESTED_BAD}
    if count[Standing.SUSPECT] <= MAX_SUSPECTS:
        own_line.add(Standing.SUSPECT)
    if count[Standing.SKIPPED] <= MAX_SKIPPED:
        own_line.add(Standing.SKIPPED)
    rows: list[Row[VersionT]] = []
    folded: Counter[Standing] = Counter()
    for version, standing in standings.items():
        if standing not in own_line and version != first_bad:
            folded[standing] += 1
            continue
        if folded:
            rows.append(Folded(counts=folded))
            folded = Counter()
        rows.append(
            Shown(
                version=version,
                standing=standing,
                is_side=version in side,
                is_first_bad=version == first_bad,
            )
        )
    if folded:
        rows.append(Folded(counts=folded))
    return tuple(rows)


def picture(
    rows: Sequence[Row[VersionT]],
    title: Callable[[VersionT], str],
    *,
    terms: Terms | None = None,
    is_ascii: bool = False,
) -> str:
    """Draw ``rows``.

    Args:
        rows: as `outline` made them.
        title: what to say of a version: its name, date, subject.
        terms: what the two sides are called.
        is_ascii: use no other characters than ASCII for the marks.
    """
    words = terms or Terms()
    width = max(len(word) for word in (words.old, words.new, "skip", "?"))
    has_side = any(isinstance(row, Shown) and row.is_side for row in rows)
    marks = _ASCII if is_ascii else _MARKS
    lines: list[str] = []
    for row in rows:
        if isinstance(row, Folded):
            mark = f"{marks.folded} {marks.folded}" if has_side else marks.folded
            lines.append(f"{mark} {'':{width}}  {_counted(row.counts, words)}")
            continue
        point = marks.found if row.is_first_bad else marks.version
        if has_side:
            point = f"{marks.line} {point}" if row.is_side else f"{point}  "
        verdict = _TESTED.get(row.standing)
        word = "?" if verdict is None else words.word_for(verdict)
        note = f"  {marks.arrow} first {words.new}" if row.is_first_bad else ""
        lines.append(f"{point} {word:{width}}  {title(row.version)}{note}")
    return "\n".join(lines)


@value_class
class _Marks:
    version: str
    found: str
    line: str
    folded: str
    arrow: str


_MARKS = _Marks("●", "▶", "│", "┊", "←")
_ASCII = _Marks("o", ">", "|", ":", "<-")


def _counted(counts: Mapping[Standing, int], words: Terms) -> str:
    said = {
        Standing.IMPLIED_GOOD: f"{words.old}, as a later one is",
        Standing.IMPLIED_BAD: f"{words.new}, as an earlier one is",
        Standing.BESIDE: "not on the way",
        Standing.SUSPECT: "not tested",
        Standing.SKIPPED: "skipped",
    }
    return "; ".join(f"{counts[each]} {text}" for each, text in said.items() if counts.get(each))
