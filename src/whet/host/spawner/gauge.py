"""Records the resource usage of a trial's processes while it runs; imports next to nothing.

A sample costs tens of microseconds for each process. whet samples rarely enough that all samples
together need less than a hundredth of one processor. A long trial keeps as many samples as a short
one: when there are too many, whet drops every second one and samples less often.
"""

import os
import time
from itertools import islice

from whet.host.process.messages import Sample
from whet.host.process.process_tree import cpu_ticks_of, disk_bytes_of, name_of

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Mapping

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_MOST_SAMPLES = 128
_MOST_PEAKS = 8
_FIRST_SECONDS = 0.02
_SHARE = 400  # a 400th of the time may be spent here
_MOST_PROCESSES_LOOKED_INTO = 64


class Gauge:
    """Takes samples of one trial.

    Attributes:
        samples: what was used, in the order of time.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._due = self._began
        self._interval = _FIRST_SECONDS
        self.samples: list[Sample] = []
        self._peaks: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._disk: dict[int, tuple[int, int]] = {}

    def look(self, held_bytes: "Mapping[int, int]", ended_cpu_seconds: float) -> None:
        """Take a sample if it is time for one.

        Args:
            held_bytes: what each process of the trial holds.
            ended_cpu_seconds: what those that are gone have used.
        """
        began = time.monotonic()
        if began < self._due:
            return
        memory = ticks = files = 0
        for pid, size in islice(held_bytes.items(), _MOST_PROCESSES_LOOKED_INTO):
            memory += size
            if size > self._peaks.get(pid, 0):
                self._peaks[pid] = size
                self._names[pid] = name_of(pid) or self._names.get(pid, "")
            ticks += cpu_ticks_of(pid)
            files += _open_files(pid)
            disk = disk_bytes_of(pid)
            if disk is not None:
                self._disk[pid] = disk
        self.samples.append(
            Sample(
                seconds=round(began - self._began, 4),
                memory_bytes=memory,
                cpu_seconds=round(ended_cpu_seconds + ticks / _TICKS_PER_SECOND, 3),
                files=files,
                read_bytes=sum(input_bytes for input_bytes, _ in self._disk.values()),
                written_bytes=sum(output_bytes for _, output_bytes in self._disk.values()),
                processes=len(held_bytes),
            )
        )
        if len(self.samples) > _MOST_SAMPLES:
            del self.samples[::2]
            self._interval *= 2
        end = time.monotonic()
        self._due = end + max(self._interval, _SHARE * (end - began))

    def peaks(self) -> "list[tuple[int, str, int]]":
        """Return the processes that held most, with their names and how much that was."""
        largest = sorted(self._peaks.items(), key=lambda item: -item[1])[:_MOST_PEAKS]
        return [(pid, self._names.get(pid, ""), size) for pid, size in largest]


def _open_files(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0  # gone, or of another user
