"""A cold executor in a folder of its own, and the ways tests look at what it leaves."""

import hashlib
import os
import select
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.limits import Limits
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.evidence.signature.classify import classify
from whet.execution.cold import ColdExecutor, Perform
from whet.execution.futures import TrialFuture
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.console import Console
from whet.host.process.process_tree import children_of
from whet.host.trial.capture import keep_in_place
from whet.host.trial.idle_slots import IdleSlots

SPECIMENS = Path(__file__).resolve().parents[2] / "specimens" / "processes"
PATIENCE_SECONDS = float(os.environ.get("WHET_TEST_PATIENCE_SECONDS", "30"))


def specimen(name: str, *arguments: object) -> tuple[str, ...]:
    """Return the command that runs a specimen."""
    return (sys.executable, str(SPECIMENS / name), *(str(argument) for argument in arguments))


@dataclass
class Laboratory:
    """Runs trials and knows what should be gone afterwards."""

    folder: Path
    payloads: dict[str, bytes | Path] = field(default_factory=dict[str, "bytes | Path"])
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    console: Console | None = None
    jobs: int = 1
    idle_slots: IdleSlots | None = None

    def __post_init__(self) -> None:
        self.cleanup_journal = CleanupJournal(self.made)
        self.work.mkdir()

    @property
    def made(self) -> Path:
        return self.folder / "made"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def hold(self, content: bytes | Path) -> str:
        digest = hashlib.sha256(str(content).encode()).hexdigest()
        self.payloads[digest] = content
        return digest

    def make(self) -> ColdExecutor:
        return ColdExecutor(
            classify=lambda _trial, _outcome: None,
            payload_of=self.payloads.__getitem__,
            keep=keep_in_place,
            cleanup_journal=self.cleanup_journal,
            scratch=self.folder / "scratch",
            environment=self.environment,
            jobs=self.jobs,
            console=self.console,
            pycache=self.folder / "pycache",
            idle_slots=self.idle_slots,
        )

    def executor(self, perform: Perform | None, jobs: int = 1) -> ColdExecutor:
        """Return one that says what failed, of programs whose sets have one order."""
        return ColdExecutor(
            classify=classify,
            payload_of=self.payloads.__getitem__,
            keep=keep_in_place,
            cleanup_journal=self.cleanup_journal,
            scratch=self.folder / "scratch",
            environment={**os.environ, "PYTHONHASHSEED": "0"},
            pycache=self.folder / "pycache",
            perform=perform,
            jobs=jobs,
        )

    def trial(self, *command: str, wall_seconds: float | None = None) -> Trial:
        limits = Limits(wall_seconds=wall_seconds)
        return Trial(command=command, cwd=str(self.work), limits=limits)

    def run(self, trial: Trial) -> Outcome:
        with self.make() as executor:
            return outcome_of(executor.submit(trial))


def guardians(whet: int | None = None) -> list[int]:
    """Return the processes that guard the spawners of a whet; of this process, unless said."""
    return [
        pid
        for pid in children_of(os.getpid() if whet is None else whet)
        if b"whet.host.spawner.guardian" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def spawners(whet: int | None = None) -> list[int]:
    """Return its spawners; of one that divides itself, its observer."""
    return [child for guardian in guardians(whet) for child in children_of(guardian)]


def outcome_of(future: TrialFuture) -> Outcome:
    return future.result(PATIENCE_SECONDS)


def until(condition: Callable[[], bool]) -> None:
    """Wait for what nobody reports."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@contextmanager
def fifo(folder: Path) -> Generator["Fifo"]:
    """Yield a FIFO that tells when the last process that holds it has died."""
    path = folder / f"fifo-{os.urandom(4).hex()}"
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield Fifo(path, descriptor)
    finally:
        os.close(descriptor)


@dataclass
class Fifo:
    path: Path
    descriptor: int

    def wait_for_a_word(self) -> None:
        assert self._poll(select.POLLIN), "nobody spoke"

    def wait_until_all_are_dead(self) -> None:
        while self._poll(select.POLLIN | select.POLLHUP):
            if not os.read(self.descriptor, 65536):
                return
        raise AssertionError("somebody still lives")

    def _poll(self, events: int) -> bool:
        poll = select.poll()
        poll.register(self.descriptor, events)
        return bool(poll.poll(PATIENCE_SECONDS * 1000))
