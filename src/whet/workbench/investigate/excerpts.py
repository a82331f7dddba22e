"""The sources around the lines that an investigation names."""

from collections.abc import Iterable
from pathlib import Path

from whet.core.failure import Failure
from whet.core.observations.clue import Clue
from whet.workbench.trials.investigation import Excerpt

_AROUND = 3
_MOST_BYTES = 2_000_000


def excerpts_of(clues: Iterable[Clue], failure: Failure | None, cwd: str) -> tuple[Excerpt, ...]:
    """Return the sources around the lines that clues and a failure name; what is gone is left out."""
    places = [(clue.path, clue.line) for clue in clues if clue.path and clue.line]
    if failure is not None and failure.place is not None:
        places.append((failure.place.path, failure.place.line))
    excerpts = (_excerpt(path, line, cwd) for path, line in dict.fromkeys(places))
    return tuple(each for each in excerpts if each is not None)


def _excerpt(path: str, line: int, cwd: str) -> Excerpt | None:
    file = Path(cwd, path)
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return None
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    if not 0 < line <= len(lines):
        return None
    first = max(1, line - _AROUND)
    return Excerpt(
        path=path, line=line, first=first, lines=tuple(lines[first - 1 : line + _AROUND])
    )
