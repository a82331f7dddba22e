"""The user's request, parsed once into one value."""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from whet.core.limits import Limits
from whet.core.trial import ResetStep
from whet.core.value_class import value_class

if TYPE_CHECKING:  # not loaded for a single trial: `whet run` must start at once
    from whet.core.condition import Condition
    from whet.core.cost_bound import CostBound
    from whet.core.expectation import Expectation


def _no_strings() -> dict[str, str]:
    return {}


@value_class(kw_only=True)
class Judging:
    """What BAD means; all empty: the same failure as the first one.

    Attributes:
        condition: over measurements and output.
        oracle: script that becomes the trial's command: 0 good, 1 bad, 125 skip.
        interesting: script that becomes the trial's command: 0 is BAD.
        also_interesting: exit code by which that script says that it met something else.
        bound: the cost above which several runs together are BAD.
    """

    condition: "Condition | None" = None
    oracle: str = ""
    interesting: str = ""
    also_interesting: int | None = None
    bound: "CostBound | None" = None

    @property
    def script(self) -> str:
        """The script that judges, or nothing."""
        return self.oracle or self.interesting


@value_class(kw_only=True)
class TrialRequest:
    """A trial as the user asked for it: every verb that runs trials takes the same.

    Attributes:
        command: argument vector.
        cwd: folder to start in; empty: the current one.
        environment: overrides for this trial alone.
        stdin: file to read from; empty: nothing, or what whet itself was given.
        reset: steps before the command, in the order of the command line.
        timeout_seconds: limit of wall time.
        limits: what else the trial may use.
        limit_set: name of a set of limits; empty: none.
        hang_seconds: time without output after which it counts as a hang.
        hangs_if_idle: only if it does nothing either.
        measures: name to pattern of a number that the program prints.
        judging: what BAD means.
        name: a name to find the trial by.
        note: what its author thinks.
        expectations: what its author expects.
    """

    command: tuple[str, ...]
    cwd: str = ""
    environment: Mapping[str, str] = field(default_factory=_no_strings)
    stdin: str = ""
    reset: tuple[ResetStep, ...] = ()
    timeout_seconds: float | None = None
    limits: Limits = field(default_factory=Limits)
    limit_set: str = ""
    hang_seconds: float | None = None
    hangs_if_idle: bool = False
    measures: Mapping[str, str] = field(default_factory=_no_strings)
    judging: Judging = field(default_factory=Judging)
    name: str = ""
    note: str = ""
    expectations: "tuple[Expectation, ...]" = ()

    @property
    def tells_streams_apart(self) -> bool:
        """Whether its author asks for what came on one of the two streams."""
        expected = [each.condition for each in self.expectations]
        conditions = (self.judging.condition, *expected)
        return any(each is not None and each.tells_streams_apart for each in conditions)
