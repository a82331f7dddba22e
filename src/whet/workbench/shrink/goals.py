"""The user's goals for a shrink, other than the smallest file, and whether they are possible."""

from collections.abc import Collection

from whet.core.errors import BadUsage
from whet.core.oracle import Oracle
from whet.core.value_class import value_class
from whet.reduction.preference import MEASURES, Preference, patterns_of
from whet.workbench.shrink.cost_limit import SECONDS, NoCostlier
from whet.workbench.trials.reproduce import Baseline

DEFAULT_FLOOR = 0.5


@value_class(kw_only=True)
class Goals:
    """What a user asks of the result.

    Attributes:
        objective: `bytes`, `lines`, `tokens`: fewer of them; `seconds` or the name of a number
            that is measured: not more of it; empty: what reads best.
        keep: regular expressions of what must still be there.
        rate_at_least: share of its runs in which a candidate must fail; None: no limit.
        pretty: write the result on several lines in the end if it still fails so.
        resume: resume from the best that an earlier search of the same found.
    """

    objective: str = ""
    keep: tuple[str, ...] = ()
    rate_at_least: float | None = None
    pretty: bool = True
    resume: bool = False

    def check(self, measured: Collection[str]) -> None:
        """Check what can be checked before anything is run.

        Raises:
            BadUsage: if the objective isn't something that whet counts or measures.
        """
        objectives = [*MEASURES, SECONDS, *measured]
        if self.objective and self.objective not in objectives:
            raise BadUsage(
                f"`--objective {self.objective}` isn't something that whet counts or measures",
                hint=f"it can be {', '.join(objectives)}, or the name of a `--measure NAME=REGEX`",
            )

    def preference(self, payload: bytes) -> Preference:
        """Return what decides between candidates before they are run.

        Raises:
            BadUsage: if there is nothing to keep.
        """
        measure = self.objective if self.objective in MEASURES else ""
        return Preference(objective=measure, keep=patterns_of(self.keep, payload))

    def judged_by(self, oracle: Oracle, baseline: Baseline) -> Oracle:
        """Return the oracle that also holds to a number that is measured.

        Raises:
            BadUsage: if the command did not report it.
        """
        if not self.objective or self.objective in MEASURES:
            return oracle
        bar = NoCostlier(oracle, self.objective, baseline.reproduction.wall_seconds)
        number = bar.number_of(baseline.outcome)
        if number is None:
            raise BadUsage(
                f"the command does not print `{self.objective}`, so it cannot be the objective",
                hint="check its output and the pattern of `--measure`",
            )
        if self.objective != SECONDS:
            bar.most = number
        return bar

    def floor(self, baseline: Baseline) -> float:
        """Return how often a candidate must fail at least; 0: once is enough.

        Raises:
            BadUsage: if the command itself fails more rarely.
        """
        rate = baseline.reproduction.rate
        if self.rate_at_least is None:
            return 0.0 if rate >= 1 else rate / 2
        if rate < self.rate_at_least:
            raise BadUsage(
                f"the original command fails in {rate:.0%} of its runs, less than"
                f" `--rate-at-least {self.rate_at_least}`",
                hint=f"ask for less: `--rate-at-least {rate / 2:.2g}`",
            )
        return self.rate_at_least
