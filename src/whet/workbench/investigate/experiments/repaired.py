"""Which small change of the program makes it pass; whet tries each without touching the files."""

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from whet.core.budget import OutOfTimeError
from whet.core.failure import FailureKind
from whet.core.observations.clue import Clue, Placing, Sureness, TrailStep
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.clues.dropped import Drop
from whet.evidence.experiments.changes import Change, text_with
from whet.evidence.experiments.complaints import still_complains, warns_of_more
from whet.evidence.experiments.dropped_results import uses_of_dropped
from whet.evidence.experiments.repairs import repairs_of
from whet.evidence.experiments.taken_otherwise import SPELT
from whet.evidence.experiments.variations import Variation
from whet.evidence.provenance.run.recording import Recording
from whet.evidence.variables.kept_failure import KeptFailure
from whet.host.inspect.presence import pythons_in
from whet.host.inspect.stacks import is_user_code
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.inspect.post_mortem import Dead, dead_in, likeliest
from whet.workbench.investigate.experiments.clocks import clock_changes
from whet.workbench.investigate.experiments.default_values import Defaults
from whet.workbench.investigate.experiments.kept_for_others import untried_clue
from whet.workbench.investigate.experiments.locks import lock_changes
from whet.workbench.investigate.experiments.needed import given_as_text, is_met
from whet.workbench.investigate.experiments.orders import order_changes
from whet.workbench.investigate.experiments.retries import retried_changes
from whet.workbench.investigate.experiments.shared_uses import likely_changes, shared_changes
from whet.workbench.investigate.experiments.varied import passes, text_to_change
from whet.workbench.trials.reproduce import Baseline

_MOST_EXPERIMENTS, _FEWEST = 24, 2
"""A program so slow that fewer than two fit is run with the likeliest change alone, if the run had what that is about."""
_OF_ALIKE = 8
"""One of so many changes of the same kind may let it pass, too: by chance."""

_MOST_SECONDS = 30.0
"""The time for all experiments, in plain runs; slow programs get twice as much."""

_PASSES = 3
"""So often a change must let it pass: after four failures, that is chance in one case of a hundred at most,
however often it fails."""

_FORGET = "by forgetting it where that changes"

Run = Callable[[AgentTasks], tuple[int, Outcome]]
StillChecking = Callable[[str, str, int, int], int]


@value_class(kw_only=True)
class Known:
    """What is known of the failing run.

    Attributes:
        recording: its steps; None: they weren't recorded.
        drops: the results that it dropped.
        kept: the keys that lacked something, with it.
        rivals: the likeliest small changes of other lines.
    """

    recording: Recording | None = None
    drops: Sequence[Drop] = ()
    kept: Sequence[tuple[str, Change]] = ()
    rivals: Iterable[tuple[str, Variation]] = ()


def repaired_clue(
    trial: Trial,
    baseline: Baseline,
    known: Known,
    run: Run,
    still_checking: StillChecking | None,
    *,
    until: float = math.inf,
) -> Clue | None:
    """Return the first change with which the command passes; None: with none of those tried.

    Args:
        trial: what fails.
        baseline: how; a failure that comes only sometimes would go on its own.
        known: what the failing run has done.
        run: runs the command with other tasks; returns the trial's number and what it did.
        still_checking: returns the trial that passes with a changed module and still comes to what
            failed, 0 for none; None: that can't be seen.
        until: when no further change is tried, on the monotonic clock.

    Raises:
        OutOfTimeError: if none was found until then.
    """
    at = Placing(trial.cwd)
    untried = {each.text: (path, each) for path, each in known.kept}

    def tried(tasks: AgentTasks) -> tuple[int, Outcome]:
        number, outcome = run(tasks)
        if tasks.edit is not None and baseline.oracle.judge(outcome) is not Verdict.GOOD:
            untried.pop(tasks.edit[1], None)
        return number, outcome

    try:
        clue = _shown(trial, baseline, known, tried, still_checking, until)
    except OutOfTimeError:
        clue = untried_clue(untried.values(), at)
        if clue is None:
            raise
    return clue or untried_clue(untried.values(), at)


def _shown(
    trial: Trial,
    baseline: Baseline,
    known: Known,
    run: Run,
    still_checking: StillChecking | None,
    until: float,
) -> Clue | None:
    seconds = baseline.reproduction.wall_seconds
    if not baseline.reproduction.is_deterministic:
        return None
    most = min(_MOST_EXPERIMENTS, int(_MOST_SECONDS / max(seconds, 0.01)))
    is_slow = most < _FEWEST
    failure = baseline.outcome.failure
    is_full = failure is not None and failure.kind is FailureKind.OUT_OF_MEMORY
    dead = dead_in(baseline.outcome.evidence)
    process = dead[likeliest(baseline.outcome, dead)] if dead else None
    files = _files(baseline.outcome, process)
    dropped = [(path, repair) for path in files for repair in _of_drops(path, known.drops)]
    candidates = [
        (path, repair)
        for path in files
        for repair in repairs_of(text_to_change(path))
        if is_met(repair.needs, path, known.recording)
        and not (is_slow and repair.needs is None)
        and not (is_full and repair.frees)
    ]
    candidates.sort(key=lambda each: _place(each[1]))
    at = Placing(trial.cwd)
    seen = _of_run(files, known.recording, at)
    spent = 0.0
    changes = _texts([*known.kept, *dropped, *seen, *candidates])
    # What the run calls for takes no other change's turn.
    for path, repair, text in islice(changes, max(most, 1) + (0 if is_slow else len(seen))):
        if time.monotonic() > until:
            raise OutOfTimeError
        if spent > 2 * _MOST_SECONDS:
            return None
        number, outcome = run(AgentTasks(edit=(path, text)))
        spent += outcome.wall_seconds
        is_good = baseline.oracle.judge(outcome) is Verdict.GOOD
        # One that warns of more may pass because what fails isn't done any more.
        failed_before = baseline.outcome
        if (
            not is_good
            or still_complains(failed_before, outcome)
            or warns_of_more(failed_before, outcome)
        ):
            continue
        if (repair.is_checked or not repair.is_telling) and still_checking is not None:
            more_lines = text.count("\n") - text_to_change(path).count("\n")
            if not still_checking(path, text, repair.line, more_lines):
                continue  # what was to be changed is lost in a copy: the work isn't done any more
        alike = (
            text_with(text_to_change(path), replace(repair, edit=each)) for each in repair.beside
        )
        also = (
            baseline.oracle.judge(run(AgentTasks(edit=(path, each)))[1]) is Verdict.GOOD
            for each in alike
        )
        if sum(also) > len(repair.beside) // _OF_ALIKE:
            continue
        control, failed = run(AgentTasks(edit=(path, text_to_change(path))))
        again = (run(AgentTasks(edit=(path, text)))[1] for _ in range(_PASSES - 1))
        if baseline.oracle.judge(failed) is Verdict.BAD and all(
            baseline.oracle.judge(each) is Verdict.GOOD for each in again
        ):
            clue = _controlled(path, repair, (number, control), run, baseline, at)
            rivals = known.rivals if repair.is_weighed and clue.sureness is Sureness.SHOWN else ()
            clue = _weighed(clue, rivals, run, baseline, still_checking, at)
            return _with_call(_advised(clue, at), path, repair, known.recording, at)
    return None


def _place(change: Change) -> tuple[bool, ...]:
    """Return the place of a change among others.

    A copy says least of what is wrong, and nothing at all where a change was meant to be seen.
    What the run is known to have had says most.
    """
    return (
        not change.is_telling,
        change.hides,
        change.needs is None,
        change.is_seldom,
        "deepcopy" in change.instead,
    )


def _of_run(
    files: Sequence[str], recording: Recording | None, at: Placing
) -> list[tuple[str, Change]]:
    locks = lock_changes(files, recording)
    if recording is None:
        return [*locks, *likely_changes(files, at)]
    defaults, retried = Defaults(recording, at).changes(), retried_changes(recording)
    shared, orders = shared_changes(recording, at), order_changes(recording, at)
    return [*locks, *retried, *clock_changes(recording), *shared, *defaults, *orders]


def _controlled(
    path: str, repair: Change, ran: tuple[int, int], run: Run, baseline: Baseline, at: Placing
) -> Clue:
    """Return the clue of a change as what its control shows: that alone, or something else that it mends, too."""
    clue = _clue(path, repair, ran, at)
    if not repair.control and not (repair.turned and repair.is_telling):
        return clue
    try:
        number, outcome = run(AgentTasks(edit=(path, repair.control or repair.turned)))
    except OutOfTimeError:
        return replace(clue, sureness=Sureness.POSSIBLE)
    verdict, trials = baseline.oracle.judge(outcome), (*clue.trials, number)
    if repair.turned:
        if verdict is Verdict.GOOD:
            why = f"{clue.why}; trial {number} let those that came first wait longest, and passed, too"
            return replace(clue, why=why, trials=trials)
        why = f"{clue.why}; but trial {number}, in which those that came first waited longest, did not pass: with that change the order may only be another one"
        return replace(clue, why=why, sureness=Sureness.POSSIBLE, trials=trials)
    if verdict is Verdict.GOOD:
        instead = "a result that is made anew"
        otherwise = replace(repair, what=repair.otherwise, instead=instead, advice=_FORGET)
        clue = _clue(path, otherwise, ran, at)
        why = f"{clue.why}; trial {number} made each result anew with what the key lacks as it was at first, and passed, too"
        return replace(clue, why=why, trials=trials)
    if verdict is not Verdict.BAD:
        return replace(clue, sureness=Sureness.POSSIBLE, trials=trials)
    why = f"{clue.why}; trial {number} made each result with what the key lacks as it was at first, and failed"
    return replace(clue, why=why, trials=trials)


def _weighed(
    clue: Clue,
    rivals: Iterable[tuple[str, Variation]],
    run: Run,
    baseline: Baseline,
    still_checking: StillChecking | None,
    at: Placing,
) -> Clue:
    """Return a clue that is no more than possible if the command passes with a likely change of another line."""
    try:
        for path, rival in rivals:
            if (path, rival.line) == (clue.path, clue.line) or still_checking is None:
                continue
            _, outcome = run(AgentTasks(edit=(path, rival.text)))
            if baseline.oracle.judge(outcome) is Verdict.GOOD and (
                number := still_checking(path, rival.text, rival.line, rival.more_lines)
            ):
                why = f"{clue.why}; but trial {number} ran with `{rival.new}` instead of `{rival.old}` at {at(path, rival.line)}, and passed, too"
                trail = (*clue.trail, TrailStep(says=passes((path, rival.line), rival, at, "it")))
                trials = (*clue.trials, number)
                return replace(
                    clue, why=why, sureness=Sureness.POSSIBLE, trail=trail, trials=trials
                )
    except OutOfTimeError:
        return replace(clue, sureness=Sureness.POSSIBLE)
    return clue


def _with_call(
    clue: Clue, path: str, repair: Change, recording: Recording | None, at: Placing
) -> Clue:
    """Return the clue at the call that was given a text for a list, where it is about one."""
    needs = repair.needs
    if recording is None or needs is None or needs.is_met_by != SPELT:
        return clue
    place = given_as_text(needs, path, recording)
    if place is None:
        return clue
    says = f"{at(*place)} gives one text for `{needs.expression}`, but other calls give several: {clue.says}"
    return replace(clue, says=says, path=place[0], line=place[1])


def _clue(path: str, repair: Change, trials: tuple[int, int], at: Placing) -> Clue:
    trial, control = trials
    path, line = repair.place or (path, repair.line)
    return Clue(
        says=f"at {at(path, line)} {repair.what}: with {repair.instead} the command passes",
        why=f"trial {trial} ran with that change and passed, and so did {_PASSES - 1} more runs; trial {control} ran"
        " without it and failed",
        path=path,
        line=line,
        sureness=Sureness.SHOWN if repair.is_telling else Sureness.POSSIBLE,
        trials=trials,
        next_step=f"for example {repair.advice or f'with {repair.instead}'}",
    )


def _of_drops(path: str, drops: Sequence[Drop]) -> Iterator[Change]:
    own = [each for each in drops if os.path.realpath(each.at.path) == path]
    return uses_of_dropped(text_to_change(path), own) if own else iter(())


def _texts(changes: Iterable[tuple[str, Change]]) -> Iterator[tuple[str, Change, str]]:
    """Yield the changes that can be written, each with its text, and each text once."""
    texts = {""}
    for path, change in changes:
        text = text_with(text_to_change(path), change)
        if text not in texts:
            texts.add(text)
            yield path, change, text


def _files(outcome: Outcome, dead: Dead | None) -> list[str]:
    """Return the user's files that have run, as far as is known: those of the failure first."""
    files: dict[str, None] = {}
    paths = (path for each in pythons_in(outcome.evidence) for path in each.files)
    for path in [*(() if dead is None else _of_failure(dead)), *paths]:
        if is_user_code(path) and path.endswith(".py"):
            files.setdefault(os.path.realpath(path))
    return list(files)


def _of_failure(dead: Dead) -> Iterator[str]:
    failure: KeptFailure = dead.failure
    yield from (each.frame.path for each in reversed(dead.error.frames))
    yield from failure.modules.values()


def _advised(clue: Clue, at: Placing) -> Clue:
    """Return a clue that says where to do what its next step is an example of, if it is the cause."""
    where = at(clue.path, clue.line)
    is_shown = clue.sureness is Sureness.SHOWN
    step = f"fix {where}" if is_shown else f"check {where}; if it is the cause, fix it"
    return replace(clue, next_step=f"{step}, {clue.next_step}")
