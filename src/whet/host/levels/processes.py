"""Memory, processors and open files of processes, from Linux's `/proc`."""

import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress

from whet.core.observations.panel import Number, Reading
from whet.core.text.quantity import shown_bytes
from whet.core.value_class import value_class
from whet.host.levels.subjects import Subject, command_of, shown_command
from whet.host.process.process_tree import cpu_ticks_of, resident_bytes, state_of

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_GB = 1e9
_MOST_ROWS = 40
_MOST_LINKS = 2000
_LEAST_SECONDS = 1e-3
_OWN = re.compile(r"/whet-[a-z0-9]{8}/agent/")


@value_class(kw_only=True)
class Usage:
    """What one process uses at a moment.

    Attributes:
        pid: its number.
        rss_bytes: held in RAM; pages that it shares count in full.
        busy_percent: of one processor, since the look before; None: this is the first.
        state: a letter of proc(5).
        command: its command line.
    """

    pid: int
    rss_bytes: int
    busy_percent: float | None
    state: str
    command: str


class Usages:
    """Measures the processes of a subject; several panels share the look of one moment."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._ticks: dict[int, tuple[int, float]] = {}
        self._commands: dict[int, str] = {}
        self._taken: tuple[Usage, ...] = ()
        self._moment = -1.0

    def at(self, moment: float) -> Sequence[Usage]:
        """Return the processes at a moment of `time.monotonic`, the largest first."""
        if moment != self._moment:
            self._moment = moment
            self._taken = tuple(sorted(self._look(), key=lambda each: -each.rss_bytes))
        return self._taken

    def _look(self) -> list[Usage]:
        usages: list[Usage] = []
        ticks: dict[int, tuple[int, float]] = {}
        for pid in self._subject():
            state, rss_bytes = state_of(pid), resident_bytes(pid)
            if state in {"", "Z", "X"} or not rss_bytes:
                continue  # the kernel's own, or about to be gone: its memory is free already
            now = time.monotonic()
            ticks[pid] = (cpu_ticks_of(pid), now)
            busy = _busy(self._ticks.get(pid), ticks[pid])
            if pid not in self._ticks or pid not in self._commands:
                self._commands[pid] = command_of(pid)
            usages.append(
                Usage(
                    pid=pid, rss_bytes=rss_bytes, busy_percent=busy,
                    state=state, command=self._commands[pid],
                )
            )  # fmt: skip
        self._ticks = ticks
        self._commands = {pid: self._commands[pid] for pid in ticks}
        return usages


def _busy(before: tuple[int, float] | None, now: tuple[int, float]) -> float | None:
    """Return the share of one processor between two looks, in percent."""
    if before is None:
        return None
    seconds = max(now[1] - before[1], _LEAST_SECONDS)
    return max(0.0, 100 * (now[0] - before[0]) / _TICKS_PER_SECOND / seconds)


def gigabytes(count: int) -> str:
    """Return a size as GB, as wide for each process of a table: ``3.214``."""
    return f"{count / _GB:.3f}"


def processes_reading(panel: str, title: str, usages: Sequence[Usage], reason: str) -> Reading:
    """Return a table of processes, the largest first."""
    rows = [
        (str(each.pid), gigabytes(each.rss_bytes), _percent(each), shown_command(each.command))
        for each in usages[:_MOST_ROWS]
    ]
    return Reading(
        panel=panel,
        title=title,
        headline=f"{len(usages)} {'process' if len(usages) == 1 else 'processes'}"
        if usages
        else "",
        table=(("PID", "GB", "CPU %", "command"), *rows) if rows else (),
        reason="" if usages else reason,
        numbers=(Number(name="processes", value=len(usages)),),
    )


def machine_reading(panel: str, _title: str, usages: Sequence[Usage], _reason: str) -> Reading:
    """Return the memory of the machine, and what these processes hold of it."""
    rss_bytes = sum(each.rss_bytes for each in usages)
    free, total = machine_memory()
    return Reading(
        panel=panel,
        title="memory of this machine",
        headline=shown_bytes(total - free),
        detail=f"in use of {shown_bytes(total)}",
        lines=(f"this project's processes hold {shown_bytes(rss_bytes)}",) if usages else (),
        numbers=(
            Number(name="memory.used", value=total - free, unit="bytes", full=total),
            Number(name="memory.free", value=free, unit="bytes"),
            Number(name="rss", value=rss_bytes, unit="bytes"),
        ),
    )


def memory_reading(panel: str, title: str, usages: Sequence[Usage], reason: str) -> Reading:
    """Return the memory of all these processes together."""
    rss_bytes = sum(each.rss_bytes for each in usages)
    free, _ = machine_memory()
    return Reading(
        panel=panel,
        title=title,
        headline=shown_bytes(rss_bytes) if usages else "",
        detail=f"{shown_bytes(free)} free here" if usages else "",
        reason="" if usages else reason,
        numbers=(
            Number(name="rss", value=rss_bytes, unit="bytes"),
            Number(name="memory.free", value=free, unit="bytes"),
        )
        if usages
        else (),
    )


def cpu_reading(panel: str, title: str, usages: Sequence[Usage], reason: str) -> Reading:
    """Return how busy these processes keep the processors."""
    known = [each.busy_percent for each in usages if each.busy_percent is not None]
    if not known:
        return Reading(panel=panel, title=title, reason="measuring" if usages else reason)
    return Reading(
        panel=panel,
        title=title,
        headline=f"{sum(known):.0f} %",
        detail=f"of {100 * len(os.sched_getaffinity(0))} %",
        numbers=(Number(name="cpu", value=round(sum(known), 1), unit="percent"),),
    )


def _percent(usage: Usage) -> str:
    return "" if usage.busy_percent is None else f"{usage.busy_percent:.0f}"


def files_reading(panel: str, title: str, usages: Sequence[Usage], reason: str) -> Reading:
    """Return how many file descriptors these processes have open, and which files."""
    count, paths, unseen = 0, dict[str, int](), 0
    for each in usages:
        try:
            names = os.listdir(f"/proc/{each.pid}/fd")
        except PermissionError:
            unseen += 1
            continue
        except OSError:
            continue
        count += len(names)
        for name in names[:_MOST_LINKS]:
            with suppress(OSError):
                target = os.readlink(f"/proc/{each.pid}/fd/{name}")
                if _OWN.search(target):
                    count -= 1  # whet's own, by which it takes stacks
                elif target.startswith("/") and not target.startswith(("/dev/", "/proc/")):
                    paths[target] = paths.get(target, 0) + 1
    if usages and unseen == len(usages):
        reason = "the system doesn't let you see the files of these processes: use root"
    is_seen = bool(usages) and unseen < len(usages)
    most = min((_file_limit(each.pid) for each in usages), default=0) if is_seen else 0
    rows = [(str(times), path) for path, times in sorted(paths.items(), key=lambda it: -it[1])]
    return Reading(
        panel=panel,
        title=title,
        headline=f"{count:,}" if is_seen else "",
        detail=f"open; a process may have {most:,}" if most else ("open" if is_seen else ""),
        table=(("open", "file"), *rows[:_MOST_ROWS]) if rows else (),
        reason="" if is_seen else reason,
        numbers=(Number(name="files", value=count),) if is_seen else (),
    )


def machine_memory() -> tuple[int, int]:
    """Return the memory of the machine that is available, and all of it, in bytes."""
    sizes: dict[str, int] = {}
    with suppress(OSError), open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            name, _, rest = line.partition(":")
            sizes[name] = int(rest.split()[0]) * 1024
    return sizes.get("MemAvailable", 0), sizes.get("MemTotal", 0)


def _file_limit(pid: int) -> int:
    with suppress(OSError, ValueError), open(f"/proc/{pid}/limits", encoding="ascii") as file:
        for line in file:
            if line.startswith("Max open files"):
                return int(line[len("Max open files") :].split()[0])
    return 0
