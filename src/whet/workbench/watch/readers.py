"""Makes of each panel that is asked for what reads it."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from whet.core.observations.panel import Number, Reading
from whet.core.value_class import value_class
from whet.host.levels.allocators import allocators_reading
from whet.host.levels.commands import RepeatedCommand
from whet.host.levels.gpus import GpuSource, NoGpuError, gpu_reading, gpu_source
from whet.host.levels.machine import Network, disk_reading
from whet.host.levels.processes import (
    Usage,
    Usages,
    cpu_reading,
    files_reading,
    machine_reading,
    memory_reading,
    processes_reading,
)
from whet.host.levels.sections import Sections
from whet.host.levels.subjects import Subject, below, matching
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.console import Console
from whet.host.process.process_facts import agent_folder_of
from whet.workbench.watch.apart import Apart
from whet.workbench.watch.numeric_column import NumericColumn
from whet.workbench.watch.panels import ALLOCATORS, COMMAND, OF_PROCESSES, Wish

_PATIENCE_SECONDS = 60.0
_TITLES = {"processes": "processes", "name": "processes", "memory": "memory", "cpu": "processors",
           "files": "open files"}  # fmt: skip
_ReadingOf = Callable[[str, str, Sequence[Usage], str], Reading]
_OF_USAGES: Mapping[str, _ReadingOf] = {
    "processes": processes_reading,
    "name": processes_reading,
    "memory": memory_reading,
    "cpu": cpu_reading,
    "files": files_reading,
}


class Reader(Protocol):
    """Reads one panel."""

    def read(self, moment: float, /) -> Reading:
        """Return what it shows at a moment of `time.monotonic`; never waits long."""
        ...

    def settle(self, seconds: float, /) -> None:
        """Wait for the first reading, but not longer than this."""
        ...

    def close(self) -> None:
        """End what it has started."""
        ...


class _Ready:
    """A reader that is ready at once, and has nothing open."""

    def settle(self, _seconds: float, /) -> None:
        """Return: it is ready."""

    def close(self) -> None:
        """Return: nothing is open."""


@value_class(kw_only=True)
class Surroundings:
    """What readers need to know.

    Attributes:
        console: of the program; None: there is none.
        subject: the processes that are meant where a panel names none.
        absence: why there may be none of them.
        interval_seconds: how often whet looks.
        column: the column of commands that is drawn; empty: whet chooses one.
        environment: of commands.
        cwd: where commands run, and whose disk is meant.
        cleanup_journal: where commands are written down.
        scratch: a folder for long output.
    """

    subject: Subject
    console: Console | None
    absence: str
    interval_seconds: float
    column: str
    environment: Mapping[str, str]
    cwd: str
    cleanup_journal: CleanupJournal
    scratch: Path

    @property
    def agent_folder(self) -> Path | None:
        """Where the program's processes tell of themselves; None: it isn't there."""
        pid = 0 if self.console is None else self.console.progress.pid
        return agent_folder_of(pid) if pid else None


def readers_for(wishes: Sequence[Wish], around: Surroundings) -> list[Reader]:
    """Return a reader for each panel; those of the same processes share their looks."""
    shared: dict[tuple[str, str], Usages] = {}
    return [_reader(wish, around, shared) for wish in wishes]


def _reader(wish: Wish, around: Surroundings, shared: dict[tuple[str, str], Usages]) -> Reader:
    if wish.kind in OF_PROCESSES:
        return _OfProcesses(wish, around, shared)
    if wish.kind == COMMAND:
        return _command(wish, around)
    if wish.kind == "gpu":
        return _gpu(wish, around)
    if wish.kind == "disk":
        path = str(Path(around.cwd, wish.argument or ".").expanduser())
        first = Reading(panel=wish.word, title="disk", reason="waiting for the file system")
        read = partial(disk_reading, wish.word, os.path.normpath(path))
        return Apart(first, read, around.interval_seconds)
    if wish.kind in ALLOCATORS:
        return _OfAllocators(wish, around)
    if wish.kind == "sections":
        return _OfSections(wish, around)
    return _OfNetwork(wish)


class _OfProcesses(_Ready):
    """A panel on processes."""

    def __init__(
        self, wish: Wish, around: Surroundings, shared: dict[tuple[str, str], Usages]
    ) -> None:
        by_name, argument = wish.kind == "name", wish.argument
        key = ("name" if by_name else "command", argument)
        if key not in shared:
            shared[key] = Usages(subject_of(wish, around))
        self._usages = shared[key]
        self._is_machine = wish.kind == "memory" and not argument and around.console is None
        self._wish = wish
        whose = f" {argument}" if argument else ""
        self._title = f"{_TITLES[wish.kind]}{whose}"
        what = "name" if by_name else "command line"
        self._absence = around.absence
        if argument.isdecimal():
            self._absence = f"there is no process {argument} (yet)"
        elif argument:
            self._absence = f"no process has `{argument}` in its {what} (yet)"

    def read(self, moment: float) -> Reading:
        reading = machine_reading if self._is_machine else _OF_USAGES[self._wish.kind]
        return reading(self._wish.word, self._title, self._usages.at(moment), self._absence)


class _OfAllocators(_Ready):
    """A panel on what allocators hold in the program."""

    def __init__(self, wish: Wish, around: Surroundings) -> None:
        self._wish = wish
        self._around = around

    def read(self, _moment: float) -> Reading:
        return allocators_reading(self._wish.kind, self._around.agent_folder)


class _OfSections(_Ready):
    """The panel on the program's sections."""

    def __init__(self, wish: Wish, around: Surroundings) -> None:
        self._wish = wish
        self._around = around
        self._sections = Sections()

    def read(self, moment: float) -> Reading:
        assert self._around.console is not None, "the panel is refused without a program"
        began = self._around.console.progress.began
        return self._sections.reading(self._wish.word, self._around.agent_folder, began, moment)


class _OfNetwork(_Ready):
    def __init__(self, wish: Wish) -> None:
        self._wish = wish
        self._network = Network()

    def read(self, _moment: float) -> Reading:
        return self._network.reading(self._wish.word)


def subject_of(wish: Wish, around: Surroundings) -> Subject:
    """Return the processes that a panel is about."""
    argument, by_name = wish.argument, wish.kind == "name"
    if not argument:
        return around.subject
    if argument.isdecimal() and not by_name:
        return below(int(argument))
    return matching(argument, by_name=by_name)


def _gpu(wish: Wish, around: Surroundings) -> Apart:
    sources: list[GpuSource] = []
    wanted = int(wish.argument) if wish.argument else None

    def read() -> Reading:
        try:
            if not sources:
                sources.append(gpu_source())
            return gpu_reading(wish.word, sources[0].gpus(), wanted)
        except NoGpuError as error:
            return Reading(panel=wish.word, title="GPU", reason=str(error))

    first = Reading(panel=wish.word, title="GPU", reason="waiting for the driver")
    return Apart(first, read, around.interval_seconds)


def _command(wish: Wish, around: Surroundings) -> Apart:
    command = RepeatedCommand(
        wish.argument, around.cleanup_journal, around.scratch, around.environment, around.cwd
    )
    column = NumericColumn(around.column)
    patience = max(_PATIENCE_SECONDS, around.interval_seconds)

    def read() -> Reading:
        answer = command.answer(patience)
        cell = column.follow(answer.text)
        numbers = () if cell is None else (Number(name="value", value=cell.value, unit=cell.unit),)
        return Reading(
            panel=wish.word,
            title=wish.argument,
            headline="" if cell is None else cell.shown,
            column="" if cell is None else cell.name,
            lines=tuple(answer.text.splitlines()),
            reason=answer.trouble or ("" if answer.text else _silence(wish.argument)),
            numbers=numbers,
        )

    first = Reading(panel=wish.word, title=wish.argument, reason="waiting for its first output")
    return Apart(first, read, around.interval_seconds, close=command.close, release=command.release)


def _silence(command: str) -> str:
    """Return what is to be said of a command without output."""
    if len(command.split()) > 1:
        return "it writes nothing"
    return f"it writes nothing; for the processes of that name: `name:{command}`"
