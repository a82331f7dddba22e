"""Levels of the machine: the space of one file system, and its network."""

import os
import time

from whet.core.observations.panel import Number, Reading
from whet.core.text.quantity import shown_bytes
from whet.host.files.file_systems import file_system_of

_LOOPBACK = "lo"
_RECEIVED, _SENT = 0, 8  # fields of /proc/net/dev after the interface's name
_LEAST_SECONDS = 1e-3


def disk_reading(panel: str, path: str) -> Reading:
    """Return the space of the file system that holds a path."""
    title = f"disk {path}"
    if not os.path.exists(path):
        return Reading(panel=panel, title=title, reason=f"`{path}` doesn't exist (yet)")
    system = file_system_of(os.path.abspath(path))
    if system is None:
        return Reading(panel=panel, title=title, reason=f"the file system of `{path}` is unknown")
    used = system.total_bytes - system.free_bytes
    share = 100 * used / system.total_bytes if system.total_bytes else 0.0
    notes = [f"free of {shown_bytes(system.total_bytes)}"]
    notes += ["read-only"] if system.is_read_only else []
    notes += ["no inodes left"] if system.free_files == 0 else []
    return Reading(
        panel=panel,
        title=f"disk {system.point}",
        headline=shown_bytes(system.free_bytes),
        detail=", ".join(notes),
        lines=(f"{share:.0f} % used, {system.kind}",),
        numbers=(
            Number(
                name="disk.free", value=system.free_bytes, unit="bytes", full=system.total_bytes
            ),
            Number(name="disk.used", value=used, unit="bytes"),
        ),
    )


class Network:
    """Measures what the machine receives and sends, without its loopback."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[int, int]] | None = None
        self._then = 0.0

    def reading(self, panel: str) -> Reading:
        """Return the rates since the look before."""
        now, counts = time.monotonic(), _traffic()
        if counts is None:
            return Reading(panel=panel, title="network", reason="/proc/net/dev can't be read")
        if self._before is None:
            self._before, self._then = counts, now
            return Reading(panel=panel, title="network", reason="measuring")
        seconds = max(now - self._then, _LEAST_SECONDS)
        rates = {
            name: tuple(
                max(0, new - old) / seconds
                for new, old in zip(both, self._before.get(name, both), strict=True)
            )
            for name, both in counts.items()
        }
        self._before, self._then = counts, now
        received, sent = (sum(each[way] for each in rates.values()) for way in (0, 1))
        rows = [
            (f"{_rate(each[0])}", f"{_rate(each[1])}", name)
            for name, each in rates.items()
            if any(counts[name])
        ]
        return Reading(
            panel=panel,
            title="network",
            headline=_rate(received),
            detail=f"received, {_rate(sent)} sent",
            table=(("in", "out", "interface"), *rows) if len(rows) > 1 else (),
            reason="" if rows else "there is no network here but the loopback",
            numbers=(
                Number(name="network.in", value=round(received), unit="bytes/s"),
                Number(name="network.out", value=round(sent), unit="bytes/s"),
            ),
        )


def _rate(count: float) -> str:
    return f"{shown_bytes(round(count))}/s"


def _traffic() -> dict[str, tuple[int, int]] | None:
    """Return what each interface has received and sent, in bytes; None: it can't be seen."""
    counts: dict[str, tuple[int, int]] = {}
    try:
        with open("/proc/net/dev", encoding="ascii", errors="replace") as file:
            rows = file.readlines()[2:]
    except OSError:
        return None
    for row in rows:
        name, _, rest = row.partition(":")
        fields = rest.split()
        if name.strip() != _LOOPBACK and len(fields) > _SENT:
            counts[name.strip()] = (int(fields[_RECEIVED]), int(fields[_SENT]))
    return counts
