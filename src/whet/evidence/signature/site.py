"""From the stack of a failure to its site."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from whet.core.failure import FailureKind, Frame
from whet.core.site import Site
from whet.evidence.signature.ownership import Owner, Ownership

_ASSERTION = "AssertionError"
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]*\w)")
_MARK = re.compile(r"\d+:(\d+)-(\d+)")
_STATES_BOTH = 2
_MESSAGE_CHARACTERS = 2_000


def site_of(
    stack: Sequence[tuple[Frame, int]],
    marks: Sequence[str],
    sources: Sequence[str],
    ownership: Ownership,
    raised: tuple[str, str],
) -> Site | None:
    """Return where a stack failed; None: no frame is of the user's own code.

    Args:
        stack: frames, outermost first, each with the number of its repetitions.
        marks: what its traceback marks of each line; fewer or more than frames: it marks nothing.
        sources: the lines of source shown with each frame.
        ownership: whose files they are.
        raised: type and message of the exception.
    """
    if len(marks) != len(stack):
        marks = sources = [""] * len(stack)
    varied = {binding.name for binding in ownership.payloads}
    users = [
        (frame, repeats, mark, source)
        for (frame, repeats), mark, source in zip(stack, marks, sources, strict=True)
        if ownership.locate(frame.path).owner is Owner.USER
        and varied.isdisjoint(PurePosixPath(frame.path).parts)
    ]
    if not users:
        return None
    counts: Counter[tuple[str, str]] = Counter()
    for frame, repeats, _, _ in users:
        counts[frame.path, frame.function] += repeats
    callers: list[str] = []
    for frame, _, mark, _ in users[:-1]:
        if counts[frame.path, frame.function] > 1:
            break
        callers.append(_place(frame, mark, ownership))
    frame, _, mark, source = users[-1]
    return Site(
        at=_place(frame, mark, ownership),
        operation=_operation(source, mark),
        callers=tuple(callers),
        is_recursive=max(counts.values()) > 1,
        sign=_sign(raised[1]) if raised[0] == _ASSERTION else None,
    )


def has_site(kind: FailureKind, exception: str) -> bool:
    """Whether a failure of this kind comes to the same place each time."""
    by_chance = exception.endswith("RecursionError") or exception == "KeyboardInterrupt"
    kinds = {FailureKind.EXCEPTION, FailureKind.ASSERTION, FailureKind.TEST_FAILURE}
    return kind in kinds and not by_chance


def _place(frame: Frame, mark: str, ownership: Ownership) -> str:
    place = f"{ownership.locate(frame.path).file}:{frame.function}"
    if ownership.is_of_one_run(frame.path):
        return place  # which line it is depends on what the file was made from
    return f"{place}:{frame.line}:{mark}" if mark else f"{place}:{frame.line}"


def _operation(source: str, mark: str) -> str:
    """Return the part of a line that is marked; the whole line if nothing is."""
    line = source.partition("\n")[0]
    match = _MARK.match(mark)
    return line if match is None else line[int(match[1]) : int(match[2])]


def _sign(message: str) -> int | None:
    """Return how the two numbers of a message differ, if it states two."""
    numbers = _NUMBER.findall(message[:_MESSAGE_CHARACTERS].partition("\n")[0])
    if len(numbers) != _STATES_BOTH:
        return None
    first, second = (float(number.replace("_", "")) for number in numbers)
    return (first > second) - (first < second)
