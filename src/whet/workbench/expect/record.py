"""The guesses of a person, from the trials that are in the notebook already."""

import contextlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.expectation import ExpectationKind, Score
from whet.core.observations.evidence import GUESSES
from whet.core.text.record import boolean, number, records, text
from whet.core.value_class import value_class
from whet.host.code.project import ROOT_FILE
from whet.host.files.user_key import user_key
from whet.host.files.user_state import user_state
from whet.measurement.expectations.calibration import Calibration, Guess, calibrations
from whet.notebook.entry import Entry
from whet.notebook.notebook import FILE_NAME, Notebook
from whet.workbench.trials.bench import Workbench

_MEASURED = frozenset({ExpectationKind.TIME, ExpectationKind.MEMORY, ExpectationKind.NUMBER})


@value_class(kw_only=True)
class Record:
    """How good a person's guesses have been.

    Attributes:
        calibrations: for each kind.
        projects: how many of the user's projects hold guesses.
        left_out: runs whose numbers say nothing about a guess: they failed, or whet ended them.
        unreadable: projects whose notebook can't be read.
    """

    calibrations: tuple[Calibration, ...]
    projects: int
    left_out: int
    unreadable: int


def record_of(bench: Workbench, *, only_here: bool = False) -> Record:
    """Return how good the user's guesses have been, in all of the user's projects or in this one."""
    guesses: list[Guess] = []
    projects = left_out = unreadable = 0
    for notebook, project in _notebooks(bench, only_here=only_here):
        if notebook is None:
            unreadable += 1
            continue
        found, without = _guesses(notebook.with_expectations(), project)
        found += _guesses_at_lines(notebook, project)
        guesses += found
        left_out += without
        projects += bool(found)
    return Record(
        calibrations=calibrations(guesses),
        projects=projects,
        left_out=left_out,
        unreadable=unreadable,
    )


def _notebooks(bench: Workbench, *, only_here: bool) -> Iterator[tuple[Notebook | None, str]]:
    yield bench.notebook, ""
    environment = bench.environment
    if only_here or environment.get("WHET_DIR"):
        return
    for file in sorted(user_state(environment).glob(f"projects/*/{FILE_NAME}")):
        if file.parent == bench.project.state:
            continue
        try:
            with Notebook.open(file.parent, partial(user_key, environment)) as notebook:
                yield notebook, _name(file.parent)
        except WhetError:  # a newer whet's, or damaged
            yield None, ""


def _name(state: Path) -> str:
    with contextlib.suppress(OSError):
        return Path((state / ROOT_FILE).read_text("utf-8", "replace")).name
    return state.name


def _guesses(entries: Iterable[Entry], project: str) -> tuple[list[Guess], int]:
    """Return the guesses of a notebook, and how many runs' numbers say nothing about one.

    A statement that was made again about the same command isn't another guess: its author has
    seen what came of the first one.
    """
    guesses: list[Guess] = []
    known: set[tuple[str, ...]] = set()
    left_out = 0
    for entry in entries:
        statements = [*entry.scores]
        place = f"trial {entry.number}{f' of {project}' if project else ''}"
        says = _says_something(entry, statements)
        left_out += not says and any(each.expectation.kind in _MEASURED for each in statements)
        for score in statements:
            key = (entry.trial.cwd, *entry.trial.command, score.expectation.text)
            is_measured = score.expectation.kind in _MEASURED
            guess = None if is_measured and not says else _guess(score, place)
            if guess is not None and key not in known:
                known.add(key)
                guesses.append(guess)
    return guesses, left_out


def _guesses_at_lines(notebook: Notebook, project: str) -> list[Guess]:
    """Return the guesses in comments of files whose lines were counted, each statement's once."""
    guesses: dict[tuple[str, ...], Guess] = {}
    for trial, detail in sorted(notebook.trials_with(GUESSES), key=lambda each: each[0]):
        for told in records(detail, "guesses"):
            names = [text(told, name) for name in ("file", "statement", "text")]
            place = f"`{names[1]}`, trial {trial}{f' of {project}' if project else ''}"
            ratio = None if told.get("ratio") is None else number(told, "ratio")
            guess = Guess(
                kind=ExpectationKind(text(told, "kind")), text=names[2],
                was_met=boolean(told, "met"), ratio=ratio, place=place,
            )  # fmt: skip
            guesses.setdefault(tuple(names), guess)
    return list(guesses.values())


def _guess(score: Score, place: str) -> Guess | None:
    expected = score.expectation
    if score.met is None:
        return None
    is_guess = expected.range is not None and expected.range.guess is not None
    return Guess(
        kind=expected.kind,
        text=expected.text,
        was_met=score.met,
        ratio=score.ratio if is_guess else None,
        place=place,
    )


def _says_something(entry: Entry, scores: Iterable[Score]) -> bool:
    """Whether the numbers of a trial can be held against a guess: it ran as its author meant it to."""
    outcome = entry.outcome
    if outcome is None or outcome.timed_out or outcome.overran_output or outcome.resumed_from:
        return False
    meant = any(each.met and each.expectation.kind is ExpectationKind.ENDING for each in scores)
    return outcome.failure is None or meant
