"""What has ended a process of the program: a signal, or an error in a process that another one counts on."""

import re
from collections.abc import Sequence

from whet.core.failure import Failure, FailureKind
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.text.quantity import shown_count
from whet.evidence.variables.kept_failure import KeptError, KeptFailure, KeptFrame

_WHY = "a program that starts processes need not show how they end"
_LEAST_LETTERS = 8
"""A shorter text may be in two processes by chance."""
_SHOWN = 60
_WAITS_FOR_ONE = "CalledProcessError"
_WORD = re.compile(r"\w+")


def signal_clues(failure: Failure | None, error: KeptError, at: Placing) -> list[Clue]:
    """Return the line on which a signal came, which the program itself doesn't tell."""
    place = error.place
    is_told = failure is None or failure.kind is not FailureKind.SIGNAL or failure.place is not None
    if is_told or place is None:
        return []
    frame = place.frame
    return [
        Clue(
            says=f"{error.type} at {at(frame.path, frame.line)} in `{frame.function}`",
            why="a signal doesn't say where it came",
            path=frame.path,
            line=frame.line,
        )
    ]


def later_process_clues(
    failing: KeptFailure, error: KeptError, all_kept: Sequence[KeptFailure], at: Placing
) -> list[Clue]:
    """Return the errors that ended processes which were started after the one whose failure is reported.

    What the failing line uses and one had in hand ties them: the path that one was given, and the other lacks.

    Args:
        failing: the process.
        error: its error.
        all_kept: what has failed in all processes.
        at: says where a line is.
    """
    here = error.place
    others = [each for each in all_kept if each.pid > failing.pid and each.where == "main"]
    if here is None or failing.rank is not None:
        return []
    own, place_here = _used(failing, here), at(here.frame.path, here.frame.line)
    by_place: dict[tuple[str, str, int], list[KeptFailure]] = {}
    for each in others:
        place = each.error.place
        if place is not None and place.frame.in_user_code:
            key = (each.error.type, place.frame.path, place.frame.line)
            by_place.setdefault(key, []).append(each)
    clues: list[Clue] = []
    for (kind, path, line), dead in by_place.items():
        shared = next(filter(None, (_shared(own, each, place_here) for each in dead)), "")
        is_waited_for = error.type.endswith(_WAITS_FOR_ONE) and len(by_place) == 1
        words = ": ".join([kind, *(each for each in dead[0].error.arguments if type(each) is str)])
        who = "another process" if len(dead) == 1 else shown_count(len(dead), "other process")
        clues.append(
            Clue(
                says=f"{who} of the program ended with {words}, raised at {at(path, line)}{shared}",
                why=_WHY,
                path=path,
                line=line,
                sureness=Sureness.SEEN if shared or is_waited_for else Sureness.POSSIBLE,
            )
        )
    return clues


def _shared(own: dict[str, str], other: KeptFailure, place: str) -> str:
    """Say which text that the failing line uses a process that has ended has, too; empty: none."""
    for frame in reversed(other.error.frames):
        for text, name in _texts(frame).items() if frame.frame.in_user_code else ():
            if text in own:
                shown = text if len(text) <= _SHOWN else f"…{text[-_SHOWN:]}"
                return f": its `{name}` is the `{own[text]}` at {place}, '{shown}'"
    return ""


def _used(failing: KeptFailure, here: KeptFrame) -> dict[str, str]:
    """Return the names in the failing line that hold a text of some length, by the text."""
    lines = failing.sources.get(here.frame.path, "").splitlines()
    line = "".join(lines[here.frame.line - 1 : here.frame.line])
    words = set(_WORD.findall(line))
    return {text: name for text, name in _texts(here).items() if name in words}


def _texts(frame: KeptFrame) -> dict[str, str]:
    """Return the names of a call's variables that hold a text of some length, by the text."""
    return {
        each.value: each.name
        for each in frame.variables or ()
        if isinstance(each.value, str) and len(each.value) >= _LEAST_LETTERS and not each.is_global
    }
