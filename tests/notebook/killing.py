"""A program: kills whets with SIGKILL while they record, and looks at what they leave.

Each round, two processes of two threads each record into one notebook; each process is killed
a random time after a random number of its trials, which may be while it still opens the file.
This program has one thread, so that it may fork.
"""

import os
import random
import select
import signal
import sqlite3
import struct
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from record_builder import a_trial, failing, same, whole

from whet.core.outcome import Outcome
from whet.core.output import digest_of
from whet.notebook.notebook import FILE_NAME, Notebook

VICTIMS, THREADS = 2, 2
ROUNDS_PER_NOTEBOOK = 10
"""A notebook that only grows would make each look at it slower than the last."""

MOST_TRIALS = 6
LONGEST_DELAY_SECONDS = 0.005
PATIENCE_SECONDS = 60.0

REPORT = struct.Struct("<QQ")  # number of a trial that has ended; which one it was


def what_came(which: int) -> Outcome:
    """Return the outcome of one trial: streams of no byte to 40 KB, each its own."""
    stdout = which.to_bytes(8, "big") * (which % 5000)
    return replace(failing(stdout, stderr=f"trial {which}".encode()), exit_code=which % 256)


def record_for_ever(folder: Path, report: int, first: int) -> None:
    """Record trials in some threads, and report each when it is safe on disk."""
    notebook = Notebook.open(folder)

    def record(which: int) -> None:
        captured = folder / f"captured-{which}"
        while True:
            number = notebook.begin(a_trial(str(which)), verb="run")
            outcome = what_came(which)
            if which % 2:  # half of the streams come as files, as those of a large program do
                captured.write_bytes(whole(outcome.stdout))
                outcome = replace(outcome, stdout=notebook.blobs.keep(captured))
            notebook.finish(number, outcome)
            os.write(report, REPORT.pack(number, which))
            which += 997

    def record_or_die(which: int) -> None:
        try:
            record(which)
        finally:
            traceback.print_exc()
            os._exit(1)

    for thread in range(1, THREADS):
        threading.Thread(target=record_or_die, args=[first + thread]).start()
    record_or_die(first)


@dataclass
class Victim:
    """A process that records until it is killed."""

    pid: int
    reports: int
    data: bytearray = field(default_factory=bytearray)

    @classmethod
    def start(cls, folder: Path, first: int) -> "Victim":
        """Fork one."""
        reports, report = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(reports)
                record_for_ever(folder, report, first)
            finally:
                os._exit(1)
        os.close(report)
        return cls(pid, reports)

    def live(self, trials: int, delay_seconds: float) -> None:
        """Wait until it has reported so many trials, then a moment longer."""
        while len(self.data) < trials * REPORT.size:
            ready, _, _ = select.select([self.reports], [], [], PATIENCE_SECONDS)
            more = os.read(self.reports, 1 << 16) if ready else b""
            if not more:
                return  # stuck or dead: it will not be counted as killed
            self.data += more
        time.sleep(delay_seconds)

    def kill(self) -> bool:
        """Kill it, read what it still said, and return whether it died of this."""
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        while more := os.read(self.reports, 1 << 16):
            self.data += more
        os.close(self.reports)
        return os.waitstatus_to_exitcode(status) == -signal.SIGKILL

    def reported(self) -> Iterator[tuple[int, int]]:
        """Yield the numbers that it said were safe, and which trials they were."""
        yield from REPORT.iter_unpack(bytes(self.data))


def look(folder: Path, victims: list[Victim], seen: int) -> tuple[int, int]:
    """Check the file and all trials above ``seen``; return the last number and how many ended."""
    reported = {number: which for victim in victims for number, which in victim.reported()}
    with Notebook.open(folder) as notebook:
        connection = sqlite3.connect(folder / FILE_NAME)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()
        found = [*takewhile(lambda entry: entry.number > seen, notebook.entries())]
    assert set(reported) <= {entry.number for entry in found}
    for entry in found:
        which = int(entry.trial.command[-1])
        if entry.number in reported:
            assert reported[entry.number] == which
            assert entry.outcome is not None
        # Also those that ended and were killed before they could report it.
        assert entry.outcome is None or same(what_came(which), entry.outcome), entry
    for path in (folder / "blobs").glob("[0-9a-f][0-9a-f]/*"):
        assert digest_of(path.read_bytes()) == path.parent.name + path.name
    last = max((entry.number for entry in found), default=seen)
    return last, sum(entry.outcome is not None for entry in found)


def main(folder: Path, seed: int, kills: int) -> None:
    """Kill so many whets; print how many died, and how many trials had ended and been begun."""
    rng = random.Random(seed)
    died = ended = begun = seen = 0
    for turn in range(kills // VICTIMS):
        inner = folder / str(turn // ROUNDS_PER_NOTEBOOK)
        if turn % ROUNDS_PER_NOTEBOOK == 0:
            seen = 0
            inner.mkdir()
        first = rng.randrange(2**40)
        victims = [Victim.start(inner, first + each * THREADS) for each in range(VICTIMS)]
        for victim in victims:  # the second one goes on while the first one dies
            victim.live(rng.randrange(MOST_TRIALS), rng.uniform(0, LONGEST_DELAY_SECONDS))
            died += victim.kill()
        last, more = look(inner, victims, seen)
        ended, begun, seen = ended + more, begun + last - seen, last
    sys.stdout.write(f"{died} {ended} {begun}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
