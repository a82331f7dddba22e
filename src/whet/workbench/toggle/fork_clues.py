"""Whether a forked process fails for what its parent had begun: with another start it passes then."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.text.record import JsonObject
from whet.core.trial import Trial
from whet.evidence.clues.forks import Fork, forks_in
from whet.workbench.toggle.toggle import Effect, Turned, turn_each
from whet.workbench.toggle.toggles import chosen, known_toggles
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Session

SPAWN = "spawn"
_SWITCHES = (SPAWN, "no-workers", "one-process")
_SEVERAL, _REPEATS, _LAST_BYTES = 3, 8, 16_000
"""Runs with a switch: of a failure that always comes, and of one that may not."""
_CUDA = re.compile(r"\bCUDA\b|\bcu(?:BLAS|DNN|FFT)\b|\bNCCL\b")
_WHY = "a forked process has the memory of its parent, but neither its threads nor its GPU"
# What Python, PyTorch and CUDA say where a process fails that another one has started.
_IN_A_PROCESS = re.compile(
    r"^Process [\w:.-]+:\s*$|RemoteTraceback|worker process \d|worker \(pid|in forked subprocess"
    r"|CUDA error: initialization error|process pool was terminated abruptly",
    re.MULTILINE,
)


def fails_in_a_process(baseline: Baseline) -> bool:
    """Whether the program says that a process fails that it has started."""
    return _IN_A_PROCESS.search(_said(baseline)) is not None


def _said(baseline: Baseline) -> str:
    outcome = baseline.outcome
    summary = "" if outcome.failure is None else outcome.failure.summary
    return f"{summary}\n{outcome.stderr.tail(_LAST_BYTES).decode('utf-8', 'replace')}"


def fork_clues(
    session: Session, trial: Trial, baseline: Baseline, told: Sequence[JsonObject]
) -> list[Clue]:
    """Return what a forked process fails for, if it passes where it is started in another way.

    Args:
        session: runs its trials.
        trial: what fails.
        baseline: how.
        told: the reports of a run that was looked at closely.
    """
    forks = list(forks_in(told))
    if not forks or not fails_in_a_process(baseline):
        return []
    fork = next((each for each in forks if each.cuda is not None), forks[0])
    if fork.cuda is not None and not _CUDA.search(_said(baseline)):
        fork = replace(fork, cuda=None)  # it fails for something else
    # Without CUDA's own word, a process that starts later may only win a race.
    repeats = None if fork.cuda is not None else _SEVERAL
    repeats = repeats if baseline.reproduction.is_deterministic else _REPEATS
    switches = [each for each in _SWITCHES if each != SPAWN or _can_be_imported_again(fork)]
    for each in chosen(switches, known_toggles(session.bench.settings.toggles)):
        (turned,) = turn_each(session, trial, baseline, (each,), repeats=repeats)
        if turned.effect is Effect.GONE and turned.took is not False:
            return [_clue(fork, turned, Placing(trial.cwd))]
    return []


def _can_be_imported_again(fork: Fork) -> bool:
    """Whether a module may be imported again in a new process: else each would start more of them."""
    if fork.at.function != "<module>":
        return True
    try:
        return "__main__" in Path(fork.at.path).read_text("utf-8", "replace")
    except OSError:
        return False


def _clue(fork: Fork, turned: Turned, at: Placing) -> Clue:
    forks = at(fork.at.path, fork.at.number)
    name = turned.toggle.name
    passes = f"with `{name}` ({turned.toggle.does}) the command passes"
    begun = ""
    if fork.cuda is not None:
        cuda = at(fork.cuda.path, fork.cuda.number)
        says = f"CUDA doesn't survive a fork: {cuda} starts it, and {forks} forks a process afterwards; {passes}"
        begun = f" before {cuda} starts CUDA"
    elif name == SPAWN:
        ran = "".join(
            f"; thread `{thread}`, started at {at(line.path, line.number)}, ran then"
            for thread, line in fork.threads[:1]
        )
        says = f"the process that {forks} forks fails for something that it takes over from its parent: {passes}{ran}"
        begun = " earlier"
    else:
        says = f"the process that {forks} forks fails: {passes}"
    is_shown = fork.cuda is not None or name == SPAWN
    return Clue(
        says=says,
        why=_WHY,
        path=fork.at.path,
        line=fork.at.number,
        sureness=Sureness.SHOWN if is_shown else Sureness.POSSIBLE,
        trials=(turned.trial,),
        next_step=f'start the processes from scratch (`multiprocessing.set_start_method("spawn")`, or'
        f' `multiprocessing_context="spawn"` of a DataLoader), start them{begun},'
        " or use none (`num_workers=0`)"
        if is_shown
        else "",
    )
