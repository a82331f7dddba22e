"""Where two arms differ: on which functions of the user's own, from profiled runs of both."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from whet.core.event import Notice
from whet.core.observations.profile import Profile
from whet.core.oracle import AnyFailure
from whet.core.text.quantity import shown_count
from whet.measurement.profiles.difference import ProfileDifference, difference
from whet.measurement.profiles.merge import merged
from whet.workbench.compare.arms import Arm
from whet.workbench.compare.held import held
from whet.workbench.profile.profile import Wish, profiles_in, rate_for, tasks_for
from whet.workbench.trials.session import Session

RUNS = 3
"""Profiled runs of each arm, in turns: one alone may have been disturbed."""
_BRIEF = 0.5
"""A run is brief that takes less than this share of what is usual."""


def where_they_differ(
    session: Session, arms: Sequence[Arm], seconds: float, *, question: str = "cpu"
) -> tuple[ProfileDifference | None, str]:
    """Profile some runs of both arms; return where they differ, and why that isn't known.

    Args:
        session: runs them.
        arms: A and B.
        seconds: how long a run takes.
        question: ``cpu``, or ``memory``, which is counted and not sampled: one run of each tells it.
    """
    rate, runs, how = rate_for(seconds), RUNS, ""
    if question == "cpu":
        how = f", {rate} samples a second"
    else:
        runs = 1
    profiling = replace(session, tasks=tasks_for(Wish(question=question, rate=rate)), weighing=None)
    session.emit(Notice(text=f"profiles {shown_count(runs, 'run')} of each{how}"))
    profiles: list[list[Profile]] = [[], []]
    notes: list[str] = []
    with ExitStack() as stack:
        executors = [
            stack.enter_context(profiling.executor(place=held(arm.place, stack))) for arm in arms
        ]
        for turn in range(runs):
            for number, (arm, executor) in enumerate(zip(arms, executors, strict=True)):
                label = f"{'AB'[number]}, profile {turn + 1}"
                ran = profiling.run_on(executor, arm.trial, AnyFailure(), label)
                is_brief = ran.outcome.wall_seconds < _BRIEF * seconds
                found = profiles_in(ran.outcome.evidence, ran.outcome)
                notes += [note for each in found for note in each.notes]
                # A run that is over before the profiler looks costs next to nothing.
                profiles[number] += [each for each in found if each.stacks or is_brief]
    if not all(profiles) or not any(each.stacks for arm in profiles for each in arm):
        return None, notes[0] if notes else "the profiler saw no Python at work"
    before, after = (merged(sorted(arm, key=lambda each: not each.stacks)) for arm in profiles)
    return difference(before, after), ""
