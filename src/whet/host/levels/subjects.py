"""Which processes a panel is about, looked up again at each moment."""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from whet.host.process.process_facts import all_pids, is_of_trial, with_those_above
from whet.host.process.process_tree import descendants_of, name_of, parent_of

_STALE_SECONDS = (
    5.0  # after this long, whet reads again what a process is called: it may have called exec
)

_SPAWNER = "from whet.host.spawner"  # in the command of what runs a trial for another whet

Subject = Callable[[], list[int]]
"""Returns the numbers of the processes that are there now."""


def tree_of(program: Callable[[], int]) -> Subject:
    """Return the program of a trial and all that it has started; ``program`` is 0 before it starts."""

    def pids() -> list[int]:
        pid = program()
        if not pid:
            return []
        # Its parent is the spawner, to which the kernel gives those whose own parent has ended.
        above = parent_of(pid)
        return descendants_of(above) if above else [pid, *descendants_of(pid)]

    return pids


def below(pid: int) -> Subject:
    """Return a process and all below it."""
    return lambda: [pid, *descendants_of(pid)] if os.path.exists(f"/proc/{pid}") else []


def matching(pattern: str, *, by_name: bool) -> Subject:
    """Return the processes whose whole command line, or name alone, matches a pattern.

    Text that isn't a regular expression is searched for as it is. whet's own processes are left out.
    """
    try:
        compiled = re.compile(pattern)
    except re.error:
        compiled = re.compile(re.escape(pattern))
    titles = _Titles(name_of if by_name else command_of)

    def pids() -> list[int]:
        return [pid for pid in titles.fresh() if compiled.search(titles[pid])]

    return pids


def of_folder(folder: str) -> Subject:
    """Return the processes whose current folder is in a folder, but for those that led to whet."""
    folders = _Titles(_folder_of)
    start = folder.rstrip("/") + "/"

    def pids() -> list[int]:
        here = [pid for pid in folders.fresh() if f"{folders[pid]}/".startswith(start)]
        return [pid for pid in here if _SPAWNER not in command_of(pid)]

    return pids


def command_of(pid: int) -> str:
    """Return a process's command line, in one line; its name if it has none."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb", buffering=0) as file:
            words = os.fsdecode(file.read(4096)).split("\0")
    except OSError:
        return ""
    return " ".join(" ".join(words).split()) or f"[{name_of(pid)}]"


def shown_command(command: str) -> str:
    """Return a command line for a narrow column: of the program's path, its name."""
    program, space, rest = command.partition(" ")
    return f"{os.path.basename(program) or program}{space}{rest}"


def _folder_of(pid: int) -> str:
    with suppress(OSError):
        return os.readlink(f"/proc/{pid}/cwd")
    return ""


class _Titles(dict[int, str]):
    """What processes are called, looked up once while it can hardly change."""

    def __init__(self, title_of: Callable[[int], str]) -> None:
        super().__init__()
        self._title_of = title_of
        self._forget_at = 0.0
        self._own = with_those_above(os.getpid())

    def fresh(self) -> list[int]:
        """Return the processes that are there, each with its title; not those of whet itself."""
        now = time.monotonic()
        if now >= self._forget_at:
            self.clear()
            self._forget_at = now + _STALE_SECONDS
            self._own = {*with_those_above(os.getpid()), *_tools_of(os.getpid())}
        there = [pid for pid in all_pids() if pid not in self._own]
        for pid in there:
            if pid not in self:
                self[pid] = self._title_of(pid)
        return there


def _tools_of(pid: int) -> Iterator[int]:
    """Yield what whet itself has started, without the trial."""
    return (each for each in descendants_of(pid) if not is_of_trial(each))
