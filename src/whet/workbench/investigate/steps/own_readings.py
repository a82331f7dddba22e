"""Programs that measure themselves and fail by that: what takes the time, and what keeps the memory.

Nothing of their words is read. They run once with clocks that hardly go on, or with a memory that seems
small: what passes then fails by its readings of them, and a number that only holds a time still fails.
A limit may be in another unit, too, so that nothing costs much: a reading alone names no line.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial

from whet.core.budget import OutOfTimeError, StopReason
from whet.core.errors import WhetError
from whet.core.failure import FailureKind
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_count
from whet.core.text.record import JsonObject, integer, text
from whet.core.verdict import Verdict
from whet.evidence.clues.closer_look import line_of, of_kind, told_in
from whet.evidence.clues.memory_holder import growth_clues
from whet.evidence.experiments.hashed_otherwise import hashed_by_what_is_compared
from whet.evidence.experiments.single_changes import LESS_LIKELY
from whet.evidence.experiments.variations import Variation, variations_of
from whet.host.inspect.presence import own_files_with
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.investigate.experiments.varied import text_to_change
from whet.workbench.investigate.experiments.warm_changes import TriedChanges, contained
from whet.workbench.investigate.progress.investigating import Work, place_of
from whet.workbench.investigate.steps.costs import (
    look_at_busy_lines,
    look_at_memory,
)
from whet.workbench.trials.reproduce import Baseline

_ASKED = "readings:"
_WORDS = {
    "memory": re.compile(
        r"\b(?:tracemalloc|getrusage|psutil|getallocatedblocks|get_objects|memory_info|objgraph)\b"
        r"|/proc/\S+/(?:statm|status|smaps_rollup)\b|\bgc\.collect\b"
    ),
    "time": re.compile(
        r"\b(?:perf_counter|monotonic|process_time|thread_time)(?:_ns)?\b|\btimeit\b|\bgetrusage\b"
        r"|\btime\.time(?:_ns)?\b|\bfrom time import\b|\b(?:utc)?now\("
    ),
}
_KINDS = frozenset({FailureKind.EXIT, FailureKind.EXCEPTION, FailureKind.ASSERTION, FailureKind.TEST_FAILURE})  # fmt: skip
_MOST_CHANGES = 12
_HEADS, _JOINED = frozenset({"if", "elif", "while"}), re.compile(r"\b(?:and|or)\b")
_TIMES, _LEAST_SECONDS = 4, 3.0
"""A run with a change may take this many times as long as without it, and at least so long."""


def look_at_readings(work: Work, baseline: Baseline) -> tuple[Clue, ...]:
    """Name what costs the time or the memory by which a program fails that measures itself."""
    failure = baseline.outcome.failure
    is_own = failure is not None and failure.kind in _KINDS and not failure.limit
    if not is_own or not baseline.reproduction.is_deterministic:
        return ()
    for kind, words in _WORDS.items():
        if not own_files_with(words, baseline.outcome.evidence):
            continue
        with work.steps.step("Change what it measures", f"see whether it fails by its {kind}"):
            number, outcome = _run(work, baseline, kind)
            if baseline.oracle.judge(outcome) is not Verdict.GOOD:
                work.steps.conclude(f"it fails also where it reads hardly any {kind}")
                continue
            work.steps.conclude(
                f"it passes where it reads hardly any {kind}: it fails by the {kind} that it reads"
            )
        costs = _of_memory if kind == "memory" else _of_time
        told = told_in(outcome.evidence)
        found: list[Clue] = []
        try:
            found.extend(costs(work, baseline, told))
        except OutOfTimeError:
            work.ended = work.ended or StopReason.OUT_OF_TIME
        return tuple(replace(e, trials=tuple(dict.fromkeys((*e.trials, number)))) for e in found)
    return ()


def _run(work: Work, baseline: Baseline, kind: str) -> tuple[int, Outcome]:
    from whet.workbench.investigate.closer.clues import seconds_to_look

    seconds = seconds_to_look(baseline.outcome, baseline.reproduction.wall_seconds)
    limit = max(seconds, work.trial.limits.wall_seconds or 0.0)
    trial = replace(work.trial, limits=replace(work.trial.limits, wall_seconds=limit))
    session = replace(work.session, tasks=AgentTasks(keeps_locals=True, closer=_ASKED + kind))
    ran = session.run(trial, baseline.oracle, "looked at", place=place_of(work))
    return ran.own_number, ran.outcome


def _of_memory(work: Work, baseline: Baseline, told: Sequence[JsonObject]) -> Iterator[Clue]:
    """Yield the line that should take out of what grows, and what grows."""
    found = list(growth_clues(told, Placing(work.trial.cwd), text_to_change))
    if not found:
        yield from look_at_memory(work, baseline, (), is_measured=True)
    for each in found:
        reason = "see what the program keeps between its readings"
        with work.steps.step("Look at what grows", reason):
            work.steps.conclude(each.clue.says)
        words = partial(_too_little, each.label)
        shown = _tried(work, baseline, _changes(each.takes), words)
        yield from (each.clue,) if shown is None else (shown, each.clue)


def _changes(places: Sequence[tuple[str, int]]) -> list[tuple[str, Variation]]:
    found = [
        (path, each)
        for path in dict.fromkeys(path for path, _ in places)
        for each in variations_of(
            text_to_change(path), [at for other, at in places if other == path], set(), _unknown
        )
        if each.rank <= LESS_LIKELY and not each.is_offset
    ]
    return sorted(found, key=lambda each: each[1].order)[:_MOST_CHANGES]


def _unknown(_expression: object, _line: int) -> str:
    return ""


def _too_little(label: str, change: Variation, place: str) -> str:
    return (
        f"too little is taken out of `{label}` at {place}: with `{change.new}` instead of"
        f" `{change.old}` there the command passes"
    )


def _of_time(work: Work, baseline: Baseline, told: Sequence[JsonObject]) -> Iterator[Clue]:
    """Yield keys that share their hash values, and where the time goes."""
    at = Placing(work.trial.cwd)
    hashes = max(of_kind(told, "hashes"), key=lambda each: integer(each, "keys"), default=None)
    place = None if hashes is None else line_of(hashes.get("place"))
    if hashes is not None and place is not None:
        name, keys = text(hashes, "type"), f"{integer(hashes, 'keys'):,}"
        values = integer(hashes, "values")
        changed = hashed_by_what_is_compared(text_to_change(place.path), place.number)
        says = (
            f"`{name}.__hash__` at {at(place.path, place.number)} gives {values}"
            f" value{'s' if values != 1 else ''} for {keys} keys of a {text(hashes, 'collection')}, so"
            f" that each look-up compares up to {integer(hashes, 'keys') // max(values, 1):,} of them"
        )
        changes = [] if changed is None else [(place.path, changed)]
        shown = _tried(work, baseline, changes, partial(_few_hashes, says))
        why = "whet looked at the keys while the program ran"
        yield shown or Clue(says=says, why=why, path=place.path, line=place.number)
    places = (line_of(each.get("place")) for each in of_kind(told, "reading"))
    measured = {(e.path, e.function.rpartition(".")[2]) for e in places if e is not None}
    yield from look_at_busy_lines(work, baseline, measured)


def _few_hashes(says: str, change: Variation, _place: str) -> str:
    return f"{says}; with `{change.new}` instead of `{change.old}` the command passes"


def _tried(
    work: Work,
    baseline: Baseline,
    changes: Sequence[tuple[str, Variation]],
    words: Callable[[Variation, str], str],
) -> Clue | None:
    """Return the likeliest change with which the program doesn't cost too much; None: there is none."""
    if not changes or not work.options.tries_changes:
        return None
    trial, at = contained(work.bench, work.trial), Placing(work.trial.cwd)
    seconds = max(_TIMES * baseline.reproduction.wall_seconds, _LEAST_SECONDS)
    trial = replace(trial, limits=replace(trial.limits, wall_seconds=seconds))
    tried = TriedChanges(session=work.session, trial=trial, oracle=baseline.oracle, looked=[])
    passing: list[tuple[int, str, Variation]] = []
    control, clue = 0, None
    with work.steps.step("Change it", "see with which change it doesn't cost too much"):
        with suppress(WhetError, OutOfTimeError), closing(tried):  # this machine has no such room
            for path, change in changes:
                number, outcome = tried.run(AgentTasks(edit=(path, change.text)))
                if baseline.oracle.judge(outcome) is Verdict.GOOD:
                    passing.append((number, path, change))
            if passing:
                path = passing[0][1]
                control, outcome = tried.run(AgentTasks(edit=(path, text_to_change(path))))
                control = control if baseline.oracle.judge(outcome) is Verdict.BAD else 0
        if control:
            number, path, change = passing[0]
            place = at(path, change.line)
            is_alone = all(each.order > change.order for _, _, each in passing[1:])
            clue = Clue(
                says=words(change, place),
                why=f"trial {number} ran with that change and passed; trial {control} ran without it and"
                " failed",
                path=path, line=change.line, trials=(number, control),
                sureness=Sureness.SHOWN if is_alone and not _only_loosens(path, change) else Sureness.POSSIBLE,
                next_step=f"check {place}: did you mean `{change.new}` there?",
            )  # fmt: skip
        said = f"it passes with none of {shown_count(len(changes), 'change')}"
        work.steps.conclude(said if clue is None else clue.says)
    return clue


def _only_loosens(path: str, change: Variation) -> bool:
    """Whether a condition is only made another one, so that what is still needed may go, too."""
    lines = text_to_change(path).splitlines()
    is_head = lines[change.line - 1].split()[0] in _HEADS
    is_turned = change.old in {change.new, f"not {change.new}"} or change.new == f"not {change.old}"
    return is_head or is_turned or _JOINED.search(change.old) is not None
