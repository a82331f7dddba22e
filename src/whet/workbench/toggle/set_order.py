"""Whether a flaky failure depends on the order of sets: Python's hash seed."""

from collections.abc import Callable

from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.inspect.presence import pythons_in
from whet.search.flaky.rates import passes_to_be_sure
from whet.workbench.toggle.amplifiers import hash_seed
from whet.workbench.toggle.toggle import Effect, Turned, turn_each
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Session

SEED = "PYTHONHASHSEED"
_MISSED, _WRONG = 0.05, 0.01
_MOST_SEEDS, _MOST_RUNS = 40, 12
_MOST_SECONDS = 120.0
_LEAST_RUNS = 2


@value_class(kw_only=True)
class HeldOrder:
    """A seed with which it fails each time, and one with which it passes each time.

    Attributes:
        failing: the seed with which it fails in each run.
        failing_runs: number of runs with that seed.
        passing: the seed with which it passes in each run.
        passing_runs: number of runs with that seed.
    """

    failing: int
    failing_runs: int
    passing: int
    passing_runs: int

    @property
    def says(self) -> str:
        """Both, in a sentence."""
        return (
            f"with `{SEED}={self.failing}` it fails every time ({self.failing_runs} of"
            f" {self.failing_runs} runs), with `{SEED}={self.passing}` it passes every time ({self.passing_runs} of {self.passing_runs}): it depends on the order of a set, "
            "which changes from run to run"
        )


def held_order(session: Session, trial: Trial, baseline: Baseline) -> HeldOrder | None:
    """Look for a seed that fails each time and one that passes each time; None: there are none.

    The chance to claim it of a failure that has nothing to do with the order is 1 in 100; that to miss a
    seed that fails is 5 in 100.
    """
    rate = baseline.reproduction.rate

    def tried(seed: int) -> Turned:
        return turn_each(session, trial, baseline, (hash_seed(seed),), repeats=1)[0]

    seeds = _one_of_each(tried, _seeds(rate))
    if seeds is None:
        return None
    failing, passing = seeds
    failing_runs, passing_runs = sure_runs(rate), sure_runs(1 - rate)
    if not all(tried(failing).failures for _ in range(failing_runs)):
        return None
    if not all(tried(passing).effect is Effect.GONE for _ in range(passing_runs)):
        return None
    return HeldOrder(
        failing=failing, failing_runs=failing_runs, passing=passing, passing_runs=passing_runs
    )


def can_tell(bench: Workbench, trial: Trial, baseline: Baseline) -> bool:
    """Whether it may be looked for: it is flaky, in Python, no seed is set, and it takes no longer than this."""
    reproduction = baseline.reproduction
    if SEED in bench.environment or SEED in trial.environment or not 0 < reproduction.rate < 1:
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


def _one_of_each(try_seed: Callable[[int], Turned], most: int) -> tuple[int, int] | None:
    failing: int | None = None
    passing: int | None = None
    for seed in range(1, most + 1):
        turned = try_seed(seed)
        if turned.failures:
            failing = failing or seed
        elif turned.effect is Effect.GONE:
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
