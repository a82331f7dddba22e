"""Which one-token change of the program makes it pass; whet tries each in a clean room."""

import ast
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol

from whet.core.budget import OutOfTimeError
from whet.core.errors import WhetError
from whet.core.observations.clue import Clue, Placing, Sureness, TrailStep
from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_count
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.experiments.changes import MOST_BYTES, parsed
from whet.evidence.experiments.complaints import still_complains
from whet.evidence.experiments.single_changes import LESS_LIKELY, LIKELY, RARE
from whet.evidence.experiments.variations import (
    Variation,
    deciding_lines,
    variations_of,
)
from whet.evidence.provenance.failure.way import Check, Way
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.investigate.traces.origins import recording_in
from whet.workbench.trials.reproduce import Baseline

_MOST_RUNS = 240
_TIMES_UNLIKELY, _MORE_SECONDS = 15, 6.0
"""The time limit for changes that are seldom the slip: this many times the failing run's, plus this much."""
_MOST_PLACES = 60
_MOST_TOLD = 4
_INSTEAD = {
    "utcfromtimestamp": "datetime.fromtimestamp(…, tz=timezone.utc)",
    "utcnow": "datetime.now(timezone.utc)",
}

_MOST_RIVALS = 12
_LEAST_FAILED = 8
"""So many other changes must not let it pass: among fewer, one that does is no wonder."""

Run = Callable[[AgentTasks], tuple[int, Outcome]]
RunOf = Callable[[Trial, AgentTasks], tuple[int, Outcome]]
Trials = tuple[int, ...]


class Confirm(Protocol):
    """Returns the trials that show that a program with a change still makes the check that failed."""

    def __call__(self, path: str, change: Variation, *, is_cause: bool = True) -> Trials:
        """Look; what is to be the cause breaks no other test either."""
        ...


_Place = tuple[str, int]
_Found = tuple[_Place, list[tuple[int, Variation]]]


@value_class(kw_only=True)
class Varied:
    """What small changes have told.

    Attributes:
        cause: the line whose change alone lets the command pass, where that says which line is wrong.
        likely: lines of which a change that engineers often forget lets the command pass.
        others: lines of which another change does.
        is_on_the_way: the first of the likely lines is the only one that the bad value came by.
        is_together: all that let it pass are in one function, and of many elsewhere none does.
        is_cut: there was too little time for all likely changes.
    """

    cause: tuple[Clue, ...] = ()
    likely: tuple[Clue, ...] = ()
    others: tuple[Clue, ...] = ()
    is_on_the_way: bool = False
    is_together: bool = False
    is_cut: bool = False


def vary(
    baseline: Baseline,
    way: Way,
    run: Run,
    at: Placing,
    confirm: Confirm,
    *,
    until: float = math.inf,
) -> Varied:
    """Return the lines of which a change of one token, operand or line lets the command pass.

    That ties a line to the failure, and mostly no more: a change may hide what another line does.

    Args:
        baseline: what fails; a failure that comes only sometimes would go on its own.
        way: the lines that may be wrong.
        run: runs the command contained; returns the trial's number and what it did.
        at: says where a line is.
        confirm: returns the trials that show that the check that failed is still made with a change.
        until: when no further change is tried, on the monotonic clock.
    """
    if not baseline.reproduction.is_deterministic:
        return Varied()
    # Where no wanted value is stated, to leave something out may only skip the check.
    most = RARE if way.check.is_exact else LESS_LIKELY
    offered = [each for each in _candidates(way) if each[1].rank <= most]
    candidates = sorted(offered, key=lambda each: each[1].order)[:_MOST_RUNS]
    if not candidates:
        return Varied()
    path = candidates[0][0]
    try:
        control, outcome = run(AgentTasks(edit=(path, text_to_change(path))))
    except WhetError:  # this machine has no such room
        return Varied()
    if baseline.oracle.judge(outcome) is not Verdict.BAD:
        return Varied()
    sweep = _Sweep(baseline, run, until, way.followed)
    sweep.go(each for each in candidates if each[1].rank <= LESS_LIKELY)
    unlikely = [each for each in candidates if each[1].rank > LESS_LIKELY]
    is_early = _stands_out(sweep, way)
    if not is_early:
        sweep.go(unlikely)
    if is_early or _stands_out(sweep, way):
        cause = _cause(sweep, control, way.check, at, confirm)
        if cause is not None:
            return Varied(cause=(cause,))
    if is_early:
        sweep.go(unlikely)
    possible = _only_possible(sweep, control, way, at, confirm)
    return replace(possible, is_cut=not sweep.is_through(LESS_LIKELY))


def _only_possible(
    sweep: "_Sweep", control: int, way: Way, at: Placing, confirm: Confirm
) -> Varied:
    """Return the lines of the changes that let the command pass: none is more than possible.

    Where much passes the check, and there was no time for all that are as likely, none leads.
    """
    likeliest = sweep.likeliest
    if len(likeliest) > _MOST_TOLD:  # whatever is changed, it passes: only what is likely tells
        least = likeliest[0][1][0][1].rank
        likeliest = [each for each in likeliest if each[1][0][1].rank == least]
    if len(likeliest) > _MOST_TOLD:
        return Varied()
    split: tuple[list[_Found], list[_Found]] = ([], [])
    on_the_way = 0
    for place, found in likeliest:
        best = found[0][1]
        if not _is_confirmed(place, best, confirm):
            continue  # it may only skip the work, or the check
        is_first_tried = not way.check.is_exact and not sweep.is_through(best.rank)
        is_unlikely = _is_unlikely(best) or is_first_tried
        split[is_unlikely].append((place, found))
        on_the_way += not is_unlikely and place in sweep.followed
    likely, others = (tuple(_clue(*each, control, at) for each in some) for some in split)
    if on_the_way != 1:
        together = _in_one_function(sweep, way) if split[0][1:] and not others else ""
        if together:
            likely = (replace(likely[0], says=f"{likely[0].says}, {together}"), *likely[1:])
        return Varied(likely=likely, others=others, is_together=bool(together))
    also = (TrailStep(says=passes(place, found[0][1], at, "it")) for place, found in split[0][1:])
    first = replace(likely[0], trail=(*likely[0].trail, *also))
    return Varied(likely=(first,), others=others, is_on_the_way=True)


def _in_one_function(sweep: "_Sweep", way: Way) -> str:
    """Say in which function all changes are that let it pass; empty: in no one, or in one that was under way."""
    functions = {_function_of(*place) for place in sweep.passing}
    function = functions.pop() if len(functions) == 1 else None
    if function is None:
        return ""
    path, first, last, name = function

    def is_inside(place: _Place) -> bool:
        return place[0] == path and first <= place[1] <= last

    elsewhere = sum(n for place, n in sweep.failed_at.items() if not is_inside(place))
    # One that was under way may only have met what is wrong.
    is_active = any(is_inside((path, line)) for line in way.active.get(path, ()))
    if is_active or elsewhere < _LEAST_FAILED:
        return ""
    return (
        f"as it does with changes of {shown_count(len(sweep.passing) - 1, 'more line')} of `{name}`,"
        f" and with none of the {elsewhere} tried outside it"
    )


def _function_of(path: str, line: int) -> tuple[str, int, int, str] | None:
    """Return the innermost function around a line: its file, its first and last line, its name."""
    tree = parsed(text_to_change(path)) or ast.Module([], [])
    found = [
        (path, each.lineno, each.end_lineno or each.lineno, each.name)
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        and each.lineno <= line <= (each.end_lineno or each.lineno)
    ]
    return max(found, key=lambda each: each[1], default=None)


def _is_unlikely(change: Variation) -> bool:
    return change.is_offset or change.rank > LESS_LIKELY


def _is_confirmed(place: _Place, change: Variation, confirm: Confirm) -> bool:
    with suppress(OutOfTimeError):
        return bool(confirm(place[0], change, is_cause=False))
    return False


def passes(place: _Place, best: Variation, at: Placing, what: str) -> str:
    """Say that something passes with a change."""
    return f"with `{best.new}` instead of `{best.old}` at {at(*place)} {what} passes"


class _Sweep:
    """Runs the command with one change after the other.

    Attributes:
        passing: the changes with which it passes, by their lines.
        failed_at: with how many it does not, by their lines.
        untried: the rank of the first for which there was no time; None: all were tried.
        followed: the lines that the bad value came by.
    """

    def __init__(
        self, baseline: Baseline, run: Run, until: float, followed: AbstractSet[_Place]
    ) -> None:
        """Try none yet."""
        self.followed = followed
        self._baseline, self._run = baseline, run
        self._seconds = baseline.reproduction.wall_seconds
        self._until = until
        own = self._seconds * _TIMES_UNLIKELY + _MORE_SECONDS
        self._until_unlikely = min(until, time.monotonic() + own)
        self.passing: dict[_Place, list[tuple[int, Variation]]] = {}
        self.failed_at: Counter[_Place] = Counter()
        self.untried: int | None = None

    @property
    def likeliest(self) -> list[_Found]:
        """The lines with the changes that pass, the likeliest first: those that the value came by."""

        def rank(each: _Found) -> tuple[object, ...]:
            place, found = each
            best = found[0][1]
            return _is_unlikely(best), place not in self.followed, best.order, -len(found)

        return sorted(self.passing.items(), key=rank)

    @property
    def failed(self) -> int:
        """With how many changes it does not pass."""
        return self.failed_at.total()

    def is_through(self, rank: int) -> bool:
        """Whether all changes of a rank were tried."""
        return self.untried is None or self.untried > rank

    def go(self, candidates: Iterable[tuple[str, Variation]]) -> None:
        """Try changes while there is time."""
        for path, variation in candidates:
            if self.untried is None and not self._tried(path, variation):
                self.untried = variation.rank

    def _tried(self, path: str, variation: Variation) -> bool:
        """Try a change, if there is time."""
        is_likely = variation.rank <= LESS_LIKELY
        until = self._until if is_likely else self._until_unlikely
        if time.monotonic() + self._seconds > until:
            return False
        try:
            number, outcome = self._run(AgentTasks(edit=(path, variation.text)))
        except OutOfTimeError:
            return False
        if self._baseline.oracle.judge(outcome) is Verdict.GOOD:
            self.passing.setdefault((path, variation.line), []).append((number, variation))
        else:
            self.failed_at[path, variation.line] += 1
        return True


def _stands_out(sweep: _Sweep, way: Way) -> bool:
    """Whether one change stands out, and all others that are as likely were tried."""
    firsts = [found[0][1] for _, found in sweep.likeliest]
    is_swept = bool(firsts) and sweep.is_through(firsts[0].rank)
    return is_swept and _is_decisive(firsts, sweep.failed, way.check)


def _cause(sweep: _Sweep, control: int, check: Check, at: Placing, confirm: Confirm) -> Clue | None:
    """Return the likeliest change as the cause, if the check is still made with it."""
    (place, found), *others = sweep.likeliest
    first = found[0][1]
    try:
        confirmed = confirm(place[0], first)
    except OutOfTimeError:
        return None
    if not confirmed:
        return None
    clue = _clue(place, found, control, at)
    turned = [at(*where) for where, each in others if _is_the_other_way(first, each[0][1])]
    if turned:
        says = f"`{first.old}` at {at(*place)} is written `{first.new}` at {turned[0]}: with one of them as the other the command passes"
        clue = replace(clue, says=says)
    others_told = (
        f", and {shown_count(len(others) - len(turned), 'less likely one')} did"
        if len(others) > len(turned)
        else ""
    )
    return replace(
        clue,
        sureness=Sureness.SHOWN,
        why=f"{clue.why}; with it, the check that failed was made and passed;"
        f" {shown_count(sweep.failed, 'other change')} on the way of the value didn't let it pass{others_told}",
        trials=(*clue.trials, *confirmed),
        next_step=f"{clue.next_step} If not, the check at {at(check.path, check.line)} wants a wrong value",
    )


def _clue(
    place: _Place, variations: list[tuple[int, Variation]], control: int, at: Placing
) -> Clue:
    path, line = place
    number, best = variations[0]
    also = (
        f", as with {len(variations) - 1} more changes of that line" if len(variations) > 1 else ""
    )
    return Clue(
        says=passes(place, best, at, "the command"),
        why=f"trial {number} ran with that change and passed{also}; trial {control} ran without it"
        " and failed",
        path=path,
        line=line,
        trials=(number, control),
        next_step=f"check {at(path, line)}: {_meant(best.new)}",
    )


def _meant(new: str) -> str:
    """Ask whether a change was meant; of one that is deprecated, name what takes its place."""
    for deprecated, instead in _INSTEAD.items():
        if new.endswith(deprecated):
            return f"did you mean UTC there? `{instead}` says so (`{new}` is deprecated)"
    return f"did you mean `{new}` there?"


def rivals_of(way: Way) -> Iterator[tuple[str, Variation]]:
    """Yield the likeliest small changes, by which another line may be what is wrong."""
    likely = (each for each in _candidates(way) if each[1].order == (LIKELY, False))
    yield from islice(likely, _MOST_RIVALS)


def _candidates(way: Way) -> Iterator[tuple[str, Variation]]:
    places = [place for place in way.places if place != way.failing][:_MOST_PLACES]
    paths = dict.fromkeys(path for path, _ in places if path.endswith(".py"))
    texts = {path: text for path in paths if (text := text_to_change(path))}
    for path, text in texts.items():
        active = way.active.get(path, set())
        fixed = deciding_lines(text, active)
        lines = [line for other, line in places if other == path]
        beside = [other for at, other in texts.items() if at != path]
        for each in variations_of(text, lines, fixed, partial(way.kind_of, path), beside):
            yield path, each


def text_to_change(path: str) -> str:
    """Return a module's text; empty: it can't be read, or is too long to be run with a change."""
    with suppress(OSError, UnicodeDecodeError):
        text = Path(path).read_bytes()
        return text.decode() if len(text) < MOST_BYTES and b"\0" not in text else ""
    return ""


def _is_decisive(passing: Sequence[Variation], failed: int, check: Check) -> bool:
    """Whether the first change that passes stands out from all others that were tried.

    Args:
        passing: the changes with which the command passes, each of another line, the likeliest first.
        failed: how many others did not let it pass.
        check: what failed.
    """
    first, *others = passing
    is_slip = first.rank <= LESS_LIKELY and not first.is_offset
    is_alone = all(each.order > first.order or _is_the_other_way(first, each) for each in others)
    # A task that was started and not waited for is a slip where two values are to be the same.
    is_telling = check.is_specific or (check.is_equal and first.new == f"await {first.old}")
    return is_telling and is_slip and is_alone and failed >= _LEAST_FAILED


def _is_the_other_way(one: Variation, other: Variation) -> bool:
    """Whether two changes make the same two texts alike, each at one of them."""
    told = [text.replace('"', "'") for text in (one.old, one.new, other.new, other.old)]
    return told[:2] == told[2:]


@dataclass(slots=True, kw_only=True)
class Witnesses:
    """Looks whether a program that passes with a change still makes the check that failed.

    Attributes:
        run: runs a command from its start.
        trial: what fails.
        whole: the command with all its tests, where `trial` runs fewer of them.
        baseline: what fails, and what judges it.
        check: what failed.
    """

    run: RunOf
    trial: Trial
    whole: Trial | None
    baseline: Baseline
    check: Check

    def confirm(self, path: str, change: Variation, *, is_cause: bool = True) -> Trials:
        """Return the trials that say so; nothing: the check is not made, or other tests fail."""
        # A likely change may mend the guard that should have kept the program from what failed.
        but_last = not is_cause and change.rank <= LESS_LIKELY
        number = self.still_checking(
            path, change.text, change.line, change.more_lines, but_last=but_last
        )
        if not number or self.whole is None or not is_cause:
            return (number,) if number else ()
        all_tests, outcome = self.run(self.whole, AgentTasks(edit=(path, change.text)))
        is_good = self.baseline.oracle.judge(outcome) is Verdict.GOOD
        return (number, all_tests) if is_good else ()

    def still_checking(
        self, path: str, text: str, line: int, more_lines: int, *, but_last: bool = False
    ) -> int:
        """Return the trial that passes with a changed module and comes to the check; 0: none does.

        One that raises more errors than the failing run may pass because it refuses its work.

        Args:
            path: the module.
            text: its text with the change.
            line: the line of the change.
            more_lines: how many lines it has gained.
            but_last: the time of the failure doesn't count.
        """
        tasks = AgentTasks(edit=(path, text), closer="steps:||0")
        number, outcome = self.run(self.trial, tasks)
        recording = recording_in(outcome)
        if self.baseline.oracle.judge(outcome) is not Verdict.GOOD or recording is None:
            return 0
        if still_complains(self.baseline.outcome, outcome) or self.check.raises_more(recording):
            return 0
        is_made = self.check.is_made_in(
            recording, edited=path, after=line, more_lines=more_lines, but_last=but_last
        )
        return number if is_made else 0
