"""The recorded attempts at a command as versions to search."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from whet.bisection.attempts import Attempt, is_same_but_for_code, since_it_passed, states_of
from whet.core.errors import NothingBetween
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.code.code_changes import describe_changes
from whet.host.process.git import Repository
from whet.host.trial.trial_secrets import masked_words
from whet.search.history.bisection import Bisection
from whet.search.history.version_graph import line_of
from whet.workbench.parts.edits import checkouts_of
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.request import Judging
from whet.workbench.versions.version_source import Versions


def attempts(bench: Workbench, trial: Trial, judging: Judging) -> Versions:
    """Return the states of the code that the command was tried on since it last passed.

    What came of them is remembered: it isn't run again between the ends.

    Raises:
        NotARepository: if there is none.
        NothingBetween: if the command wasn't tried on any other state of the code.
    """
    if trial.code is None:
        Repository.containing(Path(trial.cwd))
        raise NothingBetween(
            "no code is kept of this folder",
            hint="`whet run -- COMMAND` says why; in a git repository it always is",
        )
    repository = Repository.keeping(Path(trial.code.repository))
    states = since_it_passed(states_of(_recorded(bench, trial)), oracle_of(judging).judge)
    if len(states) <= 1:
        raise NothingBetween(
            f"`{' '.join(masked_words(trial.command))}` wasn't tried on any other state of the "
            "code, as far as the"
            " notebook knows",
            hint="`whet log` lists the trials; `whet bisect [GOOD] BAD` searches commits",
        )
    oldest = states[0].outcome
    old_passes = oldest is not None and oracle_of(judging).judge(oldest) is Verdict.GOOD
    return _Attempts(
        subject=repository.top.name,
        old=states[0].name if old_passes else None,
        new=states[-1].name,
        place=checkouts_of(bench, repository),
        states={state.name: state for state in states},
    )


@value_class(kw_only=True)
class _Attempts(Versions):
    """The states of the code that a command was tried on, by the names of their trials.

    Attributes:
        states: each of them, oldest first.
    """

    kind: ClassVar[str] = "attempt"
    states: Mapping[str, Attempt]

    def describe(self, versions: Sequence[str]) -> Mapping[str, str]:
        with_outcome = (each for each in versions if self.states[each].outcome is not None)
        return {each: self.states[each].started_at[:16] for each in with_outcome}

    def details(self, version: str) -> str:
        words = self._said(version)
        return f"{version}: {words}" if words else version

    def titles(self, versions: Sequence[str]) -> Mapping[str, str]:
        return {each: f"{each} {self._said(each)}" for each in versions}

    def on(self, trial: Trial, version: str) -> Trial:
        return replace(trial, revision=self.states[version].commit)

    def recalled(self, trial: Trial) -> Outcome | None:
        states = reversed(list(self.states.values()))
        of_code = (each for each in states if each.commit == trial.revision)
        return next((each.outcome for each in of_code if each.outcome is not None), None)

    def bisection(self, old: str, new: str) -> Bisection[str]:
        names = list(self.states)
        part = names[names.index(old) : names.index(new) + 1]
        return Bisection(line_of(part), new, (old,))

    def line(self) -> tuple[Sequence[str], frozenset[int]]:
        return list(self.states)[::-1], frozenset()

    def _said(self, name: str) -> str:
        states, place = list(self.states.values()), list(self.states).index(name)
        state = states[place]
        changes = describe_changes(states[place - 1].code, state.code) if place else ""
        when = state.started_at[:16].replace("T", " ")
        return "  ".join(each for each in (when, changes, state.note) if each)


def _recorded(bench: Workbench, trial: Trial) -> Iterator[Attempt]:
    """Yield the trials of the command with everything else equal, oldest first, then now."""
    recorded: list[Attempt] = []
    for entry in bench.notebook.attempts_at(trial):
        code = entry.trial.code
        if code is None or not (code.snapshot or code.commit):
            continue
        if not is_same_but_for_code(entry.trial, trial):
            continue
        given_up = entry.outcome is not None and entry.outcome.interrupted
        recorded.append(
            Attempt(
                number=entry.number,
                code=code,
                outcome=None if given_up else entry.outcome,
                started_at=entry.started_at,
                note=entry.note,
            )
        )
    yield from reversed(recorded)
    if trial.code is not None:
        yield Attempt(number=0, code=trial.code)
