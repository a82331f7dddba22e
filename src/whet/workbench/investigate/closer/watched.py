"""Failures that pass in an instrumented run: timing, or a program that detects the instruments."""

import re
from collections.abc import Mapping

from whet.core.observations.clue import Clue, Placing
from whet.core.trial import Trial
from whet.workbench.toggle.toggle import Effect, Turned, turn_each
from whet.workbench.toggle.toggles import chosen, known_toggles
from whet.workbench.trials.investigation import Reproduction
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Session

_SLOWER = ("one-core", "cpu-load")
"""They change when things happen, and put nothing into the program that it could see."""

_REPEATS = 3
_WHY = "a bug that goes away under a debugger depends on timing, or on being watched"
_ASKS = re.compile(
    r"\bsys\.gettrace\b|\bsys\.getprofile\b|\bsys\.monitoring\b|\bpydevd\b|\bdebugpy\b"
)


def watched_clue(
    session: Session,
    trial: Trial,
    baseline: Baseline,
    sources: Mapping[str, str],
    looks: int,
) -> Clue:
    """Return why a failure may go away in an instrumented run, found by runs without instruments.

    Args:
        session: runs its trials.
        trial: what fails.
        baseline: how.
        sources: the user's files by path.
        looks: number of instrumented runs; it passed in each.
    """
    sentence = f"it passed in each of {looks} instrumented runs, which are slower"
    asks = _who_asks(sources)
    if asks is not None:
        path, line, call = asks
        where = Placing(trial.cwd)(path, line)
        return Clue(
            says=f"{sentence}, and {where} asks whether it is being watched (`{call}`): then it "
            "does something else",
            why=_WHY,
            path=path,
            line=line,
        )
    toggles = chosen(_SLOWER, known_toggles(session.bench.settings.toggles))
    turned = turn_each(session, trial, baseline, toggles, repeats=_REPEATS)
    helping = [each for each in turned if _helps(each, baseline.reproduction)]
    if helping:
        with_them = " and ".join(
            f"with `{each.toggle.name}` ({each.failures} of {each.runs} runs fail)"
            for each in helping
        )
        return Clue(
            says=f"{sentence}, and it fails less often {with_them}: it depends on timing; `"
            "whet repeat --amplify` makes it more frequent",
            why=_WHY,
        )
    slow = " and ".join(f"`{each.toggle.name}`" for each in turned)
    return Clue(
        says=f"{sentence}, and failed with {slow} as without: it depends on timing, like bugs that "
        "go away under "
        "a debugger; `whet repeat --amplify` makes it more frequent",
        why=_WHY,
    )


def _helps(turned: Turned, before: Reproduction) -> bool:
    is_rarer = turned.effect in {Effect.GONE, Effect.RARER}
    return is_rarer and before.is_rarer_in(turned.failures, turned.runs)


def _who_asks(sources: Mapping[str, str]) -> tuple[str, int, str] | None:
    """Return the first line of the user's own that asks for a tracer."""
    for path, source in sorted(sources.items()):
        for number, line in enumerate(source.splitlines(), 1):
            match = _ASKS.search(line.partition("#")[0])
            if match is not None:
                return path, number, match[0]
    return None
