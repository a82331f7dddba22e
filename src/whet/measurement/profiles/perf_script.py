"""Reads what `perf script` prints: stacks of programs in any language, innermost frame first."""

import re
from collections.abc import Iterator

from whet.core.failure import Frame
from whet.core.observations.profile import CPU_SECONDS, Profile, Recording
from whet.measurement.profiles.stack_table import StackTable

_HEAD = re.compile(r"^(?P<comm>\S.*?)\s+(?P<pid>\d+)/(?P<tid>\d+)\s+(?P<at>\d+\.\d+):")
_FRAME = re.compile(
    r"^\s+(?P<ip>[0-9a-f]+)\s+(?P<symbol>.+?)(?:\+0x[0-9a-f]+)?\s+\((?P<file>.*)\)$"
)
_SYSTEM = re.compile(r"^(?:\[|/(?:usr/)?lib(?:32|64|exec)?/|/nix/store/)")
_PYTHON = re.compile(r"^py::(?P<function>.*?):(?P<path>[^:]*)$")


def read_perf(recording: Recording) -> Profile:
    """Return the profile that the output of `perf script` makes."""
    table = StackTable()
    looks = 0
    for pid, thread, frames in _samples(recording.running.decode("utf-8", "replace")):
        table.add(pid, thread, frames, CPU_SECONDS, 1 / recording.rate)
        looks += 1
    return Profile(
        question="cpu",
        engine=recording.engine,
        unit=CPU_SECONDS,
        frames=table.frames,
        stacks=table.stacks,
        samples=looks,
        rate=recording.rate,
        seconds=recording.seconds,
        processes=recording.processes,
    )


def _samples(script: str) -> Iterator[tuple[int, str, list[Frame]]]:
    for block in script.split("\n\n"):
        lines = block.strip("\n").splitlines()
        head = _HEAD.match(lines[0]) if lines else None
        if head is None:
            continue
        frames = [frame for line in reversed(lines[1:]) if (frame := _frame(line)) is not None]
        if frames:
            is_main = head["pid"] == head["tid"]
            yield int(head["pid"]), "" if is_main else f"thread {head['tid']}", frames


def _frame(line: str) -> Frame | None:
    match = _FRAME.match(line)
    if match is None:
        return None
    python = _PYTHON.match(match["symbol"])
    if python is not None:
        is_own = "/lib/python" not in python["path"] and not python["path"].startswith("<")
        return Frame(path=python["path"], line=0, function=python["function"], in_user_code=is_own)
    path, name = match["file"], match["symbol"]
    if name == "[unknown]":
        name = f"[unknown] at {match['ip']}" if path == "[unknown]" else "[unknown]"
    return Frame(
        path=path,
        line=0,
        function=name,
        in_user_code=path != "[unknown]" and _SYSTEM.match(path) is None,
    )
