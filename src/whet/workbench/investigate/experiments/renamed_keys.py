"""Whether a name in a data file that is no key of the program is a slip: it is tried as one that is."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from whet.core.budget import OutOfTimeError
from whet.core.errors import WhetError
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.evidence.experiments.unread_keys import UnreadKey, unread_keys
from whet.host.inspect.presence import pythons_in
from whet.host.inspect.stacks import is_user_code
from whet.workbench.investigate.experiments.other_data import RunAll, own_files, with_content
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.reproduce import Baseline

_MOST_RUNS = 12
_PASSES = 2


def renamed_clue(
    bench: Workbench,
    trial: Trial,
    baseline: Baseline,
    files: Sequence[str],
    run_all: RunAll,
    until: float,
) -> Clue | None:
    """Return the first name with whose change in a data file the command passes; None: with none tried.

    Args:
        bench: the workbench.
        trial: what fails, in a room in which nothing that it writes stays.
        baseline: how; a failure that comes only sometimes would go on its own.
        files: the data files that the program has read.
        run_all: runs trials.
        until: when no further name is tried, on the monotonic clock.
    """
    if not baseline.reproduction.is_deterministic:
        return None
    candidates = list(_candidates(bench, trial, baseline, files))[:_MOST_RUNS]
    if not candidates:
        return None
    judge, at = baseline.oracle.judge, Placing(trial.cwd)
    with suppress(OutOfTimeError, WhetError, OSError):  # as where this machine has no such room
        folder = bench.cleanup_journal.temporary_folder()
        try:
            for path, text, key in candidates:
                if time.monotonic() + baseline.reproduction.wall_seconds > until:
                    return None
                changed = with_content(trial, folder / "changed", path, key.text)
                ((first, outcome),) = run_all([changed])
                if judge(outcome) is not Verdict.GOOD:
                    continue
                as_it_is = with_content(trial, folder / "as-it-is", path, text)
                ((control, failed), (again, passed)) = run_all([as_it_is, changed])
                if judge(failed) is Verdict.BAD and judge(passed) is Verdict.GOOD:
                    return _clue(path, key, (first, again, control), at)
        finally:
            bench.cleanup_journal.discard(folder)
    return None


def _clue(path: Path, key: UnreadKey, trials: tuple[int, int, int], at: Placing) -> Clue:
    first, again, control = trials
    place = at(str(path), key.line)
    return Clue(
        says=f"`{key.name}` at {place} isn't a key that the program has: with `{key.instead}`, which is one,"
        " the command passes",
        why=f"trials {first} and {again} ran with that name and passed, {control} with the file as it is and failed",
        path=str(path),
        line=key.line,
        sureness=Sureness.SHOWN if key.is_misspelt else Sureness.POSSIBLE,
        trials=trials,
        next_step=f"name it `{key.instead}` at {place}",
    )


def _candidates(
    bench: Workbench, trial: Trial, baseline: Baseline, files: Sequence[str]
) -> Iterator[tuple[Path, str, UnreadKey]]:
    pythons = pythons_in(baseline.outcome.evidence)
    modules = {path for each in pythons for path in each.files if is_user_code(path)}
    sources: list[str] = []
    for module in sorted(modules):
        with suppress(OSError):
            sources.append(Path(module).read_text("utf-8", "replace"))
    for path, text in own_files(bench, trial, files):
        for key in unread_keys(path.name, text, sources):
            yield path, text, key
