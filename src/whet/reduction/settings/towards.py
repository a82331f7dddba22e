"""The search for the settings that matter: the defaults, and as few differences as can be."""

import difflib
from collections.abc import Sequence
from itertools import accumulate

from whet.core.difference import Change
from whet.core.verdict import Verdict
from whet.reduction.between import Between, Leaf
from whet.reduction.candidates import keep_few
from whet.reduction.edit import Edit, make_changes
from whet.reduction.problem import Reduced
from whet.reduction.settings.documents import DocumentKind, data_of, document_kind_of
from whet.reduction.statistics import Reduction
from whet.search.batch import LazyBatch
from whet.search.proposal import Search
from whet.search.subsets.hierarchy import ranks_of

_TURN = "back to the defaults"


def reduce_towards(payload: bytes, defaults: bytes, *, name: str) -> Search[Reduced, Reduction]:
    """Look for the document nearest to the defaults that is still BAD.

    The settings of JSON, YAML, TOML and INI are compared one by one; where the program doesn't
    fail on the same settings written again, and in other files, line by line.

    Args:
        payload: the configuration; it is BAD.
        defaults: the document that it is brought nearer to.
        name: its file name, which says what it is written in.

    Raises:
        UnreadableError: if one of the two can't be read.
    """
    kind = document_kind_of(name)
    data, base = data_of(kind, payload), data_of(kind, defaults)
    best = payload
    if kind is not None and data is not None and base is not None:
        between = Between(base, data)
        rewritten = _written(kind, between, between.leaves)
        verdicts = yield [Reduced(rewritten, _TURN)]
        if verdicts[-1] is Verdict.BAD:

            def render(kept: Sequence[Leaf]) -> bytes:
                return _written(kind, between, kept)

            search = keep_few(between.leaves, render, rewritten, ranks_of(between.paths))
            best = yield from _named(search)
            return Reduction(payload=best, passes=(), is_minimal=True)
    best = yield from _named(make_changes(payload, _line_changes(payload, defaults)))
    return Reduction(payload=best, passes=(), is_minimal=True)


def changes_towards(payload: bytes, defaults: bytes, *, name: str) -> tuple[Change, ...]:
    """Return in what a configuration differs from its defaults.

    Raises:
        UnreadableError: if one of the two can't be read.
    """
    kind = document_kind_of(name)
    data, base = data_of(kind, payload), data_of(kind, defaults)
    if data is not None and base is not None:
        return tuple(leaf.as_change() for leaf in Between(base, data).leaves)
    old, new = defaults.splitlines(), payload.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return tuple(
        Change(
            what="lines",
            name=f"line {start + 1}",
            before=_shown(old[left:right]),
            after=_shown(new[start:end]),
        )
        for tag, left, right, start, end in matcher.get_opcodes()
        if tag != "equal"
    )


def _shown(lines: Sequence[bytes]) -> str | None:
    return b" / ".join(lines).decode("utf-8", "replace") if lines else None


def _written(kind: DocumentKind, between: Between, kept: Sequence[Leaf]) -> bytes:
    text = kind.write(between.made([leaf.number for leaf in kept]))
    return text.encode("utf-8", "surrogatepass")


def _line_changes(payload: bytes, defaults: bytes) -> list[list[Edit]]:
    """Return edits of the payload, each of which brings a line or a few back to the defaults."""
    old, new = payload.splitlines(keepends=True), defaults.splitlines(keepends=True)
    ends = [0, *accumulate(map(len, old))]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    changes: list[list[Edit]] = []
    for tag, start, end, left, right in matcher.get_opcodes():
        if tag == "delete":
            changes += [[Edit(ends[each], ends[each + 1])] for each in range(start, end)]
        elif tag == "replace" and end - start == right - left:
            changes += [
                [Edit(ends[start + each], ends[start + each + 1], new[left + each])]
                for each in range(end - start)
            ]
        elif tag != "equal":
            changes.append([Edit(ends[start], ends[end], b"".join(new[left:right]))])
    return changes


def _named(search: Search[bytes, bytes]) -> Search[Reduced, bytes]:
    try:
        wanted = next(search)
        while True:
            batch = LazyBatch(Reduced(data, _TURN) for data in wanted)
            wanted = search.send((yield batch))
    except StopIteration as end:
        result: bytes = end.value
        return result
