"""The search for what makes a failure more frequent, with a bound on every wrong claim together.

Each round runs the command as it is once and each *amplifier* still in question once, so that
whatever else changes on the machine meanwhile touches both alike. What such a pair of runs says
is a factor of evidence whose mean is at most 1 if the amplifier doesn't raise the rate (Turner,
Ly and Grünwald 2024, "Generic E-variables for exact sequential k-sample tests"). The product of
the factors therefore reaches 1/e with a chance of at most e, however long one looks (Ville 1939),
so that runs may go where they tell most. All amplifiers share the error that was stated
(Bonferroni): the chance that *any* that is named raises nothing is at most that.

The less promising half is left out every few rounds (sequential halving: Karnin, Koren and Somekh
2013), but for what has gathered evidence. What is left runs against each other at the end, together too, in runs that count anew:
the luckiest of many would look better than it is in the runs that chose it.
"""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Generic, TypeAlias, TypeVar

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.flaky.failure_rates import Runs
from whet.search.flaky.rates import wilson
from whet.search.proposal import Search
from whet.search.round import Round

AmplifierT = TypeVar("AmplifierT")
Arm: TypeAlias = tuple[AmplifierT, ...]
"""The switches that are on together; none: the plain command."""

ERROR = 0.05
STAGE_ROUNDS = 4
MOST_ROUNDS = 32
RUN_OFF_ROUNDS = 10
_FINALISTS = 3
_CONFIDENCE = 0.95
_PSEUDO_RUNS = 2.0
_NEARLY_ALWAYS = 0.95
_LEAST_RATE, _MOST_RATE = 0.02, 0.98


@value_class(kw_only=True)
class Amplified(Generic[AmplifierT]):
    """What is known of one amplifier, or of some together.

    Attributes:
        arm: what is turned on.
        runs: how many runs failed and passed with it.
        raises: it makes the failure more frequent, with the stated error.
        evidence: how many times likelier its runs are so; at least 1/error times the number of
            amplifiers where ``raises`` is said.
    """

    arm: tuple[AmplifierT, ...]
    runs: Runs
    raises: bool
    evidence: float


@value_class(kw_only=True)
class Amplification(Generic[AmplifierT]):
    """What a search for amplifiers found.

    Attributes:
        as_it_is: runs of the command without any.
        tried: each amplifier, in the order in which they were given.
        run_off: those that raise the rate against each other, alone and together, in runs of
            their own; the one with the highest rate first. Empty: none raises it.
    """

    as_it_is: Runs
    tried: tuple[Amplified[AmplifierT], ...]
    run_off: tuple[Amplified[AmplifierT], ...]


def evidence_of_pair(*, plain: bool, amplified: bool, rates: tuple[float, float]) -> float:
    """Return the factor by which one pair of runs speaks for a raised rate.

    Its mean is at most 1 for every pair of true rates of which the second isn't higher.

    Args:
        plain: the run as it is failed.
        amplified: the run with the amplifier failed.
        rates: the two rates that one bets on; the second isn't lower.
    """
    low, high = rates
    middle = (low + high) / 2

    of_plain = low / middle if plain else (1 - low) / (1 - middle)
    of_amplified = high / middle if amplified else (1 - high) / (1 - middle)
    return of_plain * of_amplified


class AmplificationSearch(Generic[AmplifierT]):
    """A search under way; ``result`` tells what is known at any moment."""

    def __init__(
        self,
        amplifiers: Sequence[AmplifierT],
        *,
        before: Runs | None = None,
        error: float = ERROR,
        go_together: Callable[[AmplifierT, AmplifierT], bool] = lambda one, other: one != other,
        most_rounds: int = MOST_ROUNDS,
    ) -> None:
        """Start.

        Args:
            amplifiers: what may raise the rate.
            before: what runs of the command as it is gave before; they say what to bet on.
            error: chance that anything is named which raises nothing.
            go_together: whether two amplifiers may be turned on at once.
            most_rounds: runs after which an amplifier without an effect counts as raising nothing.

        Raises:
            ValueError: if the error isn't between 0 and 1.
        """
        if not 0 < error < 1:
            raise ValueError(f"an error of {error} is not between 0 and 1")
        self._arms: list[Arm[AmplifierT]] = [(each,) for each in amplifiers]
        self._before = before or Runs()
        self._threshold = math.log(max(len(self._arms), 1) / error)
        self._go_together = go_together
        self._most_rounds = most_rounds
        self._runs: dict[Arm[AmplifierT], Runs] = {}
        self._log_evidence: dict[Arm[AmplifierT], float] = dict.fromkeys(self._arms, 0.0)
        self._run_off: dict[Arm[AmplifierT], Runs] = {}

    # ---- the search ----

    def search(self) -> Search[Arm[AmplifierT], Amplification[AmplifierT]]:
        """Propose rounds, each to be told whole, until every amplifier is judged."""
        open_arms: list[Arm[AmplifierT]] = list(self._arms)
        for number in range(1, self._most_rounds + 1):
            if not open_arms:
                break
            self._tell(open_arms, (yield Round(((), *open_arms))))
            open_arms = [each for each in open_arms if not self._raises(each)]
            if number % STAGE_ROUNDS == 0:
                open_arms = self._better_half(open_arms)
        yield from self._run_off_rounds()
        return self.result()

    def _tell(self, arms: Sequence[Arm[AmplifierT]], verdicts: Sequence[Verdict]) -> None:
        plain, *others = verdicts
        for arm, verdict in zip(arms, others, strict=True):
            if plain is not Verdict.SKIP and verdict is not Verdict.SKIP:
                # The bet stands before the runs are looked at; else it would be no bet.
                rates = self._bet(arm)
                self._log_evidence[arm] += math.log(
                    evidence_of_pair(
                        plain=plain is Verdict.BAD, amplified=verdict is Verdict.BAD, rates=rates
                    )
                )
        for arm, verdict in zip(((), *arms), verdicts, strict=True):
            self._count(self._runs, arm, verdict)

    @staticmethod
    def _count(runs: dict[Arm[AmplifierT], Runs], arm: Arm[AmplifierT], verdict: Verdict) -> None:
        if verdict is not Verdict.SKIP:
            runs[arm] = runs.get(arm, Runs()).plus(failed=verdict is Verdict.BAD)

    def _bet(self, arm: Arm[AmplifierT]) -> tuple[float, float]:
        """Return the rates to bet on: as seen so far, and halfway to always at first."""
        plain, seen = self._runs.get((), Runs()), self._runs.get(arm, Runs())
        failed = plain.failed + self._before.failed
        low = _within((failed + 0.5) / (plain.total + self._before.total + 1))
        guess = (1 + low) / 2
        high = (seen.failed + _PSEUDO_RUNS * guess) / (seen.total + _PSEUDO_RUNS)
        return low, max(low, _within(high))

    def _raises(self, arm: Arm[AmplifierT]) -> bool:
        return self._log_evidence[arm] >= self._threshold

    def _better_half(self, arms: Sequence[Arm[AmplifierT]]) -> list[Arm[AmplifierT]]:
        """Return those worth more runs: the better half and whatever has gathered evidence.

        What fails no more often than the command as it is goes in any case.
        """
        plain = self._rate(())
        ordered = sorted(arms, key=lambda each: -self._log_evidence[each])
        kept = set(ordered[: math.ceil(len(ordered) / 2)])
        kept |= {each for each in arms if self._log_evidence[each] > 0}
        return [each for each in arms if each in kept and self._rate(each) > plain]

    def _rate(self, arm: Arm[AmplifierT]) -> float:
        runs = self._runs.get(arm, Runs())
        return runs.failed / runs.total if runs.total else 0.0

    def _run_off_rounds(self) -> Search[Arm[AmplifierT], None]:
        arms = self._finalists()
        for number in range(1, RUN_OFF_ROUNDS + 1):
            if not arms:
                return
            for arm, verdict in zip(arms, (yield Round(arms)), strict=True):
                self._count(self._run_off, arm, verdict)
            if number == RUN_OFF_ROUNDS // 2:
                arms = self._ranked()[: math.ceil(len(arms) / 2)]

    def _finalists(self) -> list[Arm[AmplifierT]]:
        """Return the best on their own, in pairs, and all together."""
        raising = sorted(filter(self._raises, self._arms), key=lambda each: -self._rate(each))
        best = [each for (each,) in raising[:_FINALISTS]]
        arms: list[Arm[AmplifierT]] = [(each,) for each in best]
        if not arms or self._rate(arms[0]) >= _NEARLY_ALWAYS:
            return arms  # nothing can do much better
        together: list[Arm[AmplifierT]] = [(best[0], other) for other in best[1:]]
        together.append(tuple(best))  # of two it is their pair once more, of one itself
        return [each for each in dict.fromkeys([*arms, *together]) if self._fit(each)]

    def _fit(self, arm: Arm[AmplifierT]) -> bool:
        return all(self._go_together(one, other) for one, other in combinations(arm, 2))

    def _ranked(self) -> list[Arm[AmplifierT]]:
        """Return what ran against each other, the most frequent failure first, of equals the less."""
        return sorted(
            self._run_off,
            key=lambda each: (-_surely(self._run_off[each]), len(each)),
        )

    # ---- what is known ----

    def result(self) -> Amplification[AmplifierT]:
        """Return what is known by now."""
        return Amplification(
            as_it_is=Runs(
                self._before.failed + self._runs.get((), Runs()).failed,
                self._before.passed + self._runs.get((), Runs()).passed,
            ),
            tried=tuple(self._known(each, self._runs.get(each, Runs())) for each in self._arms),
            run_off=tuple(self._known(each, self._run_off[each]) for each in self._ranked()),
        )

    def _known(self, arm: Arm[AmplifierT], runs: Runs) -> Amplified[AmplifierT]:
        singles = [(each,) for each in arm]
        evidence = min((self._log_evidence[each] for each in singles), default=0.0)
        raises = all(self._raises(each) for each in singles)
        return Amplified(arm=arm, runs=runs, raises=raises, evidence=math.exp(min(evidence, 700)))


def _within(rate: float) -> float:
    return min(max(rate, _LEAST_RATE), _MOST_RATE)


def _surely(runs: Runs) -> float:
    return wilson(runs.failed, runs.total, _CONFIDENCE).low
