"""All that whet says while it works, as a closed union of values."""

from collections.abc import Callable
from dataclasses import field
from typing import TypeAlias

from whet.core.budget import StopReason
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict


@value_class(kw_only=True)
class StepStarted:
    """A step of an investigation begins.

    Attributes:
        title: what is done, such as ``Reproduce``.
        reason: why it is done now.
    """

    title: str
    reason: str


@value_class(kw_only=True)
class StepFinished:
    """A step of an investigation has its result, in a sentence."""

    title: str
    result: str


@value_class(kw_only=True)
class TrialFinished:
    """A trial has been judged.

    Attributes:
        number: its number in the notebook; None when it was not run (answered by the cache).
        trial: what was run.
        outcome: what came.
        verdict: what that proves.
        label: what was varied, such as a release or a size.
    """

    number: int | None
    trial: Trial
    outcome: Outcome
    verdict: Verdict
    label: str = ""


@value_class(kw_only=True)
class PayloadReduced:
    """A smaller payload fails the same way, and lies on disk.

    Attributes:
        before_bytes: the size of the best one before it.
        after_bytes: its size.
        by_pass: what made it.
        content: it.
    """

    before_bytes: int
    after_bytes: int
    by_pass: str
    content: bytes = field(default=b"", repr=False)


@value_class(kw_only=True)
class PassStarted:
    """Another pass of a reduction is at work.

    Attributes:
        name: the pass.
        best_bytes: the size of what it works on.
    """

    name: str
    best_bytes: int


@value_class(kw_only=True)
class Stretch:
    """Some versions that stand together, one or more, in the line that is searched.

    Attributes:
        told: what was told of those that were tested; None: none of them was.
        probability: that the first bad version is among them.
    """

    told: Verdict | None
    probability: float


@value_class(kw_only=True)
class HistoryNarrowed:
    """A bisection knows more.

    Attributes:
        label: the version just judged.
        verdict: what it was.
        remaining: how many versions may still be the first bad one.
        steps_left: how many more tests are expected at most.
        line: all versions, oldest first.
    """

    label: str
    verdict: Verdict
    remaining: int
    steps_left: int
    line: tuple[Stretch, ...] = ()


@value_class(kw_only=True)
class SuspicionChanged:
    """A search among failures that come only sometimes has weighed more runs.

    Attributes:
        tested: the versions just run, and how each run ended; none proves anything alone.
        suspect: the likeliest first bad version.
        probability: that it is.
        runs_left: how many more runs are expected.
        line: all versions, oldest first.
    """

    tested: tuple[tuple[str, Verdict], ...]
    suspect: str
    probability: float
    runs_left: int
    line: tuple[Stretch, ...] = ()


@value_class(kw_only=True)
class RunsCounted:
    """A command that is repeated has ended once more.

    Attributes:
        failed: how many runs failed.
        runs: how many there were.
        planned: how many there will be; 0: that depends on what they do.
    """

    failed: int
    runs: int
    planned: int


@value_class(kw_only=True)
class SearchStopped:
    """A search has ended."""

    reason: StopReason
    trials: int
    wall_seconds: float


@value_class(kw_only=True)
class Notice:
    """Something the user should know, in a sentence."""

    text: str


Event: TypeAlias = (
    StepStarted
    | StepFinished
    | TrialFinished
    | PayloadReduced
    | PassStarted
    | HistoryNarrowed
    | SuspicionChanged
    | RunsCounted
    | SearchStopped
    | Notice
)

Observer: TypeAlias = Callable[[Event], None]
"""Receives whet's events. whet drops and logs one that raises, and continues."""
