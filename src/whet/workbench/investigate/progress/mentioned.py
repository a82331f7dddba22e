"""What a report mentions: trials with what they did, and the sources around lines."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from whet.core.errors import UnknownTrial
from whet.core.failure import Failure
from whet.core.observations.clue import Clue
from whet.notebook.notebook import Notebook
from whet.workbench.trials.investigation import (
    Excerpt,
    Reproduction,
    Step,
    TriedTrial,
    VersionSearch,
)

_AROUND = 3
_MOST_BYTES = 2_000_000
_MOST_TRIALS = 200


def named_trials(
    clues: Iterable[Clue], reproduction: Reproduction, history: VersionSearch | None
) -> tuple[int, ...]:
    """Return the numbers of the trials that a report names, in their order."""
    versions = () if history is None else history.tested
    numbers = {
        *reproduction.trials,
        *(number for clue in clues for number in clue.trials),
        *(each.trial for each in versions if each.trial is not None),
    }
    return tuple(sorted(numbers))[:_MOST_TRIALS]


def tried_trials(
    notebook: Notebook, numbers: Iterable[int], steps: Sequence[Step]
) -> tuple[TriedTrial, ...]:
    """Return what trials did, and in which step."""
    titles = {number: step.title for step in steps for number in step.numbers}
    trials: list[TriedTrial] = []
    for number in numbers:
        with suppress(UnknownTrial):
            entry = notebook.trial(number)
            trials.append(
                TriedTrial(
                    number=number,
                    step=titles.get(number, ""),
                    verdict=entry.verdict,
                    did="it hasn't ended" if entry.outcome is None else entry.outcome.summary,
                )
            )
    return tuple(trials)


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
