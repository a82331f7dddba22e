"""Where the memory or the time of a failure went, from one more run with a profiler beside it."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path

from whet.core.budget import OutOfTimeError
from whet.core.errors import WhetError
from whet.core.failure import FailureKind
from whet.core.limits import Limits
from whet.core.measurements import NumberKind
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.observations.profile import BYTES, COUNT, CPU_SECONDS, Profile
from whet.core.oracle import AnyFailure, BadIf, CostsMore
from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.core.text.shell_words import joined, quoted
from whet.core.trial import Trial
from whet.evidence.clues.memory_holder import MEMORY_HEADING
from whet.evidence.signature.room_met import is_about_gpus
from whet.host.trial.trial_secrets import masked_words
from whet.measurement.leaks.verdict import Kind
from whet.measurement.profiles.compilations import functions_again, sentence_of
from whet.measurement.profiles.difference import LineDifference, ProfileDifference
from whet.measurement.profiles.endless import endless_loop
from whet.measurement.profiles.line_table import (
    LineCost,
    in_memory,
    innermost_own,
    lines_of,
    unseen_seconds,
)
from whet.measurement.profiles.merge import RUNS, merged
from whet.workbench.compare.arms import Arm
from whet.workbench.compare.where import where_they_differ
from whet.workbench.investigate.progress.investigating import Work, in_users_tree, place_of
from whet.workbench.leak.leak import LeakOptions, leak_within
from whet.workbench.leak.words import leak_lines
from whet.workbench.profile.profile import LEAST_RATE, Wish, profiles_in, rate_for, tasks_for
from whet.workbench.trials.reproduce import Baseline, is_busy_hang

_WAITS_TIMES = 4
"""A line that is often seen computing waits for nothing: the sampler may be late on a busy machine."""
_LEADS = 0.5
"""The share of the memory or of the samples from which one line is the matter; and of a processor."""

_MUCH_GROWTH = 0.2
_MOST_SECONDS, _MOST_PROFILED, _FEWEST_SAMPLES = 30.0, 5.0, 20

_MOST_RUNS = 5
"""The most runs that are profiled to see a part that takes a few milliseconds."""

_PARTS = 4
"""What a program measures of itself may be such a part of its run."""

_MANY_BLOCKS = 8
"""With this many blocks, a line has run several times, and something keeps the earlier ones."""

TIME_HEADING = "what takes the time"


def look_at_memory(
    work: Work, baseline: Baseline, clues: Sequence[Clue], *, is_measured: bool = False
) -> tuple[Clue, ...]:
    """Name the line that allocated most of what there was at the peak, where memory ran out.

    Args:
        work: the investigation.
        baseline: what fails.
        clues: what is known already; where that is firm, no leak is looked for.
        is_measured: the program fails by the memory that it measures.
    """
    question = _memory_that_lacks(baseline.outcome)
    if not question and not is_measured and _cost_of(baseline) is not NumberKind.MEMORY:
        return ()
    with work.steps.step("Profile the memory", "find the lines that allocated what it held"):
        number, profile = _profiled(work, question or "memory", work.trial)
        clue = None if profile is None else _memory_clue(work, number, profile)
        if clue is None:
            work.steps.conclude(_unseen(profile))
        else:
            work.steps.conclude(clue.says)
    found = () if clue is None else (clue,)
    if any(each.sureness is not Sureness.POSSIBLE for each in (*clues, *found)):
        return found
    with work.steps.step("Look for a leak", "see whether each round of a loop keeps memory"):
        leak = leak_within(
            replace(work.session, weighing=None), work.trial, LeakOptions(seconds=_MOST_SECONDS)
        )
        piece = leak.piece
        verdict = leak_lines(leak)[0]
        work.steps.conclude(verdict)
    if leak.kind is not Kind.LEAK or piece is None:
        return found
    why = "whet measured the memory at each round of a loop that the program runs"
    grown = Clue(
        says=verdict, why=why, path=piece.path, line=piece.line, sureness=Sureness.SEEN,
        trials=leak.trials,
    )  # fmt: skip
    return (grown, *found)


def look_at_busy_lines(
    work: Work, baseline: Baseline, measured: AbstractSet[tuple[str, str]] = frozenset()
) -> tuple[Clue, ...]:
    """Name the line in which a program computes that doesn't come to its end, or takes too long.

    Args:
        work: the investigation.
        baseline: what fails.
        measured: the files and functions in which the program reads the time by which it fails.
    """
    is_cost = bool(measured) or is_only_slow(baseline)
    if not is_cost and not is_busy_hang(baseline.outcome):
        return ()
    usual = min(baseline.reproduction.wall_seconds, _MOST_PROFILED)
    is_hang = is_busy_hang(baseline.outcome)
    trial = _timed(work.trial)
    if is_hang:
        trial = replace(trial, limits=replace(trial.limits, wall_seconds=usual))
    with work.steps.step("Profile it", "find the lines in which it computes or waits"):
        rate = rate_for(usual / (_PARTS if measured else 1))
        numbers, profile, missed = _profiled_enough(work, trial, rate, measured)
        clue = (
            None
            if profile is None
            else _busy_clue(work, baseline, numbers, profile, missed, is_cost=is_cost)
        )
        clues = () if clue is None else (clue,)
        if profile is not None and is_cost:
            clues = (*_compiling_clues(work, numbers, profile), *clues)
        work.steps.conclude("; ".join(each.says for each in clues) or _unseen(profile))
    return clues


def _profiled_enough(
    work: Work, trial: Trial, rate: int, measured: AbstractSet[tuple[str, str]]
) -> tuple[tuple[int, ...], Profile | None, float]:
    """Return as many runs as show what is measured often enough, their profile, and unseen seconds.

    The profile is of the functions that read the time, unless nothing is seen there: a helper may read it
    for others.
    """
    numbers: list[int] = []
    profiles: list[Profile] = []
    whole: Profile | None = None
    while len(numbers) < (_MOST_RUNS if measured else 1):
        try:
            number, profile = _profiled(work, "cpu", trial, rate=rate)
        except OutOfTimeError:
            if not profiles:
                raise
            break
        numbers.append(number)
        profiles += [] if profile is None else [profile]
        whole = merged(profiles) if profiles else None
        if whole is None:
            break
        inside = _within(whole, measured)
        if not inside.stacks:
            break
        if _looks(inside) >= _FEWEST_SAMPLES:
            return tuple(numbers), inside, unseen_seconds(whole)
    return tuple(numbers), whole, 0.0 if whole is None else unseen_seconds(whole)


def _compiling_clues(work: Work, numbers: tuple[int, ...], profile: Profile) -> Iterator[Clue]:
    """Yield what JAX or torch compile again and again, if that takes long."""
    for function in functions_again(profile, profile.seconds)[:1]:
        first = function.first
        place = Placing(work.trial.cwd)(first.path, first.line) if first.path else "it"
        yield Clue(
            says=sentence_of(function).rstrip("."),
            why="whet noted each compilation in one more run",
            path=first.path, line=first.line, trials=numbers, sureness=Sureness.SEEN,
            heading=TIME_HEADING,
            next_step=f"give {place} arguments of few shapes and types, so that one version fits",
        )  # fmt: skip


def is_only_slow(baseline: Baseline) -> bool:
    """Whether a condition about time is all that fails: then no value is wrong."""
    return _cost_of(baseline) is NumberKind.TIME


def look_at_slower_lines(work: Work, baseline: Baseline) -> None:
    """Name the function whose cost grew with the first bad version, where time or memory is what fails."""
    versions, found = work.history.versions, work.found
    cost = NumberKind.TIME if _is_about_time(baseline) else _cost_of(baseline)
    if versions is None or found is None or found.last_good is None or cost is None:
        return
    place = versions.place
    bad = found.first_bad or versions.new
    arms = (
        Arm(label=found.last_good, trial=_timed(versions.on(work.trial, found.last_good)), place=place),
        Arm(label=bad, trial=_timed(versions.on(work.trial, bad)), place=place),
    )  # fmt: skip
    good_label = versions.label(found.last_good)
    with work.steps.step("Profile both versions", "find the function that costs more"):
        seconds = min(baseline.reproduction.wall_seconds, _MOST_PROFILED)
        question = "cpu" if cost is NumberKind.TIME else "memory"
        difference, why = where_they_differ(work.session, arms, seconds, question=question)
        grown = () if difference is None else tuple(_grown(difference))
        if not grown:
            work.steps.conclude(why or "no function costs clearly more")
            return
        first = replace(grown[0], path=in_users_tree(work, grown[0].path))
        says = _costlier(first, Placing(work.trial.cwd), good_label, cost)
        work.steps.conclude(says)
        work.show(
            says,
            "whet profiled both versions, in turns",
            at=(first.path, first.line),
            sureness=Sureness.SEEN,
        )


def _grown(difference: ProfileDifference) -> Iterator[LineDifference]:
    """Yield the functions that surely cost more; of memory, those that make up much of the growth."""
    least = 0.0
    if difference.unit == BYTES:
        least = _MUCH_GROWTH * max(difference.after - difference.before, 0.0)
    yield from (each for each in difference.sure if each.change > least)


def _costlier(line: LineDifference, at: Placing, good: str, cost: NumberKind) -> str:
    where = at(line.path, line.line)
    if cost is NumberKind.MEMORY:
        after, before = shown_bytes(round(line.after)), shown_bytes(round(line.before))
        return f"{after} of the peak come from `{line.function}` at {where}, and {before} in {good}"
    after = shown_seconds(line.after)
    before = shown_seconds(line.before) if line.before > 0 else "too little for a sample"
    return f"`{line.function}` at {where} takes {after} of a run, and {before} in {good}"


def _timed(trial: Trial) -> Trial:
    """Return a trial that a hang's limit ends, so that its samples are kept."""
    seconds = min(trial.limits.wall_seconds or _MOST_PROFILED, _MOST_PROFILED)
    limits: Limits = replace(trial.limits, wall_seconds=seconds)
    return replace(trial, limits=limits, hang_seconds=None)


def _profiled(
    work: Work, question: str, trial: Trial, *, rate: int = LEAST_RATE
) -> tuple[int, Profile | None]:
    """Return the number of one more run, and its profile; None: there is none."""
    tasks = tasks_for(Wish(question=question, rate=rate))
    session = replace(work.session, tasks=tasks, weighing=None)
    try:
        ran = session.run(trial, AnyFailure(), "profiled", place=place_of(work))
    except WhetError:
        return 0, None
    profiles = profiles_in(ran.outcome.evidence, ran.outcome)
    return ran.own_number, next(iter(profiles), None)


def _memory_clue(work: Work, number: int, profile: Profile) -> Clue | None:
    outcome = work.bench.notebook.trial(number).outcome
    is_gpu = profile.question == "gpu_memory"
    in_ram = 0 if outcome is None or is_gpu else outcome.peak_rss_bytes
    table = in_memory(lines_of(profile), in_ram)
    top = _top(table.lines)
    if top is None or not table.total or top.own < _LEADS * table.total:
        return None
    at = Placing(work.trial.cwd)(top.frame.path, top.frame.line)
    share = top.own / table.total
    says = (
        f"{share:.0%} of the {shown_bytes(round(table.total))} that the program held"
        f"{' on the GPU' if is_gpu else ''} at its peak were allocated at {at} in `{top.frame.function}`"
    )
    step = f"hold less at {at}: keep one part at a time, or a view instead of a copy"
    blocks = _blocks_of(profile, top) if is_gpu else 0
    if is_gpu:
        says += f", in {shown_count(blocks, 'block')}"
    if blocks >= _MANY_BLOCKS:
        step = (
            f"see what keeps what {at} makes: a tensor that isn't detached keeps all from which it was"
            " computed, so add up `loss.item()` and keep `tensor.detach()`"
        )
    return Clue(
        says=says,
        why=f"whet profiled the memory of one more run with the same limits ({profile.engine})",
        heading=MEMORY_HEADING,
        path=top.frame.path, line=top.frame.line, sureness=Sureness.SEEN, trials=(number,),
        next_step=step,
    )  # fmt: skip


def _blocks_of(profile: Profile, line: LineCost) -> int:
    """Return in how many blocks the memory is that a line holds."""
    stacks = [
        each for each in profile.stacks if innermost_own(profile.lines_of(each)) == line.frame
    ]
    return round(sum(each.number(COUNT) for each in stacks))


def _busy_clue(
    work: Work,
    baseline: Baseline,
    numbers: tuple[int, ...],
    profile: Profile,
    missed: float,
    *,
    is_cost: bool,
) -> Clue | None:
    if _looks(profile) < _FEWEST_SAMPLES:
        return None
    runs = "one more run" if len(numbers) == 1 else shown_count(len(numbers), "more run")
    why = f"whet profiled {runs} ({profile.engine}, {profile.samples} samples)"
    at = Placing(work.trial.cwd)
    loop = endless_loop(profile, lambda path: Path(path).read_text("utf-8", "replace"))
    if loop is not None and is_busy_hang(baseline.outcome):
        busiest = at(loop.busiest.path, loop.busiest.line)
        # What whet itself ended, and what goes through something, may only take long.
        is_endless = not loop.is_counted and work.request.timeout_seconds is not None
        return Clue(
            says=f"the loop at {at(loop.path, loop.line)} did not end in that time: {loop.share:.0%} of the"
            f" samples are in it, {loop.busiest_share:.0%} at {busiest} in `{loop.busiest.function}`",
            why=why, path=loop.path, line=loop.line, trials=numbers,
            sureness=Sureness.SEEN if is_endless else Sureness.POSSIBLE,
            next_step=f"check what should end the loop at {at(loop.path, loop.line)}",
        )  # fmt: skip
    table = lines_of(profile)
    top, whole = _top(table.lines), table.total + table.waits
    if top is not None and is_cost and top.own + top.waits < _LEADS * whole:
        return _function_clue(profile, why, at, numbers)
    if top is None or top.own + top.waits < _LEADS * whole:
        return None
    place = at(top.frame.path, top.frame.line)
    name, command = top.frame.function, joined(masked_words(work.request.command))
    function = f"`{name}`"
    may_wait = top.waits > _WAITS_TIMES * top.own
    does_wait = may_wait and top.waits - missed > top.own + missed
    lines = at(top.frame.path) + (f":{name}" if name.isidentifier() else "")
    step = f"see how often each line runs: `whet expect --lines {quoted(lines)} -- {command}`"
    if does_wait:
        share = f"{top.waits / whole:.0%} of its time"
        says = f"for {share}, the main thread waits at {place} in {function}"
        step = f"see what it waits for: `whet profile --io -- {command}`"
    elif may_wait:  # or the profiler came too late to see it run
        says = f"for {(top.own + top.waits) / whole:.0%} of its time, the main thread is at {place} in {function}"
    else:
        says = f"{top.own / table.total:.0%} of the samples are at {place} in {function}"
    # What waits may wait for as long as it is to: of what is measured, that alone is no cause.
    is_sure = is_only_slow(baseline) or (is_cost and not does_wait)
    return Clue(
        says=says, why=why, path=top.frame.path, line=top.frame.line, trials=numbers,
        sureness=Sureness.SEEN if is_sure else Sureness.POSSIBLE,
        heading=TIME_HEADING if is_cost else "", next_step=step if is_cost else "",
    )  # fmt: skip


def _within(profile: Profile, measured: AbstractSet[tuple[str, str]]) -> Profile:
    """Return what was seen in functions."""
    inside = tuple(
        stack
        for stack in profile.stacks
        if any((e.path, e.function.rpartition(".")[2]) in measured for e in profile.lines_of(stack))
    )
    seconds = sum(each.number(profile.unit) for each in inside)
    samples = round(profile.rate * seconds * profile.facts.get(RUNS, 1.0))
    return replace(profile, stacks=inside, samples=min(samples, profile.samples))


def _function_clue(
    profile: Profile, why: str, at: Placing, numbers: tuple[int, ...]
) -> Clue | None:
    """Return the innermost function of the user's that has most of the time, where no line of it has."""
    lines = [e for e in lines_of(profile, len(profile.frames)).lines if e.frame.in_user_code]
    functions: dict[tuple[str, str], list[LineCost]] = {}
    none: list[LineCost] = []
    for each in lines:
        functions.setdefault((each.frame.path, each.frame.function), []).append(each)
    most = max(functions.values(), key=lambda own: sum(e.own for e in own), default=none)
    total, share = lines_of(profile).total, sum(each.own for each in most)
    if not most or share < _LEADS * total:
        return None
    frame = max(most, key=lambda each: each.own).frame
    return Clue(
        says=f"{share / total:.0%} of the samples are in `{frame.function}`, most of them at"
        f" {at(frame.path, frame.line)}",
        why=why, path=frame.path, line=frame.line, trials=numbers,
        sureness=Sureness.SEEN, heading=TIME_HEADING,
    )  # fmt: skip


def _top(lines: Sequence[LineCost]) -> LineCost | None:
    own = [each for each in lines if each.frame.in_user_code and each.frame.line]
    return max(own, key=lambda each: each.own + each.waits, default=None)


def _looks(profile: Profile) -> int:
    """Return how often the profiler saw the program compute or wait."""
    waits = lines_of(profile).waits * profile.facts.get(RUNS, 1.0)
    return profile.samples + round(profile.rate * waits)


def _unseen(profile: Profile | None) -> str:
    if profile is None or not profile.stacks:
        notes = () if profile is None else profile.notes
        return f"the profiler saw nothing{f': {notes[0]}' if notes else ''}"
    if profile.unit == CPU_SECONDS and _looks(profile) < _FEWEST_SAMPLES:
        return f"the profiler saw it {_looks(profile)} times, too seldom to tell its lines apart"
    return f"no single line has more than {_LEADS:.0%}"


def _memory_that_lacks(outcome: Outcome) -> str:
    """Return what to profile where memory ran out: ``memory`` or ``gpu_memory``; empty: it didn't."""
    failure = outcome.failure
    if failure is None:
        return ""
    if failure.kind is FailureKind.OUT_OF_MEMORY and is_about_gpus(failure.summary):
        return "gpu_memory"
    is_short = failure.limit == "memory" or failure.kind is FailureKind.OUT_OF_MEMORY
    return "memory" if is_short else ""


def _is_about_time(baseline: Baseline) -> bool:
    return is_only_slow(baseline) or is_busy_hang(baseline.outcome)


def _cost_of(baseline: Baseline) -> NumberKind | None:
    """Return what is too much, where BAD means that: time or memory; None: neither."""
    oracle = baseline.oracle
    if isinstance(oracle, CostsMore):
        return oracle.bound.kind
    return oracle.condition.cost if isinstance(oracle, BadIf) else None
