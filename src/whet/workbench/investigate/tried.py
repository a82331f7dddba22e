"""The trials that a report mentions, each with what it did."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from whet.core.errors import UnknownTrial
from whet.core.observations.clue import Clue
from whet.notebook.notebook import Notebook
from whet.workbench.trials.investigation import Reproduction, Step, TriedTrial, VersionSearch

_MOST = 200


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
    return tuple(sorted(numbers))[:_MOST]


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
