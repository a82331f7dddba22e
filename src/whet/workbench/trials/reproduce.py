"""Running the unchanged command several times: does it fail, and always the same way?"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from whet.core.budget import OutOfTimeError, StopReason
from whet.core.errors import BaselineDoesNotFail
from whet.core.oracle import AnyFailure, CostsMore, Interesting, Oracle, SameFailure
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.signature.failure_difference import told_apart
from whet.host.trial.trial_secrets import masked_words
from whet.search.flaky.rates import passes_to_be_sure
from whet.workbench.trials.bench import oracle_of
from whet.workbench.trials.investigation import Reproduction
from whet.workbench.trials.offered_rooms import offering_clean_rooms
from whet.workbench.trials.repeated import Repeated
from whet.workbench.trials.request import Judging
from whet.workbench.trials.session import Place, Session
from whet.workbench.trials.tested import Tested

FEW, MANY, FEW_WHERE_SLOW = 3, 10, 2
"""How often whet runs a command; more often if the first runs disagree."""

QUICK_SECONDS = 1.0
"""A verb that draws conclusions from passes first runs the command for this long: three failures in a row can
be chance."""

_MOST_SECONDS = 3.0
"""So long may the first few runs take that are followed by more because they say different things."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")

_BUSY = 0.1
"""The share of a processor that a program has on a crowded machine, if it doesn't wait."""

_MISSED = 0.01
"""The chance to take a candidate that fails sometimes for one that never does."""

_MOST_REPEATS = 20

HUNG_SECONDS = 10.0
"""How long the later runs of a command take that didn't end in its first one."""

_PATIENCE = 10
"""A run counts as hanging after this many times the time of earlier runs."""

_LEAST_SECONDS = 4.0


@value_class(kw_only=True)
class Baseline:
    """What the command does unchanged.

    Attributes:
        outcome: the first one that was BAD.
        oracle: judges all later trials.
        reproduction: how often it failed.
        repeats: how often a candidate must be tried before it counts as not failing.
        fails_one_way: no run failed in another way.
    """

    outcome: Outcome
    oracle: Oracle
    reproduction: Reproduction
    repeats: int
    fails_one_way: bool = False


def reproduce(
    session: Session,
    trial: Trial,
    *,
    attempts: int = FEW,
    place: Place | None = None,
    quick_seconds: float = 0.0,
) -> Baseline:
    """Run ``trial`` several times and say how often it fails the same way.

    Args:
        session: runs it.
        trial: what is run.
        attempts: how often; more often if the first runs disagree.
        place: where it runs, if not where it stands.
        quick_seconds: it is run more often as long as all runs fail and have taken less than this together.

    Raises:
        BaselineDoesNotFail: if it never fails.
    """
    judging = session.request.judging
    if session.weighing is not None:
        attempts = 1  # which is several runs

    def more(verdicts: Sequence[Verdict]) -> int:
        if trial.hang_seconds is not None and len(verdicts) < FEW_WHERE_SLOW <= attempts:
            return FEW_WHERE_SLOW - len(verdicts)
        if len(verdicts) == FEW_WHERE_SLOW and all(r.outcome.timed_out for r in repeated.runs):
            return 0  # most of the time that a hang takes is spent on being sure of it
        if attempts <= len(verdicts) < MANY:
            if _disagree(judging, repeated.runs) or _says_other_things(repeated.runs):
                return MANY - len(verdicts)
            took = sum(each.outcome.wall_seconds for each in repeated.runs)
            is_failing = verdicts[-1] is Verdict.BAD
            return int(is_failing and took < quick_seconds)
        return attempts - len(verdicts)

    with session.executor(place=place) as executor:
        repeated = Repeated(
            executor=executor,
            oracle=oracle_of(judging),
            # One that hangs sometimes must not hang the first look at it.
            trial=lambda runs: _next_run(session, trial, runs),
        )
        with offering_clean_rooms(session.bench, trial):
            stopped = repeated.run(more)
        if stopped is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        if stopped is StopReason.OUT_OF_TIME and not repeated.runs:
            raise OutOfTimeError
    first = reference_of(judging, repeated.runs)
    if first is None:
        raise _does_not_fail(trial, repeated.runs, oracle_of(judging))
    return _baseline(session, _in_any_words(judging, first, repeated.runs), first, repeated.runs)


def _next_run(session: Session, trial: Trial, runs: Sequence[Tested[int]]) -> Trial:
    """Return the trial with a limit for its next run, in which it may hang."""
    if not runs:
        return trial
    settings = session.bench.settings
    is_asked = (session.request.timeout_seconds or settings.timeout_seconds) is not None
    limits = trial.limits
    if not is_asked and runs[0].outcome.timed_out and (limits.wall_seconds or 0.0) > HUNG_SECONDS:
        # It was whet that ended it: the later runs show the same sooner.
        return replace(trial, limits=replace(limits, wall_seconds=HUNG_SECONDS))
    if not is_asked and limits.wall_seconds is not None and not runs[0].outcome.timed_out:
        trial = replace(trial, limits=replace(limits, wall_seconds=None))
    return with_patience(trial, runs[0].outcome.wall_seconds)


def held_to_site(baseline: Baseline, trial: Trial, values: tuple[str, ...] = ()) -> Oracle:
    """Return the oracle that also holds on to the exact place of the failure.

    In a shrink the code stays as it is, unless it is the payload itself, whose frames no site has.

    Args:
        baseline: what fails.
        trial: the command.
        values: data in the failure's message that belong to its cause.
    """
    oracle, failure = baseline.oracle, baseline.outcome.failure
    if not isinstance(oracle, SameFailure) or failure is None or failure.place is None:
        return oracle
    oracle = replace(oracle, values=values)
    if Path(failure.place.path).name in {payload.name for payload in trial.payloads}:
        return oracle
    return replace(oracle, site=failure.site)


def patience(wall_seconds: float) -> float:
    """Return the time limit for another run of a command that takes ``wall_seconds``.

    It is a power of two: a slightly faster or slower run then gives the same limit, and a search
    that is resumed runs nothing again of what has met it.
    """
    seconds = max(_LEAST_SECONDS, _PATIENCE * wall_seconds)
    return float(2.0 ** math.ceil(math.log2(seconds)))


def with_patience(trial: Trial, wall_seconds: float) -> Trial:
    """Return the trial with a limit of time, if it has none, so that a run that hangs ends."""
    if trial.limits.wall_seconds is not None:
        return trial
    limits = replace(trial.limits, wall_seconds=patience(wall_seconds))
    return replace(trial, limits=limits)


def _disagree(judging: Judging, runs: Sequence[Tested[object]]) -> bool:
    first = reference_of(judging, runs)
    if first is None:
        return False
    oracle = _in_any_words(judging, first, runs)
    return any(oracle.judge(each.outcome) is not Verdict.BAD for each in runs)


def _in_any_words(judging: Judging, first: Outcome, runs: Sequence[Tested[object]]) -> Oracle:
    """Return what judges the trials: one check that says other values in each run is one failure."""
    oracle, failure = oracle_of(judging, first), first.failure
    if not isinstance(oracle, SameFailure) or failure is None or failure.place is None:
        return oracle
    if all(is_busy_hang(each.outcome) for each in runs):
        return replace(oracle, any_place=True)
    freely = replace(oracle, any_words=True)
    is_worded_otherwise = any(
        oracle.judge(each.outcome) is not Verdict.BAD
        and freely.judge(each.outcome) is Verdict.BAD
        and each.outcome.failure is not None
        and each.outcome.failure.place == failure.place
        for each in runs
    )
    return freely if is_worded_otherwise else oracle


def is_busy_hang(outcome: Outcome) -> bool:
    """Whether a run was ended while it computed: where it stood then is chance."""
    return outcome.timed_out and outcome.cpu_seconds > _BUSY * outcome.wall_seconds


def _says_other_things(runs: Sequence[Tested[object]]) -> bool:
    """Whether quick runs fail with other values each time: a few of them may fail alike by chance."""
    seconds = sum(each.outcome.wall_seconds for each in runs)
    said = {_ADDRESS.sub("0x", each.outcome.summary) for each in runs}
    return len(said) > 1 and seconds < _MOST_SECONDS


def reference_of(judging: Judging, runs: Sequence[Tested[object]]) -> Outcome | None:
    """Return the reference: of the failures that were seen, one of the most frequent."""
    any_bad = oracle_of(judging)
    bad = [each.outcome for each in runs if any_bad.judge(each.outcome) is Verdict.BAD]
    if not bad:
        return None
    if not isinstance(any_bad, AnyFailure):
        return bad[0]
    (most_frequent, _), *_ = Counter(outcome.signature for outcome in bad).most_common(1)
    return next(outcome for outcome in bad if outcome.signature == most_frequent)


def _baseline(
    session: Session,
    oracle: Oracle,
    first: Outcome,
    runs: Sequence[Tested[object]],
) -> Baseline:
    others: list[str] = []
    same = 0
    fails_one_way = True
    for each in runs:
        ran = each.judged_by(oracle)
        fails_one_way &= ran.verdict is not Verdict.SKIP
        session.tell(ran, oracle)
        same += ran.verdict is Verdict.BAD
        if ran.verdict is not Verdict.BAD:
            failure = ran.outcome.failure
            others.append("passes" if failure is None else told_apart(failure, first.failure))
    reproduction = Reproduction(
        attempts=len(runs),
        same_failures=same,
        other_failures=tuple(dict.fromkeys(others)),
        wall_seconds=median(each.outcome.wall_seconds for each in runs),
        peak_rss_bytes=int(median(each.outcome.peak_rss_bytes for each in runs)),
        exit_code=first.shell_exit_code,
        trials=tuple(each.own_number for each in runs),
    )
    return Baseline(
        outcome=first,
        oracle=oracle,
        reproduction=reproduction,
        repeats=repeats_for(reproduction.rate),
        fails_one_way=fails_one_way,
    )


def repeats_for(rate: float) -> int:
    """Return how often to try before "never fails" is wrong in one case of a hundred at most."""
    return min(passes_to_be_sure(rate, 1 - _MISSED) or _MOST_REPEATS, _MOST_REPEATS)


def _does_not_fail(
    trial: Trial, runs: Sequence[Tested[object]], oracle: Oracle
) -> BaselineDoesNotFail:
    number, outcome = runs[-1].own_number, runs[-1].outcome
    if isinstance(oracle, Interesting):
        return BaselineDoesNotFail(
            f"`{trial.command[0]}` does not call the file interesting as it is: it exits"
            f" {outcome.shell_exit_code}, not 0",
            hint=f"`whet show {number}` shows its output; it runs in a folder with only a copy of the file, so give every other path as an absolute one",
        )
    command = " ".join(masked_words(trial.command))
    if isinstance(oracle, CostsMore):
        return BaselineDoesNotFail(
            f"`{command[:200]}` isn't bad ({oracle.description}): it {runs[-1].did}",
            hint="choose a lower bound" if outcome.failure is None else "what fails has no cost",
        )
    times = "" if len(runs) == 1 else f" in each of {len(runs)} runs"
    code = outcome.shell_exit_code
    return BaselineDoesNotFail(
        f"`{command[:200]}` does not fail: it exits {code}{times}",
        hint=f"`whet show {number}` shows its output; if that is wrong, say what"
        " bad means: `--bad-if 'stdout ~ NaN'`, `--bad-if 'seconds > 2'`; if it fails sometimes:"
        " `whet repeat --amplify -- COMMAND`",
    )
