"""Runs a session of edits twice: warm in one folder, cold in another, and compares."""

import os
import re
import shutil
import stat
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from program_edits import Change, Session
from programs import Content, Link

from whet.core.failure import FailureKind
from whet.core.limits import Limits
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.evidence.signature.classify import classify
from whet.execution.cold import ColdExecutor
from whet.execution.installed_packages_check import InstalledPackagesCheck
from whet.execution.warm import WarmRuns
from whet.host.files.file_times import SLACK_NS
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.trial.capture import keep_in_place

WARM, COLD = "warm", "cold"  # as long as each other: nothing depends on the length of a path
FIRST = "first run"
_DEPTH = re.compile(rb"repeated \d+ more times")
_UNBOUND = re.compile(rb"line \d+, in (\w+)\n +[^\n]*\n[ ^~]*\n(UnboundLocalError)")
_LIMITS = Limits(wall_seconds=30.0)

Files = dict[str, tuple[int, bytes]]
"""Kind and mode, and content or target, by path."""


@dataclass(frozen=True, slots=True)
class Case:
    """One edit, answered twice.

    Attributes:
        kind: the kind of edit.
        is_warm: whether the warm side ran on from a snapshot.
        difference: how the two differ; empty: they agree.
        is_unsteady: two cold runs differ, so that nothing can be said.
    """

    kind: str
    is_warm: bool
    difference: str = ""
    is_unsteady: bool = False


@dataclass(slots=True)
class Tally:
    """How many cases there were of each kind of edit, and how they were answered."""

    cases: Counter[str] = field(default_factory=Counter[str])
    warm: Counter[str] = field(default_factory=Counter[str])
    wrong: Counter[str] = field(default_factory=Counter[str])
    unsteady: Counter[str] = field(default_factory=Counter[str])

    def add(self, case: Case) -> None:
        """Count a case."""
        if case.is_unsteady:
            self.unsteady[case.kind] += 1
            return
        self.cases[case.kind] += 1
        self.warm[case.kind] += case.is_warm
        self.wrong[case.kind] += bool(case.difference)

    @property
    def warm_share(self) -> float:
        """The share of edits that were answered from a snapshot."""
        edits = self.cases.total() - self.cases[FIRST]
        return self.warm.total() / edits if edits else 0.0

    def merge(self, other: "Tally") -> None:
        """Count what another one has counted."""
        self.cases += other.cases
        self.warm += other.warm
        self.wrong += other.wrong
        self.unsteady += other.unsteady


@dataclass(slots=True)
class Twins:
    """Two executors side by side, each with a folder of its own."""

    folder: Path
    warm: ColdExecutor
    cold: ColdExecutor
    runs: WarmRuns
    python: str = sys.executable
    _sessions: int = 0

    def play(self, session: Session) -> Iterator[Case]:
        """Play a session; yield each edit's case, up to the first that differs."""
        self._sessions += 1
        root = self.folder / f"{self._sessions:06}"
        try:
            for side in (WARM, COLD):
                (root / side).mkdir(parents=True)
                write(root / side, session.start)
            yield from self._cases(root, session)
        finally:
            shutil.rmtree(root)

    def _cases(self, root: Path, session: Session) -> Iterator[Case]:
        first = self._case(root, session.words, FIRST, at_once=False)
        yield first
        if first.difference or first.is_unsteady:
            return
        for edit in session.edits:
            for side in (WARM, COLD):
                for change in edit.changes:
                    save(root / side, change)
            case = self._case(root, session.words, edit.kind, at_once=edit.at_once)
            yield case
            if case.difference or case.is_unsteady:
                return

    def _case(self, root: Path, words: tuple[str, ...], kind: str, *, at_once: bool) -> Case:
        before = files_of(root / COLD, root)
        saved = time.time_ns()
        if at_once:
            warm = self._run(self.warm, root / WARM, words)
            cold = self._run(self.cold, root / COLD, words)
        else:
            cold = self._run(self.cold, root / COLD, words)
            while time.time_ns() < saved + SLACK_NS:
                time.sleep(0.001)
            warm = self._run(self.warm, root / WARM, words)
        is_warm = bool(self.runs.last.place)
        got = _facts(warm, files_of(root / WARM, root), root)
        expected = _facts(cold, files_of(root / COLD, root), root)
        if got == expected:
            return Case(kind, is_warm)
        _put_back(root / COLD, before)
        again = _facts(self._run(self.cold, root / COLD, words), files_of(root / COLD, root), root)
        differing = [name for name in expected if got[name] != expected[name]]
        difference = "\n".join(
            f"{n}:\n  warm {got[n]!r}\n  cold {expected[n]!r}" for n in differing
        )
        place = f"from {self.runs.last.place or 'the start'}\n"
        # What a program says until it is killed is a matter of chance.
        is_unsteady = again != expected or expected["signature"] == FailureKind.TIMEOUT.name
        return Case(kind, is_warm, place + difference, is_unsteady=is_unsteady)

    def _run(self, executor: ColdExecutor, folder: Path, words: tuple[str, ...]) -> Outcome:
        trial = Trial(command=(self.python, *words), cwd=str(folder), limits=_LIMITS)
        return executor.submit(trial).result()


def shown(session: Session, case: Case) -> str:
    """Return a session and what went wrong in it, to be read."""
    parts = [f"python {' '.join(session.words)}"]
    parts += [f"---- {path}\n{content}" for path, content in session.start.items()]
    for edit in session.edits:
        parts.append(f"==== {edit.kind}{', at once' if edit.at_once else ''}")
        parts += [f"---- {change.path}\n{change.content}" for change in edit.changes]
    return "\n".join((*parts, f"!!!! {case.kind}, {case.difference}"))


@contextmanager
def twins(
    folder: Path,
    *,
    worth_seconds: float = 0.0,
    early: InstalledPackagesCheck | None = None,
    python: str = sys.executable,
) -> Iterator[Twins]:
    """Yield twins that freeze a program of some Python wherever they may."""
    cleanup_journal = CleanupJournal(folder / "made")
    runs = WarmRuns(cleanup_journal, worth_seconds=worth_seconds, early=early)

    def executor(perform: WarmRuns | None) -> ColdExecutor:
        return ColdExecutor(
            classify=classify,
            payload_of=lambda _digest: b"",
            keep=keep_in_place,
            cleanup_journal=cleanup_journal,
            scratch=folder / "scratch",
            environment={**os.environ, "PYTHONHASHSEED": "0"},
            pycache=folder / "pycache",
            perform=perform,
        )

    try:
        with executor(runs) as warm, executor(None) as cold:
            yield Twins(folder, warm, cold, runs, python)
    finally:
        cleanup_journal.discard_all()


def write(folder: Path, files: Mapping[str, Content]) -> None:
    """Write files below a folder."""
    for path, content in files.items():
        save(folder, Change(path, content))


def save(folder: Path, change: Change) -> None:
    """Save a file as an editor does: in place, or by putting another one in its place."""
    path = folder / change.path
    if change.content is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.with_name(f".{path.name}.new") if change.by_rename else path
    if isinstance(change.content, Link):
        target.unlink(missing_ok=True)
        target.symlink_to(change.content.target)
    else:
        target.write_text(change.content)
    if target != path:
        target.replace(path)
    if change.mode:
        path.chmod(change.mode)


def files_of(folder: Path, root: Path) -> Files:
    """Return all that lies below a folder."""
    found: Files = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content = b""
        if stat.S_ISLNK(mode):
            content = os.fsencode(path.readlink())
        elif stat.S_ISREG(mode):
            content = _alike(path.read_bytes(), root)
        found[str(path.relative_to(folder))] = (mode, content)
    return found


def _put_back(folder: Path, files: Files) -> None:
    shutil.rmtree(folder)
    folder.mkdir()
    for name, (mode, content) in files.items():
        path = folder / name
        if stat.S_ISDIR(mode):
            path.mkdir()
        elif stat.S_ISLNK(mode):
            path.symlink_to(os.fsdecode(content))
        else:
            path.write_bytes(content)
            path.chmod(stat.S_IMODE(mode))


def _alike(text: bytes, root: Path) -> bytes:
    for changed in (bytes, bytes.upper, bytes.swapcase):  # as a program may print it
        warm, cold = (changed(os.fsencode(root / side)) for side in (WARM, COLD))
        text = text.replace(warm, cold)
    return text


def _signature(outcome: Outcome) -> str:
    signature = outcome.signature
    if signature is not None and signature.kind is FailureKind.TIMEOUT:
        return signature.kind.name  # where it was by then is a matter of chance
    return str(signature)


def _steady(text: bytes) -> bytes:
    """Leave out what Python itself is not steady in: see the limits in the guide."""
    if sys.version_info[:2] == (3, 11):
        text = _UNBOUND.sub(rb"in \1\n\2", text)
    if b"RecursionError" not in text:
        return text
    return _DEPTH.sub(b"", text).replace(b" while calling a Python object", b"")


def _facts(outcome: Outcome, files: Files, root: Path) -> dict[str, object]:
    """Return everything observable of a run."""
    return {
        "exit": outcome.exit_code,
        "signal": outcome.signal,
        "stdout": _alike(outcome.stdout.head(1 << 20), root),
        "stderr": _steady(_alike(outcome.stderr.head(1 << 20), root)),
        "signature": _signature(outcome).replace(str(root / WARM), str(root / COLD)),
        "files": files,
    }
