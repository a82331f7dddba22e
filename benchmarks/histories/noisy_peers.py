"""What the noisy search is compared with: so many runs for each step, and `git_bayesect`.

`git_bayesect` (PyPI) is run in an environment of its own, made on the spot: its `Bisector`, which
is its algorithm without git, is asked and told here as its `run` command does it. Runs of git
itself would cost hours and change no number.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PLACE = Path(__file__).parents[1] / ".venv-bayesect"
PACKAGES = ("git_bayesect==1.2", "numpy", "scipy")

_MOST_RUNS = 60
_MOST_FAILURES = 12

# Its index 0 is the newest version, and what is observed is a failure.
_BAYESECT = """
import json, random, sys
import numpy as np
from git_bayesect import Bisector
np.seterr(all="ignore")
size, bad, good, confidence, searches = json.loads(sys.argv[1])
runs = right = 0
for seed in range(searches):
    chance = random.Random(seed)
    culprit = chance.randint(1, size)
    search = Bisector(np.ones(size))
    while search.distribution.max() < confidence:
        index = search.select()
        rate = bad if size - index >= culprit else good
        search.record(index, chance.random() < rate)
        runs += 1
    right += size - int(search.distribution.argmax()) == culprit
print(json.dumps([runs / searches, right / searches]))
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """So many runs for each step.

    Attributes:
        runs: at the most, for a version.
        failures: so many make it bad.
        mean_runs: of a whole search.
        right: share of the searches that find the culprit.
    """

    runs: int
    failures: int
    mean_runs: float
    right: float


def best_rule(size: int, rates: tuple[float, float], confidence: float) -> Rule | None:
    """Return the rule that takes the fewest runs of those that are right often enough."""
    steps = list(_steps(size))
    found: Rule | None = None
    for failures in range(1, _MOST_FAILURES + 1):
        for runs in range(failures, _MOST_RUNS + 1):
            rule = _rule(steps, rates, runs, failures)
            if rule.right >= confidence and (found is None or rule.mean_runs < found.mean_runs):
                found = rule
    return found


def _rule(
    steps: list[tuple[int, int]], rates: tuple[float, float], runs: int, failures: int
) -> Rule:
    """Work out a rule exactly; the runs are those of a search that goes right."""
    taken_for_bad, runs_if_bad = _step(rates[0], runs, failures)
    mistaken, runs_if_good = _step(rates[1], runs, failures)
    right = total = 0.0
    for bad, good in steps:
        right += taken_for_bad**bad * (1 - mistaken) ** good
        total += bad * runs_if_bad + good * runs_if_good
    return Rule(runs, failures, total / len(steps), right / len(steps))


def _steps(size: int) -> Iterator[tuple[int, int]]:
    """Yield for each culprit how many bad and good versions a bisection of a line tests."""
    for culprit in range(1, size + 1):
        low, high, bad, good = 0, size, 0, 0
        while high - low > 1:
            middle = (low + high) // 2
            if middle >= culprit:
                high, bad = middle, bad + 1
            else:
                low, good = middle, good + 1
        yield bad, good


@cache
def _step(rate: float, runs: int, failures: int) -> tuple[float, float]:
    """Return how likely a version is called bad, and the runs until it is called anything."""
    if failures == 0:
        return 1.0, 0.0
    if runs < failures:
        return 0.0, 0.0
    failed, passed = _step(rate, runs - 1, failures - 1), _step(rate, runs - 1, failures)
    return (
        rate * failed[0] + (1 - rate) * passed[0],
        1 + rate * failed[1] + (1 - rate) * passed[1],
    )


def install_bayesect() -> str:
    """Make the environment; return why that is not possible."""
    python = PLACE / "bin" / "python"
    if python.exists() and not _import_error(python):
        return ""
    uv = shutil.which("uv")
    if uv is None:
        return "uv is missing: `pip install uv`"
    for words in (
        ["venv", "--clear", str(PLACE)],
        ["pip", "install", "-p", str(python), *PACKAGES],
    ):
        done = subprocess.run([uv, "-q", *words], check=False, capture_output=True, text=True)
        if done.returncode:
            return f"`uv {' '.join(words)}`: {done.stderr.strip()}"
    return _import_error(python)


def _import_error(python: Path) -> str:
    done = subprocess.run(
        [python, "-c", "import git_bayesect, scipy"], check=False, capture_output=True, text=True
    )
    return done.stderr.strip()


def bayesect(
    size: int, rates: tuple[float, float], confidence: float, searches: int
) -> tuple[float, float]:
    """Return the mean runs of `git_bayesect` and how often it is right."""
    asked = json.dumps([size, *rates, confidence, searches])
    done = subprocess.run(
        [PLACE / "bin" / "python", "-c", _BAYESECT, asked],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    runs, right = json.loads(done.stdout)
    return float(runs), float(right)
