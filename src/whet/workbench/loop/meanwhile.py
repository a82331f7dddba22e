"""Who wrote a file while the program ran: the user, or the program itself."""

import fnmatch
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from whet.execution.warm import Start
from whet.host.code.saves import changed_at
from whet.host.files.file_times import Moment, whole_seconds_ns

_MOST_STRANGE = 5
"""How many runs in a row new files can stop."""

_MOST_RECURRING = 100
"""How many runs in a row the same file can trigger: a program that drives the loop saves one as soon
as the last run ends."""

_MOST_QUIET = 2
"""If this many runs in a row don't change a file, the runs don't write it."""

_ECHO_NS = 250_000_000
"""No person saves a file this soon after each run: the run causes it."""


class Meanwhile:
    """Tells the user's saves from what the program writes, over the runs of a loop.

    A save of the program's code, or of what the user has named, ends a run at once. Of any other
    file, and once too many of unheard-of names have ended one, the end of the run says whose it
    was, if all that the program has changed is known by then. Nothing tells what reset steps do:
    with them, only what was saved after their end is the user's.
    """

    def __init__(
        self,
        root: Path,
        command: Sequence[str],
        watch: Sequence[str],
        *,
        is_reset: bool,
        has_found: Callable[[str], bool],
    ) -> None:
        """Begin with a program of which nothing is known.

        Args:
            root: the folder that is watched.
            command: what is run; a file that it names is the user's.
            watch: patterns of other such files.
            is_reset: steps are run before the program that may change any file.
            has_found: whether the program has seen that a file was there, or one below.
        """
        self._root = root
        self._words = frozenset(str(root / word) for word in command)
        self._patterns = (*watch, "*.py")
        self._is_reset = is_reset
        self._has_found = has_found
        self._written = set[str]()
        self._recurring = set[str]()
        self._news = set[str]()
        self._heard = set[str]()
        self._put_off = set[str]()
        self._found = set[str]()
        self._in_a_row = dict[str, int]()
        self._quiet = dict[str, int]()
        self._stirred = set[str]()
        self._early = set[str]()
        self._hasty = 0
        self._strange = 0
        self._is_newer: Callable[[str], bool] = lambda _: False
        self._changed: frozenset[str] | None = None
        self._reset_at: Moment | None = None
        self._passing = frozenset[str]()

    def counts(self, path: str) -> bool:
        """Whether a save matters also while the program runs: it is no output of the program."""
        if path in self._written:
            return False
        relative = os.path.relpath(path, self._root)
        return path in self._words or any(
            fnmatch.fnmatch(relative, pattern) for pattern in self._patterns
        )

    def begin(self, is_newer: Callable[[str], bool], saved: Sequence[str] = ()) -> None:
        """Say that a run begins.

        Args:
            is_newer: whether a file was saved after the program might have read it first.
            saved: the files whose save brings it.
        """
        is_hasty = bool(saved) and self._early.issuperset(saved)
        self._hasty = self._hasty + 1 if is_hasty else 0
        if self._hasty == _MOST_RECURRING:
            self._news |= self._early - self._recurring
        self._early.clear()
        self._is_newer = is_newer
        self._changed = None
        self._put_off.clear()

    def ends_the_run(self, path: str, *, counts: bool) -> bool:
        """Whether the run is of no use any more, now that a file was saved.

        A program that writes a Python file of another name each time would never come to its end.

        Args:
            path: the file.
            counts: it matters while the program runs, or a file below it does.
        """
        self._stirred.add(path)
        if not self._is_newer(path):
            return False
        if counts and (self._strange < _MOST_STRANGE or path in self._heard):
            return True
        self._put_off.add(path)
        return False

    def end(self, start: Start, ended_by: Sequence[str]) -> None:
        """Say that the run is over.

        Args:
            start: what is known of it.
            ended_by: the saves that have ended it; none: it has come to its end.
        """
        self._forgive()
        self._written |= {each.path for each in start.effects if each.path}
        is_strange = bool(ended_by) and self._heard.isdisjoint(ended_by)
        self._strange = self._strange + 1 if is_strange else 0
        self._heard.update(ended_by)
        # Nothing tells what a reset step writes but that it ends each run.
        due_to = {*self._found, *(ended_by if self._is_reset else ())}
        self._in_a_row = {path: self._in_a_row.get(path, 0) + 1 for path in due_to}
        recurring = {path for path, many in self._in_a_row.items() if many >= _MOST_RECURRING}
        self._news |= recurring - self._recurring
        self._recurring |= recurring
        self._written |= self._recurring
        self._found.clear()
        self._changed = None if ended_by else start.changed_files
        self._reset_at = start.reset_at
        self._passing = (
            frozenset[str]() if start.effects else start.changed_files or frozenset[str]()
        )

    def _forgive(self) -> None:
        """Let files bring runs again that have not changed for some runs: that was somebody else."""
        self._quiet = {
            path: 0 if path in self._stirred else self._quiet.get(path, 0) + 1
            for path in self._recurring
        }
        forgiven = {path for path, many in self._quiet.items() if many >= _MOST_QUIET}
        self._recurring -= forgiven
        self._written -= forgiven
        self._stirred.clear()

    def news(self) -> tuple[str, ...]:
        """Return the files, each once, that bring no run any more, as they did after each."""
        paths = tuple(sorted(self._news))
        self._news.clear()
        return paths

    def is_echo(self, path: str, after_ns: int) -> bool:
        """Whether a file is written because a run has ended, such as by a reader of whet's output.

        Args:
            path: a file that was saved between two runs.
            after_ns: time between the end of the run and the save.
        """
        if self.counts(path) or after_ns > _ECHO_NS:
            return False
        self._found.add(path)
        self._stirred.add(path)
        self._early.add(path)
        return path in self._recurring or self._hasty >= _MOST_RECURRING

    def is_passing(self, path: str) -> bool:
        """Whether the program makes and removes a file: while a run is verified, it does so again."""
        return not self._passing.isdisjoint((path, *map(str, Path(path).parents)))

    def by_others(self) -> tuple[str, ...]:
        """Return what was put off and was saved by somebody else, now that the run is over."""
        paths = {path for path in self._put_off if self.is_by_others(path)}
        self._put_off -= paths
        return tuple(sorted(paths))

    def by_nobody(self) -> tuple[str, ...]:
        """Return what was put off and may have been saved by somebody else, or not: nobody knows."""
        return tuple(sorted(filter(self.may_be_by_others, self._put_off)))

    def may_be_by_others(self, path: str) -> bool:
        """Whether a file has changed since the program may have read it, and not by it for certain."""
        own = self._written if self._changed is None else self._changed
        return own.isdisjoint((path, *map(str, Path(path).parents))) and self._is_newer(path)

    def is_by_others(self, path: str) -> bool:
        """Whether somebody else than the program has saved a file since it began, for certain.

        Or has removed one that the program had found: of others it may be a temporary file.
        """
        is_so = (
            self._changed is not None
            and path not in self._recurring
            and self.may_be_by_others(path)
            and (changed_at(path) is not None or self._has_found(path))
            and (not self._is_reset or self._is_after_reset(path))
        )
        self._stirred.add(path)
        if is_so:
            self._found.add(path)
        return is_so

    def _is_after_reset(self, path: str) -> bool:
        """Whether a file has changed when no reset step could change it any more."""
        reset_at, changed_ns = self._reset_at, changed_at(path)
        if reset_at is None or changed_ns is None or reset_at.is_doubtful:
            return False
        return changed_ns > reset_at.ns and not whole_seconds_ns(changed_ns)
