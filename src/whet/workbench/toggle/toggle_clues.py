"""Which of the switches that fit a symptom make the failure go away, move, or say more."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from whet.core.errors import BaselineDoesNotFail, GpuNotHeld
from whet.core.failure import FailureKind
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.observations.evidence import Evidence
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.evidence.clues.not_a_number import WHY as WHY_NUMBERS
from whet.evidence.clues.not_a_number import forward_call
from whet.host.inspect.presence import own_files_with
from whet.search.flaky.rates import chance_of_no_difference
from whet.workbench.toggle.callers import caller_in
from whet.workbench.toggle.likeness import tells_more
from whet.workbench.toggle.toggle import Effect, Turned, turn_each, turned_on
from whet.workbench.toggle.toggles import chosen, known_toggles
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.investigation import Reproduction
from whet.workbench.trials.reproduce import Baseline, reproduce
from whet.workbench.trials.session import Session

_CUDA = re.compile(r"\bCUDA\b|\bcu(?:BLAS|DNN|FFT)\b|device-side assert|\bHIP error", re.IGNORECASE)
_LAST_BYTES = 8000
_SIGNALS = ("debug-malloc",)
_REPEATS, _CHANCE = 8, 0.05
_OF_CHANCE = (Effect.GONE, Effect.RARER)
_ANOMALY, _SYNC = "torch-anomaly", "cuda-sync"
# CUDA's `assert`, in a line for each thread that meets it.
_CHECK = re.compile(r"thread: \[[\d,]+\] Assertion `(?P<check>.{1,200}?)` failed", re.DOTALL)
_WHY_CUDA = "a GPU reports an error late, on another line; synchronous kernels report it at once"
_EVAL, _ZERO, _REGISTERED = "eval-without-grad", "zero-grads", "registered"
_RESEEDED, _ALIKE = "reseeded-forks", "alike-forks"
_RESEEDED_RUNS = 3
_DRAWS = re.compile(r"\brandom\b|\brandn?\b|\bdefault_rng\b|\bmanual_seed\b")
_FORKS = re.compile(
    r"\bmultiprocessing\b|\bProcessPoolExecutor\b|\bos\.fork\b|\bDataLoader\b|\bjoblib\b"
)
_GRADIENTS_OFF = re.compile(r"\b(?:no_grad|inference_mode|set_grad_enabled)\b")
_STEPS, _CLEARED = re.compile(r"\.backward\("), re.compile(r"\bzero_grad\b|\.grad = None")
_OF_ALL = re.compile(r"\.(?:double|half|float|bfloat16|to|cuda|eval|train)\(")
_MODULES = re.compile(r"\bnn\.Module\b|\bimport Module\b")
_SETS_MODE = re.compile(r"\.train\(")
_WHY_SLIPS = "a slip that no line fails on"
_SLIPS = {
    _EVAL: ("a module runs in training mode where no gradients are computed",
            "call `.eval()` on the module before, and `.train()` after"),
    _ZERO: ("the gradients of earlier steps are still there at an optimizer's step",
            "clear them after each step: `optimizer.zero_grad()`"),
    _REGISTERED: ("a module gets something that isn't one of its modules or parameters, so what is done with all of them leaves it out",
                  "make it an `nn.Parameter`, an `nn.ModuleList` or an `nn.ModuleDict`"),
    _RESEEDED: ("processes are forked with the same random state, so each draws the same numbers",
                "seed in each process with a number of its own, such as `numpy.random.default_rng([seed, number])`"),
}  # fmt: skip
"""What a switch mends, and how to mend it."""
_SAID = {
    Effect.GONE: "it doesn't fail",
    Effect.RARER: "it fails less often",
    Effect.DIFFERENT: "it fails in another way",
    Effect.CLEARER: "it shows more",
}


def toggle_clues(
    session: Session,
    trial: Trial,
    baseline: Baseline,
    *,
    is_explained: bool,
    libraries: Collection[str] | None,
    known: "Late | None" = None,
) -> list[Clue]:
    """Return what became of a failure when the switches for its symptom were turned.

    Args:
        session: runs its trials.
        trial: what fails.
        baseline: how.
        is_explained: something points at a line already: what helps to guess is left out.
        libraries: where a number that is none is the matter, whose it may be: ``torch``, ``jax``;
            None: it isn't.
        known: what synchronous kernels have shown already.
    """
    names = dict(_asked(baseline, is_explained=is_explained, libraries=libraries))
    if known is not None and known.moved is not None:
        names.pop(_SYNC, None)
    if not names:
        return []
    repeats = None if baseline.reproduction.is_deterministic else _REPEATS
    turned = list[Turned]()
    for each in chosen(list(names), known_toggles(session.bench.settings.toggles)):
        if known is not None and each.name == _SYNC:
            turned.append(known.turned)
            continue
        runs = _RESEEDED_RUNS if each.name == _RESEEDED else repeats
        with suppress(GpuNotHeld):  # it hides the GPU that a limit of the trial needs
            turned += turn_each(session, trial, baseline, (each,), repeats=runs)
    at, evidence = Placing(trial.cwd), baseline.outcome.evidence
    clues: list[Clue] = []
    for one in turned:
        said = said_of(one, baseline.reproduction)
        if said:
            clue = _clue(one, names[one.toggle.name], said)
            clue = _placed(clue, one, session.bench, at, evidence)
            is_forked = one.toggle.name == _RESEEDED
            clues.append(_with_control(session, trial, baseline, clue) if is_forked else clue)
    return [*clues, *_of_no_gpu([each for each in turned if names[each.toggle.name] == _WHY_CUDA])]


def _with_control(session: Session, trial: Trial, baseline: Baseline, clue: Clue) -> Clue:
    """Return the clue; that forked processes draw the same numbers is shown only if other numbers fail, too."""
    (turned,) = turn_each(
        session, trial, baseline, chosen([_ALIKE], known_toggles()), repeats=_RESEEDED_RUNS
    )
    numbers = f"; with other numbers that are still the same in each, {turned.failures} of {turned.runs} runs fail"
    is_shown = turned.failures == turned.runs and turned.took is not False
    return replace(
        clue, says=f"{clue.says}{numbers}", trials=(*clue.trials, turned.trial),
        sureness=clue.sureness if is_shown else Sureness.POSSIBLE,
    )  # fmt: skip


@value_class(kw_only=True)
class Moved:
    """A late error that was raised where it happens.

    Attributes:
        trial: the command with synchronous kernels.
        baseline: how that fails.
        clue: what it tells.
    """

    trial: Trial
    baseline: Baseline
    clue: Clue


@value_class(kw_only=True)
class Late:
    """What synchronous kernels have shown of a GPU's error.

    Attributes:
        turned: what became of the failure with them.
        moved: the error where it happens; None: they didn't move it.
    """

    turned: Turned
    moved: Moved | None


def late_error(session: Session, trial: Trial, baseline: Baseline) -> Late | None:
    """Return what a GPU's error does with synchronous kernels; None: it isn't one, or not a steady one.

    The program runs once with them, and once more to keep its variables if the error has moved.
    """
    failure = baseline.outcome.failure
    is_steady = baseline.reproduction.is_deterministic
    if failure is None or not is_steady or not _CUDA.search(failure.summary):
        return None
    (sync,) = chosen([_SYNC], known_toggles(session.bench.settings.toggles))
    (turned,) = turn_each(session, trial, baseline, (sync,))
    if failure.place is None or turned.effect is not Effect.CLEARER or turned.took is False:
        return Late(turned=turned, moved=None)
    on = turned_on(session.bench, trial, (sync,))
    try:
        synchronous = reproduce(session, on, attempts=1)
    except BaselineDoesNotFail:
        return Late(turned=turned, moved=None)
    now = synchronous.outcome.failure
    place = None if now is None or not tells_more(failure, now) else now.place
    if place is None or not place.line or not place.in_user_code:
        return Late(turned=turned, moved=None)
    at = Placing(trial.cwd)
    before = at(failure.place.path, failure.place.line or 0)
    check = kernel_check(synchronous.outcome.stderr.tail(_LAST_BYTES).decode("utf-8", "replace"))
    checked = f", where a kernel's check failed: `{check}`" if check else ""
    clue = Clue(
        says=f"the GPU's error is raised at {at(place.path, place.line)} in `{place.function}`{checked}. "
        f"Without `{sync.name}` ({sync.does}) it is reported only at {before}",
        why=_WHY_CUDA,
        sureness=Sureness.SEEN,
        path=place.path,
        line=place.line,
        trials=(turned.trial, *synchronous.reproduction.trials),
    )
    return Late(turned=turned, moved=Moved(trial=on, baseline=synchronous, clue=clue))


def kernel_check(text: str) -> str:
    """Return the check that failed in a kernel, as `assert` prints it for each thread; empty: none."""
    match = _CHECK.search(text)
    return "" if match is None else " ".join(match["check"].split())


def _placed(
    clue: Clue, turned: Turned, bench: Workbench, at: Placing, evidence: Sequence[Evidence]
) -> Clue:
    """Return the clue with the line of the forward call, where anomaly mode has told one."""
    slip = _SLIPS.get(turned.toggle.name)
    if slip is not None:
        what, advice = slip
        place = caller_in([turned])
        where = f"at {at(*place)} " if place else ""
        path, number = place or ("", 0)
        says = f"{where}{what}: {clue.says}"
        if turned.toggle.name == _EVAL and own_files_with(_SETS_MODE, evidence):
            clue = replace(clue, sureness=Sureness.POSSIBLE)  # the mode may be meant
        return replace(clue, says=says, path=path, line=number, next_step=advice)
    if turned.toggle.name != _ANOMALY:
        return clue
    outcome = bench.notebook.trial(turned.trial).outcome
    tail = b"" if outcome is None else outcome.stderr.tail(_LAST_BYTES)
    line = forward_call(tail.decode("utf-8", "replace"))
    if line is None:
        return clue
    where = f"{at(line.path, line.number)} in `{line.function}`"
    says = f"the gradient went wrong in the forward call at {where}: {clue.says}"
    return replace(clue, says=says, path=line.path, line=line.number)


def _of_no_gpu(turned: Sequence[Turned]) -> list[Clue]:
    """Return that no switch of CUDA's was read; what is said of none would look as if none was tried."""
    if not turned or any(each.took is not False for each in turned):
        return []
    names = " ".join(each.toggle.name for each in turned)
    return [
        Clue(
            says=f"the program didn't load CUDA on this machine, so whet couldn't test {names.replace(' ', ' and ')}; on a machine with a GPU: `whet toggle {names}`",
            why=_WHY_CUDA,
        )
    ]


def _asked(
    baseline: Baseline, *, is_explained: bool, libraries: Collection[str] | None
) -> Iterator[tuple[str, str]]:
    """Yield the switches that may tell something, and why."""
    failure = baseline.outcome.failure
    summary = "" if failure is None else failure.summary
    tail = baseline.outcome.stderr.tail(_LAST_BYTES).decode("utf-8", "replace")
    if _CUDA.search(summary):
        yield from ((name, _WHY_CUDA) for name in (_SYNC, "cpu"))
    if libraries is not None:
        if "torch" in libraries or "torch" in tail:
            yield _ANOMALY, WHY_NUMBERS
        if "jax" in libraries or "jax" in tail:
            yield "jax-debug-nans", WHY_NUMBERS
    if is_explained:
        return
    if not baseline.reproduction.is_deterministic:
        why = "an intermittent failure can depend on order"
        yield from ((name, why) for name in ("hash-seed", "one-thread"))
    else:
        yield from ((name, _WHY_SLIPS) for name in _slips_of(baseline))
    if failure is not None and failure.kind is FailureKind.SIGNAL:
        yield from ((name, "an earlier write can have corrupted memory") for name in _SIGNALS)


def _slips_of(baseline: Baseline) -> Iterator[str]:
    """Yield the switches that mend slips which the user's files may have."""
    evidence = baseline.outcome.evidence
    if own_files_with(_DRAWS, evidence) and own_files_with(_FORKS, evidence):
        yield _RESEEDED
    if own_files_with(_STEPS, evidence) and not own_files_with(_CLEARED, evidence):
        yield _ZERO
    is_used = own_files_with(_STEPS, evidence) or own_files_with(_OF_ALL, evidence)
    if is_used and own_files_with(_MODULES, evidence):
        yield _REGISTERED  # says more than that a part isn't in eval mode
    if own_files_with(_GRADIENTS_OFF, evidence):
        yield _EVAL


def said_of(turned: Turned, before: Reproduction) -> str:
    """Return what a switch has changed, in words; empty: nothing, or it may be chance."""
    if turned.took is False or turned.is_refused:
        return ""
    if turned.effect is Effect.SAME:
        each_time = (turned.failures, turned.runs)
        is_sure = turned.failures == turned.runs > 1 and not before.is_deterministic
        chance = chance_of_no_difference(each_time, (before.same_failures, before.attempts))
        return "it fails every time" if is_sure and chance < _CHANCE else ""
    # What fails now and then fails in another way now and then, too.
    of_chance = _OF_CHANCE if before.is_deterministic else (*_OF_CHANCE, Effect.DIFFERENT)
    is_chance = turned.effect in of_chance and not before.is_rarer_in(turned.failures, turned.runs)
    return "" if is_chance else _SAID[turned.effect]


def _clue(turned: Turned, why: str, sentence: str) -> Clue:
    remark = "" if turned.effect is Effect.GONE else f": {turned.summary}"
    slow = ", which only slows it down" if turned.toggle.only_slows and not remark else ""
    return Clue(
        says=f"with `{turned.toggle.name}` ({turned.toggle.does}) {sentence}{remark}"
        f" ({turned.failures} of {turned.runs} runs fail the same way{slow};"
        f" `whet toggle {turned.toggle.name}`)",
        why=why,
        sureness=Sureness.SHOWN
        if turned.effect is Effect.GONE and not turned.toggle.only_slows
        else Sureness.POSSIBLE,
        trials=(turned.trial,),
    )
