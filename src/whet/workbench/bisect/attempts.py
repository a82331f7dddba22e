"""The recorded attempts at a command as versions to search."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from whet.bisection.attempts import Attempt, is_same_but_for_code, since_it_passed, states_of
from whet.bisection.picture import outline, picture
from whet.bisection.terms import Terms
from whet.core.errors import NothingBetween
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.host.code.code_changes import describe_changes
from whet.host.process.git import Repository
from whet.host.trial.secret import masked_words
from whet.search.history.bisection import Bisection
from whet.search.history.version_graph import line_of
from whet.workbench.parts.edits import checkouts_of
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.request import Judging
from whet.workbench.versions.versions import Versions


def attempts(bench: Workbench, trial: Trial, judging: Judging) -> Versions:
    """Return the states of the code that the command was tried on since it last passed.

    What came of them is remembered: it is not run again between the ends.

    Raises:
        NotARepository: if there is none.
        NothingBetween: if the command was tried on no other state of the code.
    """
    repository = Repository.containing(Path(trial.cwd))
    states = since_it_passed(states_of(_recorded(bench, trial)), oracle_of(judging).judge)
    if len(states) <= 1:
        raise NothingBetween(
            f"`{' '.join(masked_words(trial.command))}` was tried on no other state of the code, as far as the"
            " notebook knows",
            hint="`whet log` lists the trials; commits are searched by `whet bisect [GOOD] BAD`",
        )
    by_name = {state.name: state for state in states}
    by_commit = {state.commit: state for state in states if state.outcome is not None}
    names = list(by_name)
    oldest = states[0].outcome
    passed = oldest is not None and oracle_of(judging).judge(oldest).value == "good"

    def recalled(asked: Trial) -> Outcome | None:
        known = by_commit.get(asked.revision or "")
        return None if known is None else known.outcome

    def bisection(old: str, new: str) -> Bisection[str]:
        part = names[names.index(old) : names.index(new) + 1]
        return Bisection(line_of(part), new, (old,))

    def drawn(state: Bisection[str], used: Terms) -> str:
        rows = outline(state.standings(), first_bad=state.result().first_bad)
        return picture(rows, lambda name: f"{name} {_said(by_name, names, name)}", terms=used)

    def describe(versions: Sequence[str]) -> Mapping[str, str]:
        return {each: by_commit[each].started_at[:16] for each in versions if each in by_commit}

    return Versions(
        kind="attempt",
        subject=repository.top.name,
        old=names[0] if passed else None,
        new=names[-1],
        label=lambda name: name,
        describe=describe,
        details=lambda name: _details(by_name, names, name),
        on=lambda each, name: replace(each, revision=by_name[name].commit),
        place=checkouts_of(bench, repository),
        bisection=bisection,
        line=lambda: (names[::-1], frozenset()),
        picture=drawn,
        recalled=recalled,
    )


def _recorded(bench: Workbench, trial: Trial) -> Iterator[Attempt]:
    """Yield the trials of the command with everything else equal, oldest first, then now."""
    found: list[Attempt] = []
    for entry in bench.notebook.attempts_at(trial):
        code = entry.trial.code
        if code is None or not (code.snapshot or code.commit):
            continue
        if not is_same_but_for_code(entry.trial, trial):
            continue
        given_up = entry.outcome is not None and entry.outcome.interrupted
        found.append(
            Attempt(
                number=entry.number,
                code=code,
                outcome=None if given_up else entry.outcome,
                started_at=entry.started_at,
                note=entry.note,
            )
        )
    yield from reversed(found)
    if trial.code is not None:
        yield Attempt(number=0, code=trial.code)


def _said(by_name: Mapping[str, Attempt], names: Sequence[str], name: str) -> str:
    """Return when an attempt was made and what it changed."""
    state, place = by_name[name], names.index(name)
    changes = describe_changes(by_name[names[place - 1]].code, state.code) if place else ""
    when = state.started_at[:16].replace("T", " ")
    return "  ".join(each for each in (when, changes, state.note) if each)


def _details(by_name: Mapping[str, Attempt], names: Sequence[str], name: str) -> str:
    said = _said(by_name, names, name)
    return f"{name}: {said}" if said else name
