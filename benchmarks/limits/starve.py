"""What limits cost and how exact they are: start-up, accuracy, run time, and the resource record.

    python -m benchmarks.limits.starve [--pairs N]

Every trial runs in a slot of its own whose limits no probe has met before, as a user's first does.
"""

import argparse
import os
import re
import resource
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.table import in_turns, print_table
from whet.core.limits import Limits
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput, Output
from whet.core.trial import Trial
from whet.execution.cold import ColdExecutor
from whet.host.limits import catalogue
from whet.host.limits.enforcer import Enforcer
from whet.host.limits.groups.groups_v1 import GroupsV1
from whet.host.limits.groups.groups_v2 import GroupsV2
from whet.host.limits.memory_watchdog import Watchdog
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.process_tree import children_of, cpu_ticks_of
from whet.host.trial.capture import Capture

MEBIBYTE = 1 << 20
WAYS: tuple[Enforcer, ...] = (GroupsV2(), GroupsV1(), Watchdog())
FREE = Limits()
TICKS = os.sysconf("SC_CLK_TCK")

GROWS = """
import sys, time
held, pause = [], float(sys.argv[1])
while True:
    held.append(b"1" * 1_000_000)
    if pause:
        time.sleep(pause)
"""
WORKS = """
import time
began = time.perf_counter()
total = 0
for _ in range(30):
    held = bytearray(b"1" * 20_000_000)
    total += sum(range(200_000))
print(time.perf_counter() - began)
"""


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20, help="how many pairs of runs")
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as folder:
        bench = _Bench(Path(folder))
        _start_up(bench, pairs)
        _accuracy(bench)
        _run_time(bench, pairs)
        _record(bench)


class _Bench:
    """Runs trials in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cleanup_journal = CleanupJournal(folder / "made")

    def executor(self) -> ColdExecutor:
        def keep(capture: Capture) -> Output:
            return BytesOutput(capture.data)

        return ColdExecutor(
            classify=lambda _trial, _outcome: None,
            payload_of=lambda _digest: b"",
            keep=keep,
            cleanup_journal=self._cleanup_journal,
            scratch=self._folder,
            environment=os.environ,
        )

    def run(self, *command: str, limits: Limits = FREE) -> Outcome:
        trial = Trial(command=command, cwd=str(self._folder), limits=limits)
        with self.executor() as executor:
            return executor.submit(trial).result()

    def call(self, limits: Limits) -> Callable[[], object]:
        return lambda: self.run("true", limits=limits)


def _only(way: Enforcer) -> None:
    families = list(catalogue.FAMILIES)
    families[0] = catalogue.Family(names=families[0].names, ways=(way,))
    catalogue.FAMILIES = families


def _ways() -> list[Enforcer]:
    return [way for way in WAYS if not way.blocker("memory", Limits(memory_bytes=MEBIBYTE))]


def _start_up(bench: _Bench, pairs: int) -> None:
    bare = bench.call(Limits())
    cases = [(f"memory, {way.way}", way, Limits(memory_bytes=500 * MEBIBYTE)) for way in _ways()]
    first = _ways()[0]
    cases += [
        ("processes", first, Limits(processes=50)),
        ("processors", first, Limits(cpus=1)),
        *(
            ("slow disk", first, Limits(slow_disk_bytes=way_slow))
            for way_slow in _slow_disks(first)
        ),
        ("files", first, Limits(files=64)),
        ("file size", first, Limits(file_size_bytes=MEBIBYTE)),
        ("stack", first, Limits(stack_bytes=MEBIBYTE)),
        ("CPU seconds", first, Limits(cpu_seconds=10)),
        ("address space", first, Limits(address_space_bytes=500 * MEBIBYTE)),
    ]
    rows: list[list[str]] = []
    for name, way, limits in cases:
        _only(way)
        pair = in_turns(bare, bench.call(limits), times=pairs)
        cpu = statistics.median(
            _cpu_seconds_of(bench.call(limits)) - _cpu_seconds_of(bare) for _ in range(pairs)
        )
        rows.append(
            [
                name,
                f"{pair.left_median * 1e3:.1f}",
                f"{pair.median_difference * 1e3:.1f}",
                f"{cpu * 1e3:.1f}",
            ]
        )
    header = ["limit", "bare, ms", "more, ms", "more CPU, ms"]
    print_table("Start-up, probe included", header, rows)


def _slow_disks(way: Enforcer) -> list[int]:
    """Return a speed to measure, if disks can be slowed down here."""
    speed = 50 * MEBIBYTE
    return [] if way.blocker("slow-disk", Limits(slow_disk_bytes=speed)) else [speed]


def _cpu_seconds_of(action: Callable[[], object]) -> float:
    """Return the CPU time that an action takes here and in its processes.

    On a busy machine it says more than the clock on the wall.
    """
    before = _own_seconds()
    action()
    return _own_seconds() - before


def _own_seconds() -> float:
    """Return the CPU time of this process and of all that it has waited for."""
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in own)


def _accuracy(bench: _Bench) -> None:
    rows: list[list[str]] = []
    most = 200 * MEBIBYTE
    for way in _ways():
        _only(way)
        for speed, pause in (("100 MB/s", 0.01), ("as fast as it can", 0.0)):
            shares: list[float] = []
            for _ in range(5):
                outcome = bench.run(
                    sys.executable, "-c", GROWS, str(pause), limits=Limits(memory_bytes=most)
                )
                (met,) = outcome.limits_met
                shares.append(100 * met.reached / met.limit)
            rows.append([f"{way.way}, {speed}", f"{min(shares):.1f}", f"{max(shares):.1f}"])
    print_table("Ended at, % of the limit of 200 MiB", ["way", "least", "most"], rows)


def _run_time(bench: _Bench, pairs: int) -> None:
    rows: list[list[str]] = []
    for way in _ways():
        _only(way)
        free: list[float] = []
        limited: list[float] = []
        for _ in range(max(3, pairs // 4)):
            free.append(_said(bench.run(sys.executable, "-c", WORKS)))
            limits = Limits(memory_bytes=500 * MEBIBYTE)
            limited.append(_said(bench.run(sys.executable, "-c", WORKS, limits=limits)))
        ratio = statistics.median(each / other for each, other in zip(limited, free, strict=True))
        rows.append([way.way, f"{statistics.median(free):.3f}", f"{ratio:.3f}"])
    print_table("Run time under a memory limit", ["way", "free, s", "limited / free"], rows)


def _said(outcome: Outcome) -> float:
    found = re.search(rb"[\d.]+", outcome.stdout.tail(100))
    assert found is not None, outcome.stderr.tail(1000)
    return float(found[0])


def _record(bench: _Bench) -> None:
    """Measure what the spawner itself uses while a program sleeps."""
    rows: list[list[str]] = []
    for name, shell in (
        ("1 process", "exec sleep 5"),
        ("20 processes", "for _ in $(seq 19); do sleep 5 & done; exec sleep 5"),
    ):
        with bench.executor() as executor:
            (spawner,) = children_of(os.getpid())
            trial = Trial(command=("sh", "-c", shell), cwd="/")
            executor.submit(trial).result()
            before = cpu_ticks_of(spawner)
            outcome = executor.submit(trial).result()
            # Those of its children that it has waited for are the trial's own.
            spent = (cpu_ticks_of(spawner) - before) / TICKS - outcome.cpu_seconds
            samples = 0 if outcome.resources is None else len(outcome.resources.seconds)
        share = 100 * spent / outcome.wall_seconds
        rows.append([name, f"{share:.2f}", str(samples)])
    print_table("The resource record", ["program", "% of a CPU", "samples"], rows)


if __name__ == "__main__":
    main()
