"""What a function kept for other arguments, with the change that keeps it apart."""

import os
from collections.abc import Iterable

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.experiments.changes import Change
from whet.evidence.provenance.failure.way import Way
from whet.evidence.provenance.sentences.kept_for_others import kept_for_others
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
        (
            os.path.realpath(each.path),
            Change(
                node=each.wider[0][0],
                what=f"the key lacks {each.lacks}: `{each.function}` at {at(each.path, each.gave)} {each.says}",
                instead=f"{each.lacks} in the key",
                edit=lambda _: None,
                is_checked=True,
                is_seldom=followed.isdisjoint(each.lines),
                text=each.text_of(text_to_change(each.path)),
            ),
        )
        for each in kept_for_others(recording)
        if is_user_code(each.path)
    ]
    return sorted(changes, key=lambda each: each[1].is_seldom)


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
