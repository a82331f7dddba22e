"""Reads what two py-spy wrote of one trial: the threads that ran, and all threads over time."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

from whet.core.failure import Frame
from whet.core.observations.profile import CPU_SECONDS, SECONDS, Obstacle, Profile, Recording
from whet.core.observations.timeline import Span, Timeline
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    integer,
    item_at,
    items_of,
    number,
    record,
    records,
    sequence,
    text,
)
from whet.measurement.profiles.stack_table import StackTable

IsOwn = Callable[[str], bool]
Moment = tuple[float, tuple[Frame, ...]]

_PROFILE = re.compile(r'Process (\d{1,9}) Thread (\w+) "(.*)"', re.DOTALL)
_THREAD = re.compile(r"thread \((\w+)\)(?:: (.*))?", re.DOTALL)
_PROCESS = re.compile(r"process (\d{1,9}):")
_SAMPLES = re.compile(r"Samples: (\d{1,15}) Errors: (\d{1,15})")
_BEHIND = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s behind in sampling")
_AGENT = re.compile(r"[/\\]whet[/\\]agent[/\\]")
_CALLS = re.compile(r"[/\\]whet_sections[/\\]decorated\.py$")  # all that it calls is the program's
_MAIN = "MainThread"
_MICROSECONDS = 1e6
_MOST_SPANS = 4000
_FINEST = 1000
"""A span on the timeline is at least this part of the whole."""
_MANY_ERRORS = 0.05


def read_spied(recording: Recording, is_own: IsOwn) -> Profile:
    """Return the profile that two recordings of one trial make.

    Args:
        recording: what py-spy wrote.
        is_own: whether a file is the user's own.
    """
    offset = recording.offset
    table = StackTable()
    looks = blind = 0
    for pid, thread, stack, seconds in _samples(recording.running, is_own):
        blind += not stack
        if frames := _program(stack):
            table.add(pid, thread, frames, CPU_SECONDS, seconds)
            looks += 1
    ends = {each.pid: each.ended - offset for each in recording.processes if each.ended}
    threads = _threads(recording.present, is_own, ends)
    moments = [at for each in threads.values() for at, _ in each]
    seconds = max(moments) - min(moments) if moments else 0.0
    spans: list[Span] = []
    for (pid, thread), course in threads.items():
        for (at, frames), (until, _) in pairwise(course):
            if frames:
                table.add(pid, thread, frames, SECONDS, until - at)
        spans += _spans(pid, thread, course, offset, seconds / _FINEST)
    spans.sort(key=lambda span: span.start)
    return Profile(
        question="cpu",
        engine=recording.engine,
        unit=CPU_SECONDS,
        frames=table.frames,
        stacks=table.stacks,
        samples=looks,
        rate=recording.rate,
        seconds=seconds,
        processes=recording.processes,
        timeline=Timeline(spans=tuple(spans[:_MOST_SPANS])),
        notes=tuple(_notes(recording.complaint, looks, blind)),
        obstacle=Obstacle.UNREAD if blind > looks else None,
    )


def _notes(complaint: str, looks: int, blind: int) -> Iterator[str]:
    for good, bad in _SAMPLES.findall(complaint)[:1]:
        if int(bad) > _MANY_ERRORS * (stacks := int(good) + int(bad)):
            yield f"py-spy could not read {bad} of {stacks} stacks: their time is missing"
    if blind > _MANY_ERRORS * (looks + blind):
        yield (
            f"in {blind} of {looks + blind} looks, py-spy found no line of Python, as when Python"
            " starts, or frees at its end what it still holds: their time is missing"
        )
    behind = [float(each) for each in _BEHIND.findall(complaint)]
    if behind:
        yield f"py-spy was up to {max(behind):.1f} s behind: this machine is too busy, so times are too small"


def _samples(running: bytes, is_own: IsOwn) -> Iterator[tuple[int, str, tuple[Frame, ...], float]]:
    """Yield process, thread, stack and seconds of each look at a thread that ran.

    The stack is empty if py-spy couldn't read it: for example, a name in it isn't UTF-8.
    """
    if not running:
        return
    data = as_record(decoded(running), "speedscope")
    known = [
        _frame(text(each, "name"), each.get("file"), each.get("line"), is_own)
        for each in records(record(data, "shared"), "frames")
    ]
    for each in records(data, "profiles"):
        match = _PROFILE.fullmatch(text(each, "name"))
        if match is None:
            continue
        pid, thread = int(match[1]), _thread_name(match[1], match[2], match[3])
        weights = sequence(each, "weights")
        for places, weight in zip(sequence(each, "samples"), weights, strict=False):
            stack = _without_headings(item_at(known, place) for place in items_of(places))
            yield pid, thread, stack, number({"weight": weight}, "weight")


def _frame(name: str, path: object, line: object, is_own: IsOwn) -> Frame:
    where = path if isinstance(path, str) else ""
    return Frame(
        path=where,
        line=line if isinstance(line, int) else 0,
        function=name,
        in_user_code=bool(where) and is_own(where),
    )


def _without_headings(frames: Iterator[Frame]) -> tuple[Frame, ...]:
    return tuple(each for each in frames if each.path or not _is_heading(each.function))


def _program(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return the frames that are the program's; none if it was in whet's agent.

    Where the agent has called the program, as the decorator of a section does, its frames stand
    between those of the program, and what the program does there is its own.
    """
    agent = [at for at, each in enumerate(stack) if _AGENT.search(each.path)]
    if not agent:
        return tuple(stack)
    called = stack[agent[-1] + 1 :]
    is_call = bool(called) and _CALLS.search(stack[agent[-1]].path) is not None
    if not is_call and not any(each.in_user_code for each in called):
        return ()
    return tuple(each for each in stack if not _AGENT.search(each.path))


def _is_heading(name: str) -> bool:
    return _THREAD.fullmatch(name) is not None or _PROCESS.match(name) is not None


def _thread_name(pid: str, number: str, name: str) -> str:
    return "" if name == _MAIN or (not name and number == pid) else name or f"thread {number}"


def _threads(
    present: bytes, is_own: IsOwn, ends: Mapping[int, float]
) -> Mapping[tuple[int, str], list[Moment]]:
    """Return what each thread did from when on; the last moment is its end.

    py-spy doesn't note the end of a thread. What a thread did last is counted to the end of its
    process if it is the main thread, and left out if not.
    """
    threads: dict[tuple[int, str], list[Moment]] = {}
    by_thread = _events_by_thread(present)
    last = max((number(each[-1], "ts") for each in by_thread.values()), default=0) / _MICROSECONDS
    for (pid, _), events in by_thread.items():
        for name, course in _moments(events, is_own).items():
            if course[-1][0] >= last and name:
                del course[-2:]
            elif course[-1][0] >= last and pid in ends:
                end = min(course[-1][0], max(ends[pid], course[-2][0]))
                course[-1] = (end, ())
            threads.setdefault((pid, name), []).extend(course)
    return threads


def _events_by_thread(present: bytes) -> Mapping[tuple[int, int], list[JsonObject]]:
    by_thread: dict[tuple[int, int], list[JsonObject]] = {}
    for event in _events(present):
        key = (integer(event, "pid"), integer(event, "tid"))
        by_thread.setdefault(key, []).append(event)
    return by_thread


def _events(present: bytes) -> list[JsonObject]:
    with suppress(MalformedRecordError):
        return [as_record(each, "event") for each in items_of(decoded(present))]
    with suppress(MalformedRecordError):  # it was killed while it wrote
        whole = present[: present.rfind(b"},") + 1] + b"]"
        return [as_record(each, "event") for each in items_of(decoded(whole))]
    return []


def _moments(events: Sequence[JsonObject], is_own: IsOwn) -> Mapping[str, list[Moment]]:
    """Return the stacks of one thread, by its name; one that gets a name has been there before."""
    moments: dict[str, list[Moment]] = {}
    open_frames: list[tuple[str, Frame]] = []
    pid, name = "", ""
    before = 0.0
    known: dict[str, Frame] = {}
    last: JsonObject = {"ph": "", "ts": number(events[-1], "ts"), "name": "", "args": {}}
    for event in [*events, last]:
        at = number(event, "ts") / _MICROSECONDS
        if open_frames and at > before:
            frames = _program(_without_headings(frame for _, frame in open_frames))
            moments.setdefault(name, []).append((before, frames))
            moments[name].append((at, ()))
        before = at
        title = text(event, "name")
        if text(event, "ph") == "E":
            if open_frames:
                open_frames.pop()
        elif text(event, "ph") == "B":
            details = record(event, "args")
            key = f"{title}\0{details.get('filename')}\0{details.get('line')}"
            frame = known.get(key)
            if frame is None:
                frame = known[key] = _frame(
                    title, details.get("filename"), details.get("line"), is_own
                )
            open_frames.append((title, frame))
            pid = (_PROCESS.match(title) or [None, pid])[1] or pid
            heading = _THREAD.fullmatch(title)
            if heading is not None and not frame.path:
                name = _thread_name(pid, heading[1], heading[2] or "")
    return moments


def _spans(
    pid: int, thread: str, moments: Sequence[Moment], offset: float, finest: float
) -> Iterator[Span]:
    """Yield what a thread did over time: the innermost own function, as long as it stays one."""
    current, since, last = "", 0.0, 0.0
    for at, frames in [*moments, (float("inf"), ())]:
        if not frames and at != float("inf"):
            last = at
            continue
        name = _title(frames)
        if name == current and at - last <= finest:
            continue
        if current and last - since >= finest:
            yield Span(
                name=current,
                start=round(since + offset, 6),
                seconds=round(last - since, 6),
                pid=pid,
                thread=thread,
                source="profile",
            )
        current, since = name, at


def _title(frames: Sequence[Frame]) -> str:
    for frame in reversed(frames):
        if frame.in_user_code:
            return f"{frame.function} ({frame.path.rpartition('/')[2]})"
    return frames[-1].function if frames else ""
