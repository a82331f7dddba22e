"""Whether a flaky failure depends on the order of sets: Python's hash seed."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.inspect.presence import pythons_in
from whet.search.flaky.rates import passes_to_be_sure
from whet.workbench.toggle.amplifiers import RANDOM_SEED, hash_seed, random_seed
from whet.workbench.toggle.toggle import signs_of, turned_on
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Session

SEED = "PYTHONHASHSEED"
_MISSED, _WRONG = 0.05, 0.01
_MOST_SEEDS, _MOST_RUNS = 40, 12
_MOST_SECONDS = 120.0
_LEAST_RUNS = 2
_UNREAD = 3
"""After so many runs that say nothing, no seed is read."""


@value_class(kw_only=True)
class HeldOrder:
    """A seed with which it fails each time, and one with which it passes each time.

    Attributes:
        failing: the seed with which it fails in each run.
        failing_runs: number of runs with that seed.
        passing: the seed with which it passes in each run.
        passing_runs: number of runs with that seed.
        trials: the numbers of all of them.
        is_random: it is the seed of random numbers, and not of the order of sets.
    """

    failing: int
    failing_runs: int
    passing: int
    passing_runs: int
    trials: tuple[int, ...] = ()
    is_random: bool = False

    @property
    def says(self) -> str:
        """Both, in a sentence."""
        fails = f"it fails every time ({self.failing_runs} of {self.failing_runs} runs)"
        passes = f"it passes every time ({self.passing_runs} of {self.passing_runs})"
        if self.is_random:
            return (
                f"with its random numbers started from seed {self.failing} {fails}, from seed"
                f" {self.passing} {passes}: it depends on random numbers that the program doesn't seed"
            )
        return (
            f"with `{SEED}={self.failing}` {fails}, with `{SEED}={self.passing}` {passes}: it"
            " depends on the hashes of texts, and so the order of sets, which change from run to run"
        )


def held_order(
    session: Session, trial: Trial, baseline: Baseline, *, is_random: bool = False
) -> HeldOrder | None:
    """Look for a seed that fails each time and one that passes each time; None: there are none.

    The chance to claim it of a failure that has nothing to do with the seed is 1 in 100; that to miss a
    seed that fails is 5 in 100.

    Args:
        session: runs its trials.
        trial: what fails.
        baseline: how.
        is_random: seed random numbers, and not the order of sets.
    """
    rate = baseline.reproduction.rate
    switch = random_seed if is_random else hash_seed
    with_signs = replace(session, tasks=replace(session.tasks, reads_signs=is_random))
    trials: list[int] = []

    def run(seeds: Iterable[int]) -> Iterator[Verdict]:
        seeded = (turned_on(session.bench, trial, (switch(seed),)) for seed in seeds)
        for ran in with_signs.run_all(seeded, baseline.oracle, "seeded"):
            trials.append(ran.own_number)
            is_read = not is_random or f"inside:{RANDOM_SEED}" in signs_of(ran.outcome)
            yield ran.verdict if is_read else Verdict.SKIP

    seeds = _one_of_each(run(range(1, _seeds(rate) + 1)))
    if seeds is None:
        return None
    failing, passing = seeds
    failing_runs, passing_runs = sure_runs(rate), sure_runs(1 - rate)
    again = [failing] * (failing_runs - 1) + [passing] * (passing_runs - 1)
    wanted = [Verdict.BAD] * (failing_runs - 1) + [Verdict.GOOD] * (passing_runs - 1)
    if not all(verdict is each for verdict, each in zip(run(again), wanted, strict=True)):
        return None
    return HeldOrder(
        failing=failing, failing_runs=failing_runs, passing=passing, passing_runs=passing_runs,
        trials=tuple(trials), is_random=is_random,
    )  # fmt: skip


def can_tell(
    bench: Workbench, trial: Trial, baseline: Baseline, *, is_random: bool = False
) -> bool:
    """Whether it may be looked for: it is flaky, in Python, no seed is set, and it takes no longer than this."""
    reproduction = baseline.reproduction
    is_set = not is_random and (SEED in bench.environment or SEED in trial.environment)
    if is_set or not 0 < reproduction.rate < 1:
        return False
    runs = (
        _seeds(reproduction.rate) + sure_runs(reproduction.rate) + sure_runs(1 - reproduction.rate)
    )
    return is_python(trial, baseline) and runs * reproduction.wall_seconds < _MOST_SECONDS


def is_python(trial: Trial, baseline: Baseline) -> bool:
    """Whether the command is a Python program, or started one."""
    return bool(trial.surroundings.interpreter or pythons_in(baseline.outcome.evidence))


def _seeds(rate: float) -> int:
    """Return how many seeds to try, so that one that fails and one that passes are among them."""
    rarer = min(rate, 1 - rate)
    return min(passes_to_be_sure(rarer, 1 - _MISSED) or _MOST_SEEDS, _MOST_SEEDS)


def _one_of_each(verdicts: Iterator[Verdict]) -> tuple[int, int] | None:
    """Return the first seed that fails and the first that passes; None: there aren't both."""
    failing: int | None = None
    passing: int | None = None
    for seed, verdict in enumerate(verdicts, 1):
        if verdict is Verdict.SKIP and failing is None and passing is None and seed > _UNREAD:
            return None
        if verdict is Verdict.BAD:
            failing = failing or seed
        elif verdict is Verdict.GOOD:
            passing = passing or seed
        if failing is not None and passing is not None:
            return failing, passing
    return None


def sure_runs(rate: float) -> int:
    """Return how many runs that all come out so are no chance, at that rate.

    One of the two rates is a half at most, for which 7 runs are enough.
    """
    runs = passes_to_be_sure(1 - rate, 1 - _WRONG) or _MOST_RUNS
    return min(max(_LEAST_RUNS, runs), _MOST_RUNS)
