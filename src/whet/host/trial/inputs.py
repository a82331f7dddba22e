"""The input files of a command, and those of them that it has written to."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.code.search_stamp import named_files
from whet.host.process.git import GitFailedError, Repository

_MOST_FILES = 30_000  # a tenth of a second of looking


@value_class
class Inputs:
    """Files as they were: what git tracks, and what the command names.

    What else is in the folder may be what an earlier run has left: that is no input.

    Attributes:
        seen: size and time of each, by its real path.
    """

    seen: Mapping[str, tuple[int, int]]

    @classmethod
    def of(cls, trial: Trial, environment: Mapping[str, str], left_out: Sequence[Path]) -> "Inputs":
        """Look at the inputs of a trial; at none where there are too many."""
        paths = {os.path.realpath(path) for path in named_files(trial, environment)}
        if trial.code is not None:
            paths |= tracked(trial.code.repository)
        return cls.at(paths, left_out)

    @classmethod
    def at(cls, paths: Iterable[str], left_out: Sequence[Path] = ()) -> "Inputs":
        """Look at files by their real paths; at none where there are too many."""
        own = tuple(f"{os.path.realpath(path)}{os.sep}" for path in left_out)
        files = {path for path in paths if not path.startswith(own)}
        if len(files) > _MOST_FILES:
            return cls({})
        return cls({path: mark for path in sorted(files) if (mark := _mark(path)) is not None})

    def written(self) -> list[str]:
        """Return those that aren't what they were, or gone."""
        return [path for path, mark in self.seen.items() if _mark(path) != mark]


def tracked(top: str) -> set[str]:
    """Return the real paths of what git tracks in a working tree."""
    try:
        names = Repository(Path(top)).get("ls-files", "-z").split("\0")
    except GitFailedError:
        return set()
    return {os.path.join(os.path.realpath(top), name) for name in names if name}


def _mark(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
