"""Reads what `perf script` prints: stacks of programs in any language, innermost frame first."""

import re
from collections.abc import Iterator

from whet.core.failure import Frame
from whet.core.observations.profile import CPU_SECONDS, Profile, Recording
from whet.measurement.profiles.stack_table import StackTable

_HEAD = re.compile(
    r"^(?P<comm>\S.{0,63}?)\s{1,64}(?P<pid>\d{1,9})/(?P<tid>\d{1,9})\s{1,64}(?P<at>\d{1,15}\.\d{1,9}):"
)
_ADDRESS = re.compile(r"[0-9a-f]+")
_OFFSET = re.compile(r"\+0x[0-9a-f]{1,16}$")
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
    address, _, rest = line.strip().partition(" ")
    symbol, _, path = rest.removesuffix(")").removesuffix(" (deleted)").rpartition(" (")
    name = _OFFSET.sub("", symbol.strip())
    is_frame = line[:1].isspace() and rest.endswith(")") and _ADDRESS.fullmatch(address)
    if not (is_frame and name):
        return None
    python = _PYTHON.match(name)
    if python is not None:
        is_own = "/lib/python" not in python["path"] and not python["path"].startswith("<")
        return Frame(path=python["path"], line=0, function=python["function"], in_user_code=is_own)
    if name == path == "[unknown]":
        name = f"[unknown] at {address}"
    return Frame(
        path=path,
        line=0,
        function=name,
        in_user_code=path != "[unknown]" and _SYSTEM.match(path) is None,
    )
