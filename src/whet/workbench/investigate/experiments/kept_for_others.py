"""What a function kept for other arguments, with the change that keeps it apart."""

import os
from collections.abc import Iterable
from dataclasses import replace

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.experiments.changes import Change
from whet.evidence.provenance.failure.way import Way
from whet.evidence.provenance.sentences.kept_for_others import KeptForOther, kept_for_others
from whet.host.inspect.stacks import is_user_code
from whet.workbench.investigate.experiments.varied import text_to_change
from whet.workbench.investigate.traces.origins import Recorded

_WHY = (
    "whet recorded each step of the failing run: these calls had the same key, and other arguments"
)


def kept_changes(
    recorded: Recorded | None, way: Way | None, at: Placing
) -> list[tuple[str, Change]]:
    """Return the changes of a program by which its keys have what they lack; first those that a bad value came by.

    Args:
        recorded: the failing run; None: it wasn't recorded.
        way: the way of the bad value; None: it isn't known.
        at: says where a line is.
    """
    recording = None if recorded is None else recorded.recording
    followed = frozenset[tuple[str, int]]() if way is None else way.followed
    changes = [
        (os.path.realpath(each.path), _change(each, at, is_seldom=followed.isdisjoint(each.lines)))
        for each in kept_for_others(recording)
        if is_user_code(each.path)
    ]
    return sorted(changes, key=lambda each: each[1].is_seldom)


def _change(found: KeptForOther, at: Placing, *, is_seldom: bool) -> Change:
    """Return the change by which a key has what it lacks.

    That makes each result anew, which also mends one that is kept for too long.
    """
    source, where = text_to_change(found.path), at(found.path, found.gave)
    gave = f"`{found.function}` at {where} {found.says}"
    change = Change(
        node=found.wider[0][0],
        what=f"the key lacks {found.lacks}: {gave}",
        instead=f"{found.lacks} in the key",
        edit=lambda _: None,
        is_checked=True,
        is_seldom=is_seldom,
        text=found.text_of(source),
    )
    if found.is_asked:
        advice = f"by looking at how long `{found.function}` may give what it has kept"
        return replace(change, what=gave, instead="a result that is made anew", advice=advice)
    return replace(
        change,
        control=found.with_the_first(source),
        otherwise=f"`{found.function}` gives what it has kept, and what that was made from has changed since",
    )


def untried_clue(changes: Iterable[tuple[str, Change]], at: Placing) -> Clue | None:
    """Return the first of some changes as what is possible; None: the bad value came by none of them."""
    return next(
        (
            Clue(
                says=f"at {at(path, change.line)} {change.what}",
                why=_WHY,
                path=path,
                line=change.line,
                sureness=Sureness.POSSIBLE,
            )
            for path, change in changes
            if not change.is_seldom
        ),
        None,
    )
