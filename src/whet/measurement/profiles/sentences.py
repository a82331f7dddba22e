"""Sentences on what a profile of stacks shows; each is said only if the numbers show it."""

from collections.abc import Callable, Iterator, Sequence

from whet.core.failure import Frame
from whet.core.observations.profile import CPU_SECONDS, SECONDS, Profile, Stack
from whet.core.text.quantity import shown_count, shown_seconds
from whet.core.value_class import value_class
from whet.measurement.profiles.line_table import innermost_own, leading_processes, lines_of, waited

_MOST = 0.5
_MUCH = 0.3
_LEAST_SECONDS = 0.2
FEW_SAMPLES = 50
"""With fewer, a line at 10 % may as well be one at 2 % or 20 %."""
_CROWDED = 1.5
"""So many times the processor time that a program had, it was ready to run for."""


@value_class(kw_only=True)
class Measured:
    """What the kernel counted of the same trial.

    Attributes:
        cpu_seconds: of all its processes.
        wall_seconds: from its start to its end.
    """

    cpu_seconds: float
    wall_seconds: float


def sentences_of(profile: Profile, measured: Measured | None) -> list[str]:
    """Return what a profile shows, in sentences.

    Args:
        profile: the profile.
        measured: what the kernel counted of the trial; None: it has no outcome.
    """
    if profile.question == "cpu" and measured is not None:
        return cpu_sentences(profile, measured)
    return []


def cpu_sentences(profile: Profile, measured: Measured) -> list[str]:
    """Return what a CPU profile shows, the most important sentence first."""
    return [
        *_waiting(profile, measured),
        *_loading(profile),
        *_importing(profile),
        *_crowded(profile, measured),
        *_rough(profile),
    ]


def _waiting(profile: Profile, measured: Measured) -> Iterator[str]:
    """Say if the main thread waits for most of the time, where, and who computes meanwhile."""
    leading = leading_processes(profile)
    stacks = [each for each in profile.stacks if each.pid in leading and not each.thread]
    present = sum(each.number(SECONDS) for each in stacks)
    waits = sum(waited(each) for each in stacks)
    computes = min(present - waits, measured.cpu_seconds)
    if waits < max(_LEAST_SECONDS, computes):
        return
    lines = [each for each in lines_of(profile).lines if each.waits]
    if not lines:
        return
    most = max(lines, key=lambda each: each.waits)
    where = f"most of it ({shown_seconds(most.waits)}) at {_place(most.frame)}"
    if most.waits <= _MOST * waits:
        where = f"longest ({shown_seconds(most.waits)}) at {_place(most.frame)}"
    per_process = len(leading) or 1
    if measured.cpu_seconds < _MOST * measured.wall_seconds:
        yield (
            f"The program waits more than it computes: {shown_seconds(waits / per_process)} of"
            f" {shown_seconds(present / per_process)}, {where}."
        )
        return
    others = sum(
        each.number(CPU_SECONDS)
        for each in profile.stacks
        if each.pid not in leading or each.thread
    )
    if others > waits * _MOST:
        yield (
            f"The main thread waits for {shown_seconds(waits / per_process)} of"
            f" {shown_seconds(present / per_process)}, {where}, while other threads and processes"
            " compute."
        )


def _loading(profile: Profile) -> Iterator[str]:
    """Say if the main thread is in a data loader for a large part of the time."""
    found = _share_inside(profile, _is_loader)
    if found is None:
        return
    share, seconds, line = found
    yield (
        f"Waiting for data takes {share:.0%} of the time ({shown_seconds(seconds)}): the data"
        f" loader at {_place(line)} doesn't keep up."
    )


def _importing(profile: Profile) -> Iterator[str]:
    """Say if imports are a large part of the time."""
    found = _share_inside(profile, _is_import)
    if found is None:
        return
    share, seconds, line = found
    yield f"Imports take {share:.0%} of the time ({shown_seconds(seconds)}), most at {_place(line)}."


def _share_inside(
    profile: Profile, is_inside: Callable[[Frame], bool]
) -> tuple[float, float, Frame] | None:
    """Return the share, the seconds and the own line of the main threads' time inside a function.

    None: it is less than a third, or no line of the user's leads there.
    """
    leading = leading_processes(profile)
    stacks = [each for each in profile.stacks if each.pid in leading and not each.thread]
    whole = sum(_time(each) for each in stacks)
    by_line: dict[Frame, float] = {}
    for each in stacks:
        frames = profile.lines_of(each)
        place = next((n for n, frame in enumerate(frames) if is_inside(frame)), None)
        line = None if place is None else _own_before(frames[:place])
        if line is not None:
            by_line[line] = by_line.get(line, 0.0) + _time(each)
    seconds = sum(by_line.values())
    if seconds < max(_LEAST_SECONDS, _MUCH * whole):
        return None
    return seconds / whole, seconds, max(by_line, key=lambda each: by_line[each])


def _time(stack: Stack) -> float:
    return max(stack.number(SECONDS), stack.number(CPU_SECONDS))


def _own_before(frames: Sequence[Frame]) -> Frame | None:
    own = innermost_own(frames)
    return own if own is not None and own.in_user_code else None


def _is_loader(frame: Frame) -> bool:
    return frame.function.endswith("__next__") and frame.path.endswith(
        "torch/utils/data/dataloader.py"
    )


def _is_import(frame: Frame) -> bool:
    return frame.path == "<frozen importlib._bootstrap>" and frame.function == "_find_and_load"


def _crowded(profile: Profile, measured: Measured) -> Iterator[str]:
    """Say if the program was ready to run for much longer than it ran."""
    ready = profile.total(CPU_SECONDS)
    lacking = ready - measured.cpu_seconds
    if ready > _CROWDED * measured.cpu_seconds and lacking > _LEAST_SECONDS and profile.rate:
        yield (
            f"Other programs keep this machine busy: yours was ready to run for"
            f" {shown_seconds(ready)}, but had a processor for {shown_seconds(measured.cpu_seconds)}."
        )


def _rough(profile: Profile) -> Iterator[str]:
    """Say if there are too few samples for the percentages."""
    if 0 < profile.samples < FEW_SAMPLES:
        yield f"With {shown_count(profile.samples, 'sample')}, the percentages are rough."


def _place(frame: Frame) -> str:
    where = f"{frame.path.rpartition('/')[2]}:{frame.line}"
    return f"{where} in {frame.function}" if frame.function != "<module>" else where
