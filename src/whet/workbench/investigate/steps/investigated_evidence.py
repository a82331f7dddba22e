"""More evidence for an investigation: system calls, an instrumented rerun, memory."""

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from whet.core.budget import OutOfTimeError, StopReason
from whet.core.observations.clue import Clue, Sureness
from whet.core.text.quantity import listed
from whet.core.trial import Trial
from whet.host.inspect.presence import own_files_with
from whet.workbench.investigate.progress.investigating import Work, place_of
from whet.workbench.investigate.steps.costs import is_only_slow
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Session

_FOR_ORDER, _FOR_SET, _FOR_RESULTS, _FOR_NUMBERS = 0.2, 0.4, 0.5, 0.35
"""The shares of the time for the order of sets, which few failures depend on, and for that of results,
which takes one run if the program collects none."""

_RANDOM = re.compile(r"\b(?:random|randn?|randint|randperm|shuffle|default_rng|normal_|uniform_)\b")
_ARRIVAL = re.compile(r"\b(?:as_completed|imap_unordered)\b")

if TYPE_CHECKING:  # the followed calls are loaded only where they are looked at
    from whet.workbench.investigate.symptoms.call_evidence import CallFinding
    from whet.workbench.toggle.set_order import HeldOrder


def look_at_its_calls(work: Work, baseline: Baseline) -> "CallFinding":
    """Run it once more with its system calls followed, where they may name what the failure doesn't."""
    from whet.workbench.investigate.symptoms.call_evidence import (
        CallFinding,
        is_worth_a_look,
        look_at_calls,
    )

    outcome, finding = baseline.outcome, CallFinding()
    seconds = baseline.reproduction.wall_seconds
    if not is_worth_a_look(outcome.failure, outcome, seconds):
        return finding
    reason = "the kernel knows which file it failed on, and why"
    with work.steps.step("Check its system calls", reason):
        finding = look_at_calls(work.session, work.trial, baseline, place=place_of(work))
        work.steps.conclude(finding.says)
    return finding


def _session_for(work: Work, share: float) -> Session:
    """Return the session that ends when a share of the investigation's time has passed."""
    until = time.monotonic() + work.seconds * share
    return replace(work.session, deadline=min(until, work.session.deadline or until))


def hold_order(work: Work, baseline: Baseline) -> tuple[Baseline, tuple[Clue, ...]]:
    """See whether what fails only sometimes hangs on the order of sets; the rest then runs in one.

    Returns:
        what the command does then, and what is to be said of it; else as it was, and nothing.
    """
    from whet.workbench.toggle.set_order import SEED, can_tell, held_order

    if not can_tell(work.bench, work.trial, baseline):
        return baseline, ()
    why = "the order of string sets changes with each run of Python"
    with work.steps.step("Fix the order of sets", why):
        try:
            order = held_order(_session_for(work, _FOR_ORDER), work.trial, baseline)
        except OutOfTimeError:
            order = None
        if order is None:
            work.steps.conclude("found no order that makes it fail every time")
            return baseline, ()
        work.steps.conclude(f"{order.says}; whet continues with `{SEED}={order.failing}`")
    environment = {**work.trial.environment, SEED: str(order.failing)}
    work.trial = replace(work.trial, environment=environment)
    clue = Clue(says=order.says, why=why, trials=order.trials)
    return _each_time(baseline, order.failing_runs), (*_set_places(work, baseline, order), clue)


def _set_places(work: Work, baseline: Baseline, order: "HeldOrder") -> tuple[Clue, ...]:
    """See which of the places that go through a set decides."""
    from whet.workbench.investigate.experiments.set_places import WHY, SetPlaces
    from whet.workbench.investigate.experiments.warm_changes import contained

    if not work.options.tries_changes:
        return ()
    with work.steps.step("Find the set", WHY):
        session, trial = _session_for(work, _FOR_SET), contained(work.bench, work.trial)
        places = SetPlaces(session=session, trial=trial, baseline=baseline, order=order)
        try:
            clue = places.find()
        except OutOfTimeError:
            work.steps.cut()
            clue = None
        unknown = "found no single place where an order of the set decides"
        work.steps.conclude(unknown if clue is None else clue.says)
    return () if clue is None else (clue,)


def hold_numbers(work: Work, baseline: Baseline) -> "tuple[Trial, Baseline, Clue] | None":
    """See whether what fails only sometimes hangs on random numbers that the program doesn't seed.

    Returns:
        the command with numbers that make it fail each time, how it fails then, and what is to be
        said of it; None: it doesn't hang on them, as far as is known.
    """
    from whet.workbench.toggle.amplifiers import random_seed
    from whet.workbench.toggle.set_order import can_tell, held_order
    from whet.workbench.toggle.toggle import turned_on

    if not can_tell(work.bench, work.trial, baseline, is_random=True):
        return None
    if not own_files_with(_RANDOM, baseline.outcome.evidence):
        return None
    why = "the program draws random numbers, and they change with each run"
    with work.steps.step("Fix the random numbers", why):
        session = _session_for(work, _FOR_NUMBERS)
        try:
            held = held_order(session, work.trial, baseline, is_random=True)
        except OutOfTimeError:
            work.steps.cut()
            work.steps.conclude(f"stopped after {_FOR_NUMBERS:.0%} of the time")
            return None
        if held is None:
            work.steps.conclude("found no seed that makes it fail every time")
            return None
        work.steps.conclude(f"{held.says}; whet looks closer with seed {held.failing}")
    trial = turned_on(work.bench, work.trial, (random_seed(held.failing),))
    clue = Clue(says=held.says, why=why, trials=held.trials, sureness=Sureness.POSSIBLE)
    return trial, _each_time(baseline, held.failing_runs), clue


def _each_time(baseline: Baseline, runs: int) -> Baseline:
    """Return what a flaky failure is where something makes it come each time."""
    reproduction = replace(
        baseline.reproduction, attempts=runs, same_failures=runs, other_failures=()
    )
    return replace(baseline, reproduction=reproduction, repeats=1)


def order_results(work: Work, baseline: Baseline) -> tuple[Clue, ...]:
    """See whether what fails depends on the order in which results arrive."""
    from whet.workbench.toggle.result_order import result_order
    from whet.workbench.toggle.set_order import is_python

    # Slow tasks arrive in an order of their own each time.
    is_asked = not baseline.reproduction.is_deterministic or own_files_with(
        _ARRIVAL, baseline.outcome.evidence
    )
    if not is_asked or not is_python(work.trial, baseline):
        return ()
    why = "pools and tasks hand over results as they come"
    with work.steps.step("Fix the order of results", why):
        try:
            clue = result_order(_session_for(work, _FOR_RESULTS), work.trial, baseline)
        except OutOfTimeError:
            clue = None
        unknown = "found no sign that it depends on the order of results"
        work.steps.conclude(unknown if clue is None else clue.says)
    return () if clue is None else (clue,)


def look_closer(
    work: Work,
    baseline: Baseline,
    share: float = 1.0,
    drawn: Clue | None = None,
    *,
    is_shown: bool = False,
) -> tuple[Clue, ...]:
    """Look for what points at the cause, where the failure itself may not.

    Args:
        work: the investigation.
        baseline: what fails, and how.
        share: how much of the time that was left it has.
        drawn: what its random numbers do, if it fails each time only because they are held: a change
            of the program or its data shifts them, so that one run with it tells nothing.
        is_shown: what decides is known: no small change of the program is tried.
    """
    from whet.workbench.investigate.closer.clues import Closer

    if is_only_slow(baseline):
        return ()
    with work.steps.step(
        "Look closer", "find the line that is wrong: it may not be the one that fails"
    ):
        closer = Closer(
            session=work.session, trial=work.trial, baseline=baseline,
            place=place_of(work), tries_changes=work.options.tries_changes and drawn is None and not is_shown,
            is_drawn=drawn is not None,
            whole=work.whole, is_patient=work.options.budget.wall_seconds is not None,
        )  # fmt: skip
        finding = closer.look()
        work.steps.conclude(finding.summary)
        if closer.is_short:
            work.steps.cut()
            names = listed(closer.short_of)
            stopped = f"its share of the time is used up; not finished: {names}"
            if share == 1:
                work.ended = work.ended or StopReason.OUT_OF_TIME
                stopped = f"stopped: {StopReason.OUT_OF_TIME.value}; not finished: {names}"
            work.steps.conclude("; ".join(filter(None, (finding.summary, stopped))))
    work.origin, work.change = finding.origin, finding.change
    if drawn is None:
        return finding.clues
    # The run that was looked at may fail at another record than the one that was reported.
    return tuple(replace(each, record="", records=(), next_step="") for each in finding.clues)


def fail_sooner(work: Work, baseline: Baseline) -> tuple[Baseline, list[str]]:
    """Have a failure for lack of the machine's memory come at once, under a limit.

    Returns:
        what the command does then, and what is to be said of it; else as it was, and nothing.
    """
    from whet.workbench.starve import no_memory_left as memory

    outcome, limits = baseline.outcome, work.trial.limits
    failure = outcome.failure
    if failure is None or not memory.is_out_of_memory(failure, outcome):
        return baseline, []
    with work.steps.step("Look at the memory", "find which process took it"):
        grown = memory.grown_words(outcome)
        work.steps.conclude(grown)
    sentences = [f"{grown[0].upper()}{grown[1:]}."]
    if memory.is_quick(outcome) or limits.memory_bytes or limits.address_space_bytes:
        return baseline, sentences
    with work.steps.step(
        "Find a limit under which it fails at once", "filling the whole memory takes long"
    ):
        result = memory.limits_to_fail_at_once(
            work.session, work.trial, outcome, baseline.oracle,
            budget=work.budget,
        )  # fmt: skip
        if result is None:
            work.steps.conclude("under no smaller limit it fails the same way, sooner")
            return baseline, sentences
        sooner, reason = result
        work.trial = replace(work.trial, limits=sooner)
        words = f"with `--address-space {(sooner.address_space_bytes or 0) >> 20}M` it fails the same way, sooner; whet continues with that limit"
        work.steps.conclude(words)
    return replace(baseline, outcome=reason), [*sentences, f"{words[0].upper()}{words[1:]}."]


def find_enough(work: Work, baseline: Baseline) -> list[str]:
    """Search how much memory would be enough, where the command was killed for lack of it."""
    failure, limit = baseline.outcome.failure, work.trial.limits.memory_bytes
    if failure is None or failure.limit != "memory" or limit is None:
        return []
    from whet.workbench.starve.out_of_memory import enough_memory

    with work.steps.step("Find how much memory is enough", "run it with less and with more"):
        sentence = enough_memory(work.session, work.trial, baseline.oracle, budget=work.budget)
        work.steps.conclude(sentence)
    return [f"{sentence[0].upper()}{sentence[1:]}."]
