"""Sentences on what a profile of stacks shows; each is said only if the numbers show it."""

from collections.abc import Callable, Iterator, Sequence

from whet.core.failure import Frame
from whet.core.observations.profile import BYTES, COUNT, CPU_SECONDS, SECONDS, Profile, Stack
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.core.value_class import value_class
from whet.measurement.profiles.compilations import compiling_sentences
from whet.measurement.profiles.kineto import (
    BUSY,
    COPIED,
    COPYING,
    GAP_SECONDS,
    KERNELS,
    SYNCHRONISATIONS,
    WAITING,
    WAITS_FOR_GPU,
    WINDOW,
)
from whet.measurement.profiles.line_table import (
    innermost_own,
    leading_processes,
    lines_of,
    waits_by_line,
)
from whet.measurement.profiles.memory_blocks import ASKED, OUTSIDE, PEAK, RESERVED

_MOST = 0.5
_MUCH = 0.3
_LEAST_SECONDS = 0.2
FEW_SAMPLES = 50
"""With fewer, a line at 10 % may as well be one at 2 % or 20 %."""
_FEWEST_RANKS = 2
_LEAST_LAG_SECONDS, _LEAST_LAG = 0.3, 0.2
"""So much longer must each other rank wait, and this share of the time of the slow one."""
_LEAST_BYTES = 20_000_000
_TIMES_RESIDENT = 1.2
"""So many times the memory in RAM, and what was taken can't all have been used."""
_MANY_KERNELS, _SHORT_KERNEL = 1000, 20e-6
_MANY_WAITS, _LEAST_SHARE_WAITING, _LEAST_COPYING = 10, 0.05, 1e-3
_CROWDED = 1.5
"""So many times the processor time that a program had, it was ready to run for."""


@value_class(kw_only=True)
class Measured:
    """What the kernel counted of the same trial.

    Attributes:
        cpu_seconds: of all its processes.
        wall_seconds: from its start to its end.
        peak_bytes: the most memory in RAM, all processes together.
    """

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int = 0


def sentences_of(profile: Profile, measured: Measured | None) -> list[str]:
    """Return what a profile shows, in sentences.

    Args:
        profile: the profile.
        measured: what the kernel counted of the trial; None: it has no outcome.
    """
    seconds = profile.seconds if measured is None else measured.wall_seconds
    compiling = compiling_sentences(profile, seconds)
    if profile.question == "cpu" and measured is not None:
        return [*compiling, *cpu_sentences(profile, measured)]
    if profile.question == "gpu":
        return [*compiling, *gpu_sentences(profile)]
    if profile.question == "gpu_memory":
        return [*_biggest(profile, None), *_kept(profile), *_outside(profile)]
    return memory_sentences(profile, measured) if profile.question == "memory" else []


def cpu_sentences(profile: Profile, measured: Measured) -> list[str]:
    """Return what a CPU profile shows, the most important sentence first."""
    return [
        *_straggling(profile),
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
    waits = sum(waits_by_line(profile, leading).values())
    computes = min(present - waits, measured.cpu_seconds)
    if waits < max(_LEAST_SECONDS, computes):
        return
    lines = [each for each in lines_of(profile).lines if each.waits]
    if not lines:
        return
    most = max(lines, key=lambda each: each.waits)
    per_process = len(leading) or 1
    how_long = shown_seconds(most.waits / per_process)
    is_most = most.waits > _MOST * waits
    where = f"{'most of it' if is_most else 'longest'} ({how_long}) at {_place(most.frame)}"
    if per_process > 1:
        where += f" (an average of {per_process} processes)"
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
    elif measured.cpu_seconds < _MOST * measured.wall_seconds:
        yield (
            f"The program waits more than it computes: {shown_seconds(waits / per_process)} of"
            f" {shown_seconds(present / per_process)}, {where}."
        )


def memory_sentences(profile: Profile, measured: Measured | None) -> list[str]:
    """Return what a profile of memory shows."""
    return [
        *_reserved(profile, measured),
        *_biggest(profile, measured),
        *_elsewhere(profile, measured),
    ]


def _reserved(profile: Profile, measured: Measured | None) -> Iterator[str]:
    """Say if more addresses were reserved than there ever was memory behind them."""
    total = round(profile.total(BYTES))
    if (
        measured is None
        or not measured.peak_bytes
        or total <= _TIMES_RESIDENT * measured.peak_bytes
    ):
        return
    peak = shown_bytes(measured.peak_bytes)
    table = lines_of(profile, most=1)
    line = table.lines[0] if table.lines else None
    by = ""
    if line is not None and line.own > measured.peak_bytes:
        by = f": {_place(line.frame)} reserves {shown_bytes(round(line.own))}"
    yield (
        f"{shown_bytes(total)} are what the program reserved, not what it used: it never had more than"
        f" {peak} in RAM{by}. Memory that is reserved and not touched (GPU drivers, `mmap`, `np.empty`) takes none."
    )


def _biggest(profile: Profile, measured: Measured | None) -> Iterator[str]:
    """Say which line holds most, if it is a large part."""
    table = lines_of(profile, most=1)
    if not table.lines or not table.total:
        return
    line = table.lines[0]
    if measured is not None and 0 < measured.peak_bytes < line.own:
        return  # it can't have been in RAM
    share = line.own / table.total
    if line.frame.in_user_code and share > _MUCH:
        yield (
            f"{shown_bytes(round(line.own))} of {shown_bytes(round(table.total))} at the peak"
            f" ({share:.0%}) come from {_place(line.frame)}."
        )


def _kept(profile: Profile) -> Iterator[str]:
    """Say how much of what torch has from the driver no tensor used, if it is a large part."""
    reserved, asked = profile.facts.get(RESERVED, 0.0), profile.facts.get(ASKED, 0.0)
    idle = reserved - profile.facts.get(PEAK, 0.0)
    if idle < max(_LEAST_BYTES, _MUCH * reserved):
        return
    words = f"torch had {shown_bytes(round(idle))} more at the peak, which no tensor used"
    if asked and asked < idle:
        yield (
            f"{words}: pieces of which none was large enough for {shown_bytes(round(asked))}."
            " `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` keeps them together."
        )
    else:
        yield f"{words}: blocks that it keeps for later."


def _outside(profile: Profile) -> Iterator[str]:
    """Say how much of the GPU is taken outside torch's allocator, if it is a large part."""
    outside = profile.facts.get(OUTSIDE, 0.0)
    if outside > max(1e9, profile.facts.get(RESERVED, 0.0)):
        yield (
            f"{shown_bytes(round(outside))} of the GPU's memory are outside torch's allocator: CUDA"
            " itself, other libraries, other programs."
        )


def _elsewhere(profile: Profile, measured: Measured | None) -> Iterator[str]:
    """Say how much memory the profiler doesn't see: libraries, and what was freed."""
    held = profile.total(BYTES)
    if measured is None or not held or len(profile.processes) != 1:
        return
    other = measured.peak_bytes - held
    if other < max(_LEAST_BYTES, _MUCH * measured.peak_bytes):
        return
    yield (
        f"{shown_bytes(round(other))} of the {shown_bytes(measured.peak_bytes)} that the program had"
        " in RAM aren't in this table: Python itself, memray, loaded libraries, memory that was freed but"
        " not given back."
    )


def gpu_sentences(profile: Profile) -> list[str]:
    """Return what a profile of a GPU shows."""
    return [
        *_starving(profile),
        *_small_kernels(profile),
        *_synchronising(profile),
        *_copying(profile),
    ]


def _starving(profile: Profile) -> Iterator[str]:
    """Say if the GPU has nothing to do for a large part of the time."""
    busy, window = profile.facts.get(BUSY, 0.0), profile.facts.get(WINDOW, 0.0)
    if not window or busy >= (1 - _MUCH) * window:
        return
    gaps: dict[Frame, float] = {}
    for stack in profile.stacks:
        line = innermost_own(profile.lines_of(stack))
        if line is not None and stack.number(GAP_SECONDS):
            gaps[line] = gaps.get(line, 0.0) + stack.number(GAP_SECONDS)
    most = max(gaps, key=lambda each: gaps[each], default=None)
    where = ""
    if most is not None:
        where = f" Meanwhile the CPU is longest ({shown_seconds(gaps[most])}) in {_place(most)}."
    yield (
        f"The GPU waits for the CPU: it works for {shown_seconds(busy)} of"
        f" {shown_seconds(window)} ({busy / window:.0%}).{where}"
    )


def _small_kernels(profile: Profile) -> Iterator[str]:
    """Say if kernels are so short that starting them takes longer."""
    count, window = profile.facts.get(KERNELS, 0.0), profile.facts.get(WINDOW, 0.0)
    working = profile.facts.get(BUSY, 0.0) - profile.facts.get(COPYING, 0.0)
    if count < _MANY_KERNELS or working / count > _SHORT_KERNEL or working > _MOST * window:
        return
    yield (
        f"Too many small kernels: {count:,.0f} of {working / count * 1e6:.0f} µs on average."
        " Larger batches, `torch.compile` or CUDA graphs start fewer."
    )


def _synchronising(profile: Profile) -> Iterator[str]:
    """Say where the program waits for the GPU most often."""
    count = profile.facts.get(SYNCHRONISATIONS, 0.0)
    waiting = profile.facts.get(WAITING, 0.0)
    if count < _MANY_WAITS or waiting < _LEAST_SHARE_WAITING * profile.seconds:
        return
    lines: dict[Frame, float] = {}
    for stack in profile.stacks:
        frames = profile.lines_of(stack)
        line = innermost_own(frames)
        if frames[-1].function == WAITS_FOR_GPU.function and line is not None and line.in_user_code:
            lines[line] = lines.get(line, 0.0) + stack.number(COUNT)
    where = f", most at {_place(max(lines, key=lambda each: lines[each]))}" if lines else ""
    yield (
        f"The program waits for the GPU {count:,.0f} times, {shown_seconds(waiting)} in all{where}."
        " `.item()`, `print` of a tensor and `.cpu()` do that."
    )


def _copying(profile: Profile) -> Iterator[str]:
    """Say if copies to and from the GPU take a large part of its time."""
    busy, copying = profile.facts.get(BUSY, 0.0), profile.facts.get(COPYING, 0.0)
    if copying > _MUCH * busy and copying > _LEAST_COPYING:
        copied = round(profile.facts.get(COPIED, 0.0))
        size = f"{shown_bytes(copied)} in " if copied else ""  # JAX's profiler doesn't say it
        yield f"Copies take {copying / busy:.0%} of the GPU's time: {size}{shown_seconds(copying)}."


def _straggling(profile: Profile) -> Iterator[str]:
    """Say which rank the others of a job wait for: it computes while they stand still."""
    ranks = {each.pid: each.rank for each in profile.processes if each.rank is not None}
    leading = sorted(leading_processes(profile) & ranks.keys())
    if len(leading) < _FEWEST_RANKS:
        return
    waits = {pid: sum(waits_by_line(profile, {pid}).values()) for pid in leading}
    lines: dict[int, dict[Frame, float]] = {pid: {} for pid in leading}
    for stack in profile.stacks:
        if stack.pid in waits and not stack.thread:
            line = innermost_own(profile.lines_of(stack))
            if line is not None:
                cost = lines[stack.pid].get(line, 0.0) + stack.number(CPU_SECONDS)
                lines[stack.pid][line] = cost
    slow = min(leading, key=lambda pid: waits[pid])
    others = sorted(waits[pid] for pid in leading if pid != slow)
    least = others[0]
    own = sum(lines[slow].values())
    if least - waits[slow] < max(_LEAST_LAG_SECONDS, _LEAST_LAG * (own + waits[slow])):
        return
    most = max(lines[slow], key=lambda line: lines[slow][line])
    middle = others[len(others) // 2]
    yield (
        f"Rank {ranks[slow]} is the straggler: it waits for {shown_seconds(waits[slow])} and"
        f" computes for {shown_seconds(own)}, most at {_place(most)};"
        f" the other ranks wait for {shown_seconds(middle)}."
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
    return stack.number(SECONDS)


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
    where = frame.path.rpartition("/")[2] + (f":{frame.line}" if frame.line else "")
    return f"{where} in {frame.function}" if frame.function != "<module>" else where
