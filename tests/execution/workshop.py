"""A program, its edits, and the comparison of a warm run with a cold one."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from laboratory import Laboratory

from whet.core.limits import Limits
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.execution.cold import ColdExecutor
from whet.execution.installed_packages_check import InstalledPackagesCheck
from whet.execution.warm import Start, WarmRuns
from whet.host.files.file_times import wait_until_settled
from whet.host.python.python_interpreter import PythonFacts
from whet.host.python.pythons import pythons_between

SLOW = "import time\ntime.sleep(0.06)\n"

every_python = pytest.mark.parametrize(
    "minor",
    [9, 13, *(pytest.param(minor, marks=pytest.mark.long) for minor in (10, 11, 12, 14))],
)
"""The oldest and one of the newest in the ordinary run; the one that runs the tests is in each."""


def python_of(minor: int) -> str:
    """Return a Python of a minor version; the test is skipped where there is none."""
    found = _pythons()
    if (3, minor) not in found:
        pytest.skip(f"there is no Python 3.{minor}")
    return found[3, minor].path


@cache
def _pythons() -> Mapping[tuple[int, int], PythonFacts]:
    return pythons_between((3, 9), (3, 14), os.environ)


@dataclass
class Workshop:
    """A folder with a program, and both ways to run it."""

    laboratory: Laboratory
    folder: Path
    warm: ColdExecutor
    cold: ColdExecutor
    runs: WarmRuns
    starts: list[Start] = field(default_factory=list[Start])
    python: str = sys.executable
    limits: Limits = field(default_factory=Limits)

    def write(self, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            # As an editor saves: another file takes the place of the old one.
            beside = path.with_name(f".{path.name}.new")
            beside.write_text(text)
            beside.replace(path)
        # What is as young as a run may have been saved after it was read.
        wait_until_settled(path.stat() for path in self.folder.rglob("*"))

    def trial(self, *words: str) -> Trial:
        command = (self.python, *(words or ("main.py",)))
        return Trial(command=command, cwd=str(self.folder), limits=self.limits)

    def run(self, *words: str) -> Outcome:
        """Run warm, then cold, and compare."""
        trial = self.trial(*words)
        before = self._files()
        outcome = self.warm.submit(trial).result()
        self.starts.append(self.runs.last)
        after = self._files()
        self._put_back(before)
        expected = self.cold.submit(trial).result()
        facts, truth = _facts(outcome), _facts(expected)
        assert facts == truth, (facts, truth)
        assert after == self._files()
        self._put_back(before)
        return outcome

    def edit(self, before: str, after: str) -> Outcome:
        """Run a script, then with another end that a snapshot must answer; return that outcome."""
        self.write({"main.py": before})
        self.run()
        self.write({"main.py": after})
        outcome = self.run()
        assert self.starts[-1].place, self.starts
        return outcome

    def _files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }

    def _put_back(self, before: dict[str, bytes]) -> None:
        for name in self._files().keys() - before.keys():
            (self.folder / name).unlink()


def _facts(outcome: Outcome) -> tuple[object, ...]:
    return (
        outcome.exit_code,
        outcome.signal,
        outcome.stdout.head(1 << 20),
        outcome.stderr.head(1 << 20),
        outcome.signature,
    )


def outcome_of(workshop: Workshop, *words: str) -> Outcome:
    """Run a script warm alone, where a cold run would find other files."""
    outcome = workshop.warm.submit(workshop.trial(*words)).result()
    workshop.starts.append(workshop.runs.last)
    return outcome


@contextmanager
def opened(
    laboratory: Laboratory,
    early: InstalledPackagesCheck | None = None,
    settle: Callable[[], object] = lambda: None,
) -> Iterator[Workshop]:
    """Yield a workshop in a laboratory."""
    folder = laboratory.folder / "project"
    folder.mkdir()
    runs = WarmRuns(laboratory.cleanup_journal, early=early, settle=settle)

    with laboratory.executor(runs) as warm, laboratory.executor(None) as cold:
        yield Workshop(laboratory, folder, warm, cold, runs)
