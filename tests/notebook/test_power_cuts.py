"""After a kill nothing that was recorded is missing; after a power cut the notebook is whole."""

import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from power_cut import Disk, Event, record, write_out
from record_builder import a_trial, failing, same, whole

from whet.core.errors import NotebookDamaged
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.host.code.project import Project
from whet.host.files.user_key import user_key
from whet.notebook.entry import Entry
from whet.notebook.notebook import FILE_NAME, Notebook

pytestmark = pytest.mark.needs("strace")

PROGRAM = """
import sys
print("\\n".join(f"line {each} of {sys.argv[1]}" for each in range(200)))
raise KeyError(sys.argv[1])
"""
SOFTWARE, DAMAGED, NO_TRIAL = 70, 65, 66
moments = st.floats(0, 1)
"""How much of a recording has happened."""

_TOLD = re.compile(rb"\btrial (\d+)\b")


class Recording:
    """What some whets did to their state, one after another.

    Attributes:
        folder: `p`, a project, and `state` are below it.
        environment: of the whets.
        events: all that happened.
        told: for each event, the trials that the user was told of before.
        ended: for each event, the trials of the whets that had ended.
        truth: the trials, as the last whet left them.
    """

    def __init__(self, folder: Path, **more: str) -> None:
        self.folder = folder
        self.environment = {
            **os.environ, "XDG_STATE_HOME": str(folder / "state"), "HOME": "/nowhere", **more
        }  # fmt: skip
        self.events: list[Event] = []
        self.told: list[frozenset[int]] = []
        self.ended: list[int] = []
        self.truth: dict[int, Entry] = {}

    @property
    def state(self) -> Path:
        return Project.find(self.folder / "p", self.environment).state

    def whet(self, *words: str) -> None:
        """Run it, and note what it does."""
        told, ended = (self.told[-1], self.ended[-1]) if self.told else (frozenset[int](), 0)
        command = [sys.executable, "-m", "whet", *words]
        for event in record(
            command, below=self.folder, cwd=self.folder / "p",
            environment=self.environment, trace=self.folder / "trace",
        ):  # fmt: skip
            if event.kind == "said":
                told |= {int(number) for number in _TOLD.findall(event.data)}
            elif event.kind == "end":
                assert event.offset != SOFTWARE
                ended = self._look()
                told |= frozenset(range(1, ended + 1))
            self.events.append(event)
            self.told.append(told)
            self.ended.append(ended)

    def _look(self) -> int:
        """Note the trials so far, from a copy: who looks may fold the WAL."""
        with TemporaryDirectory() as copy:
            state = shutil.copytree(self.state, Path(copy, "state"))
            with Notebook.open(state) as notebook:
                for entry in notebook.entries():
                    self.truth.setdefault(entry.number, in_memory(entry))
        return max(self.truth, default=0)


def in_memory(entry: Entry) -> Entry:
    """Return a trial with its streams, read whole."""
    assert entry.outcome is not None
    stdout, stderr = (
        BytesOutput(whole(each)) for each in (entry.outcome.stdout, entry.outcome.stderr)
    )
    return replace(entry, outcome=replace(entry.outcome, stdout=stdout, stderr=stderr))


def made(folder: Path, *, more: bool) -> Recording:
    recording = Recording(folder)
    (folder / "p").mkdir()
    (folder / "p" / "program.py").write_text(PROGRAM)
    program = [sys.executable, "program.py"]
    if more:
        with Notebook.open(folder / "old") as notebook:
            for each in range(40):
                notebook.finish(notebook.begin(a_trial(str(each)), verb="run"), failing(b"old"))
        recording.whet("notebook", "adopt", str(folder / "old"), "--yes")
    recording.whet("run", "--", *program, "one")
    recording.whet("repeat", "-n", "3", "--", "sh", "-c", "echo $$; kill -9 $$")
    if more:
        (folder / "p" / "data.txt").write_text("\n".join(f"word {each}" for each in range(300)))
        recording.whet(
            "shrink", "data.txt", "--jobs", "2", "--", "grep", "-c", "word 7$", "data.txt"
        )
        recording.whet("run", "--", *program, "one")
        recording.whet("show", "1")
        recording.whet("repeat", "-n", "60", "--", "sh", "-c", "echo $$; kill -9 $$")
        recording.whet("notebook", "prune")
    recording.whet("run", "--", *program, "two")
    return recording


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return made(tmp_path_factory.mktemp("recorded"), more=False)


@pytest.fixture(scope="module")
def long_recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return made(tmp_path_factory.mktemp("recorded"), more=True)


def disk_at(recording: Recording, moment: float) -> tuple[Disk, int]:
    """Return the disk at a moment, and the event that was the last."""
    return next(disks(recording, [moment]))


def disks(recording: Recording, at: Sequence[float]) -> Iterator[tuple[Disk, int]]:
    """Yield the disk at each moment, the earliest first, and the event that was the last."""
    disk, done = Disk(), 0
    for moment in sorted(at):
        end = 1 + round(moment * (len(recording.events) - 1))
        for event in recording.events[done:end]:
            disk.apply(event)
        done = end
        yield disk, end - 1


def check(state: Path, recording: Recording, *, needed: frozenset[int], streams: bool) -> None:
    """Open what is left: it is whole, holds the needed trials, tells nothing untrue and goes on."""
    with Notebook.open(state) as notebook:
        found = {entry.number: entry for entry in notebook.entries()}
        assert needed <= set(found)
        assert set(found) == set(range(1, len(found) + 1)), "a trial that came before is missing"
        for number, entry in found.items():
            true = recording.truth[number]
            assert entry.trial == true.trial
            assert entry.outcome is not None or number not in needed
            assert entry.verdict == true.verdict or number not in needed
            if entry.outcome is not None:
                assert true.outcome is not None
                assert is_there(true.outcome, entry.outcome) or not streams
        again = failing(b"line\n" * 1000)
        for outcome in (again, recording.truth[1].outcome):
            assert outcome is not None
            number = notebook.begin(a_trial(), verb="run")
            notebook.finish(number, outcome)
            assert number > len(found)
            assert same(outcome, notebook.trial(number).outcome)
    connection = sqlite3.connect(state / FILE_NAME)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


def is_there(true: Outcome, found: Outcome) -> bool:
    """Whether the outcome is the true one with its streams; one that is lost is said to be."""
    assert replace(found, stdout=true.stdout, stderr=true.stderr) == true
    try:
        assert same(true, found)
    except NotebookDamaged:
        return False
    return True


def rebuilt(left: Mapping[str, bytes | None], recording: Recording, folder: str) -> Path:
    write_out(left, recording.folder, Path(folder))
    return Path(folder, os.path.relpath(recording.state, recording.folder))


def check_kill(recording: Recording, disk: Disk, last: int) -> None:
    with TemporaryDirectory() as folder:
        state = rebuilt(disk.whole(), recording, folder)
        check(state, recording, needed=recording.told[last], streams=True)


def check_power_cut(recording: Recording, disk: Disk, last: int, seed: int) -> None:
    with TemporaryDirectory() as folder:
        state = rebuilt(disk.left(random.Random(seed)), recording, folder)
        needed = frozenset(range(1, recording.ended[last] + 1))
        check(state, recording, needed=needed, streams=False)


@pytest.mark.slow
def test_what_is_replayed_is_what_is_on_the_disk(recording: Recording) -> None:
    disk, _ = disk_at(recording, 1.0)

    for path, data in disk.whole().items():
        assert Path(path).is_dir() if data is None else Path(path).read_bytes() == data, path
    files = {str(each) for each in (recording.folder / "state").rglob("*")}
    assert files <= set(disk.whole())
    assert max(recording.truth) == 5
    assert any(event.kind == "said" for event in recording.events)


@pytest.mark.slow
@settings(max_examples=20)
@given(moment=moments)
def test_a_kill_at_any_moment_takes_nothing_that_was_told(
    recording: Recording, moment: float
) -> None:
    check_kill(recording, *disk_at(recording, moment))


@pytest.mark.long
@settings(max_examples=20)
@given(moment=moments, seed=st.integers(0, 2**32))
def test_a_power_cut_takes_only_trials_of_whets_at_work_and_never_the_notebook(
    recording: Recording, moment: float, seed: int
) -> None:
    check_power_cut(recording, *disk_at(recording, moment), seed)


@pytest.mark.long
@pytest.mark.parametrize("cuts", [1, pytest.param(200, marks=pytest.mark.long)])
def test_each_verb_goes_on_after_a_power_cut(recording: Recording, cuts: int) -> None:
    seed = random.SystemRandom().randrange(2**32)
    draw = random.Random(seed)
    for _ in range(cuts):
        disk, _ = disk_at(recording, draw.random())
        with TemporaryDirectory() as folder:
            rebuilt(disk.left(draw), recording, folder)
            shutil.copytree(recording.folder / "p", Path(folder, "p"))
            environment = {**recording.environment, "XDG_STATE_HOME": f"{folder}/state"}
            for words, codes in (
                (["log", "--json", "--all"], {0}),
                (["show"], {0, NO_TRIAL, DAMAGED}),
                (["run", "--", sys.executable, "program.py", "one"], {1}),
                (["show", "--json"], {0}),
            ):
                done = subprocess.run(
                    [sys.executable, "-m", "whet", *words], cwd=Path(folder, "p"),
                    env=environment, capture_output=True, check=False,
                )  # fmt: skip
                assert done.returncode in codes, f"seed {seed}, {words}\n{done.stderr.decode()}"
            assert len(user_key(environment)) == 32


@pytest.mark.slow
def test_what_seals_a_folder_is_on_the_disk_when_whet_ends(tmp_path: Path) -> None:
    recording = Recording(tmp_path, WHET_DIR=str(tmp_path / "kept"))
    (tmp_path / "p").mkdir()
    recording.whet("run", "--", "true")
    disk, _ = disk_at(recording, 1.0)

    for seed in range(30):
        left = disk.left(random.Random(seed))
        for path in (tmp_path / "kept" / "owner", tmp_path / "state" / "whet" / "key"):
            assert left.get(str(path)) == path.read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("cuts", [1000])
def test_longer_work_is_as_safe(long_recording: Recording, cuts: int) -> None:
    seed = random.SystemRandom().randrange(2**32)
    draw = random.Random(seed)
    for disk, last in disks(long_recording, [draw.random() for _ in range(cuts)]):
        inner = draw.randrange(2**32)
        try:
            check_power_cut(long_recording, disk, last, inner)
            if inner % 5 == 0:
                check_kill(long_recording, disk, last)
        except BaseException as error:
            error.add_note(f"seed {seed}, event {last}, seed {inner}")
            raise
