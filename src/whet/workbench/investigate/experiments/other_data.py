"""A command with another content of one of the project's data files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.workbench.trials.bench import Workbench

RunAll = Callable[[Iterable[Trial]], Iterator[tuple[int, Outcome]]]
"""Runs trials, several at once; yields the number of each and what it did, in their order."""

_MOST_FILES, _MOST_BYTES, _MOST_OF_LARGER = 3, 256 * 1024, 8 * 1024 * 1024
_REPLACED = 'cp -- "$1" "$2" && shift 2 && exec "$@"'


def with_content(trial: Trial, copy: Path, path: Path, content: str) -> Trial:
    """Return the trial with another content of a file, which is put into a copy first."""
    copy.write_bytes(content.encode("utf-8", "surrogateescape"))
    words = ("sh", "-c", _REPLACED, "sh", str(copy), str(path), *trial.command)
    return replace(trial, command=words)


def own_files(
    bench: Workbench, trial: Trial, files: Sequence[str], *, larger: bool = False
) -> Iterator[tuple[Path, str]]:
    """Yield the project's own small data files among some, or its larger ones, with their texts."""
    roots = (bench.project.root, Path(trial.cwd))
    own = [Path(each) for each in files if any(Path(each).is_relative_to(top) for top in roots)]
    for path in own[:_MOST_FILES]:
        with suppress(OSError, UnicodeDecodeError):
            least, most = (_MOST_BYTES, _MOST_OF_LARGER) if larger else (-1, _MOST_BYTES)
            if path.suffix != ".py" and least < path.stat().st_size <= most:
                yield path, path.read_bytes().decode("utf-8")


def named_files(bench: Workbench, trial: Trial) -> list[tuple[Path, str]]:
    """Return the project's own small data files that a command names, with their texts."""
    return list(own_files(bench, trial, [str(Path(trial.cwd, word)) for word in trial.command]))
