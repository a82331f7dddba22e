"""The clues to the cause of a failure, by its symptom; each step gives its reason."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from whet.core.budget import OutOfTimeError
from whet.core.errors import WhetError
from whet.core.failure import FailureKind
from whet.core.observations.clue import Clue, Mention, Placing, Sureness
from whet.core.observations.evidence import STACKS
from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_count, shown_seconds
from whet.core.text.record import JsonObject
from whet.core.text.shown_text import visible_line
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.clues.closer_look import (
    descriptor_clues,
    foreign_clues,
    lock_clues,
    told_in,
)
from whet.evidence.clues.ended_processes import later_process_clues, signal_clues
from whet.evidence.clues.endless_calls import endless_clues
from whet.evidence.clues.inner_errors import inner_clues
from whet.evidence.clues.memory_holder import memory_clues
from whet.evidence.clues.not_a_number import is_of_torch, number_clues
from whet.evidence.clues.overriding import overriding_clues
from whet.evidence.clues.raised_before import is_given_up, raised_clues
from whet.evidence.printed.usage import usage_clues
from whet.evidence.printed.warned import warning_clues
from whet.evidence.provenance.failure.way import Way
from whet.evidence.signature.room_met import is_about_gpus
from whet.evidence.stacks.stack_groups import groups_of, stack_clues, stacks_in
from whet.evidence.stacks.waiting_processes import broken_pool_clues, process_clues
from whet.host.inspect.presence import ended_in, pythons_in
from whet.host.trial.agent_tasks import NO_TASKS, AgentTasks
from whet.workbench.inspect.post_mortem import dead_in, likeliest
from whet.workbench.inspect.wrong_files import wrong_file_clues
from whet.workbench.investigate.closer import first_nan
from whet.workbench.investigate.closer.drops import Dropped, dropped_in, with_drops
from whet.workbench.investigate.closer.joined_clues import (
    each_once,
    each_step_once,
    in_order,
    on_the_way,
    together,
    with_changes,
    with_last,
)
from whet.workbench.investigate.closer.kept import shown_clues
from whet.workbench.investigate.closer.one_process import recorded_alone
from whet.workbench.investigate.closer.races import Races
from whet.workbench.investigate.closer.unreached import why_unreached
from whet.workbench.investigate.experiments.kept_for_others import kept_changes
from whet.workbench.investigate.experiments.other_data import named_files
from whet.workbench.investigate.experiments.repaired import Known, repaired_clue
from whet.workbench.investigate.experiments.varied import Varied, Witnesses, rivals_of, vary
from whet.workbench.investigate.experiments.warm_changes import TriedChanges, contained
from whet.workbench.investigate.traces.neighbours import Neighbours
from whet.workbench.investigate.traces.origins import (
    Origins,
    Recorded,
    at_inner_error,
    origins_of,
    unended_in,
)
from whet.workbench.toggle.fork_clues import fork_clues
from whet.workbench.toggle.toggle_clues import Late, late_error, toggle_clues
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Place, Session

MOST_CLUES = 5

_TIMES, _TIMES_HANG, _LEAST_SECONDS, _MOST_SECONDS = 8, 3, 10.0, 120.0
"""An instrumented rerun can take this many times as long as a plain run, within bounds."""

_MOST_WAITED = 6.0
"""On a busy machine, `_LEAST_SECONDS` grows with the wait for a processor, up to this factor."""

_TIMES_CHANGED, _LEAST_CHANGED = 4, 3.0
"""The same for a run with a change: a change with which it runs forever isn't a repair."""

_STEPS = "the steps of the failing run"
_RECORDS, _CHANGES = "runs without a record", "small changes of the program"
_LOOKS = 4
_CHANCE = 0.05
_FOR_REPAIRS, _FOR_CHANGES, _FOR_OTHERS, _FOR_ALL = 0.3, 0.8, 0.4, 0.9
_MOST_RECORDS, _MOST_CHANGES = (10, 4.0), (15, 6.0)  # times the failing run's, and seconds
_FOR_NEIGHBOURS, _FOR_RECORDS, _FOR_FIRST, _FOR_FLAKY = 0.35, 0.35, 0.75, 0.85
"""How much of the time that is left they may take: what comes later shows causes, too."""


FoundT = TypeVar("FoundT")


@value_class(kw_only=True)
class Finding:
    """What a look for the cause has found.

    Attributes:
        clues: the likeliest first.
        summary: what was done, in a sentence.
        origin: where the bad value came from, among them or not; None: that isn't known.
        change: the path and the text of a module with which the command passes, if the likeliest
            clue is about that; None: it isn't.
    """

    clues: tuple[Clue, ...]
    summary: str
    origin: Clue | None = None
    change: tuple[str, str] | None = None


@dataclass(slots=True, kw_only=True)
class Closer:
    """A look for the cause of one failure.

    Attributes:
        session: runs its trials.
        trial: what fails.
        baseline: how.
        place: where it runs, if it runs on another version.
        tries_changes: run the program with small changes too.
        is_drawn: it fails each time only with its random numbers held, and a change shifts them.
        whole: the command with all its tests, where `trial` runs fewer of them.
        is_patient: the user said how long it may take.
        passed_while_looked_at: how many runs passed because they were.
        looked: the numbers of the trials that were looked at, in their order.
        short_of: the looks for which there was too little time.
        _record_seconds: what the run took whose steps were recorded; 0: there was none yet.
        _cut_after: the run whose steps were recorded was ended after so many seconds; 0: it was not.
    """

    session: Session
    trial: Trial
    baseline: Baseline
    place: Place | None = None
    tries_changes: bool = True
    is_drawn: bool = False
    whole: Trial | None = None
    is_patient: bool = False
    passed_while_looked_at: int = 0
    looked: list[int] = field(default_factory=list[int])
    short_of: list[str] = field(default_factory=list[str])
    _record_seconds: float = 0.0
    _cut_after: float = 0.0
    _libraries: set[str] | None = None
    _changed: TriedChanges | None = None
    _late: Late | None = None
    _told: Sequence[JsonObject] = ()
    _dropped: Dropped = field(default_factory=Dropped)

    @property
    def is_short(self) -> bool:
        """Whether the time was spent before all was looked at."""
        return bool(self.short_of)

    def look(self) -> Finding:
        """Return what points at the cause."""
        try:
            return self._look()
        finally:
            if self._changed is not None:
                self._changed.close()

    def _look(self) -> Finding:
        at = Placing(self.trial.cwd)
        late = self._in_time("errors that are reported late", self._of_late_error, _FOR_OTHERS)
        # Most causes are told by this one: the others have what it leaves.
        is_slow = self.baseline.reproduction.wall_seconds > first_nan.SLOW_SECONDS
        numbers = self._first_numbers(at, _FOR_FIRST) if is_slow else []
        is_known = any(each.sureness is not Sureness.POSSIBLE for each in numbers)
        (recorded,) = ([] if is_known else self._in_time(_STEPS, self._recorded)) or [None]
        outcome = self.baseline.outcome
        stacks = [stacks_in(each) for each in outcome.evidence if each.kind == STACKS]
        groups = [group for each in stacks for group in groups_of(each)]
        waiting = stack_clues(groups, at) if outcome.timed_out else []  # killed: it didn't wait
        clues: list[Clue] = [*late, *self._of_first_look(outcome, at), *waiting]
        clues = [
            *self._in_time(
                "a run that is watched", lambda: self._of_closer_look(at), self._for_races
            ),
            *clues,
        ]
        exits = ended_in(outcome.evidence)
        clues = [*(clue for each in stacks for clue in process_clues(each, exits, at)), *clues]
        numbers = numbers if is_slow else self._first_numbers(at)
        clues = [*broken_pool_clues(outcome.failure, exits, at), *numbers, *clues]
        clues += self._in_time(
            "switches", lambda: self._of_toggles(is_explained=bool(clues)), _FOR_OTHERS
        )
        if recorded is not None and recorded.recording.standing is not None:
            frames = (each.frames for each in groups)
            stood = [each for stack in (*outcome.stacks, *frames) for each in stack]
            clues = [*unended_in(recorded, stood, at), *clues]
            self._cut_after, recorded = recorded.seconds, None
        origins = Origins() if recorded is None else origins_of(recorded, at)
        clues, last = with_drops(clues, self._dropped, (recorded, origins.way), at, _source_of)
        repairs = self._in_time(
            "repairs of shared state", lambda: self._of_repairs(clues, recorded, origins.way)
        )
        clues = [*repairs, *clues]
        clues = together([on_the_way(each, origins) for each in clues], origins.clues)
        if origins.is_firm:  # the way of the value ends nearer to the cause than a return
            clues.sort(key=lambda each: each in numbers or Mention.MEMORY in each.mentions)
        near = self._in_time(
            "runs that pass with other input",
            lambda: self._of_neighbours(clues, recorded, at),
            _FOR_NEIGHBOURS,
        )
        clues = in_order([*near, *clues])
        varied = self._with_variations(each_once(clues), origins, at)
        clues = each_step_once(in_order(with_last(varied, last)))
        gathered = [
            replace(
                each,
                says=visible_line(" ".join(each.says.split("\n"))),
                trail=tuple(step.printable() for step in each.trail),
            )
            for each in clues[:MOST_CLUES]
        ]
        if self._passes_when_watched:
            gathered = [*gathered[: MOST_CLUES - 1], self._watched()]
        sentences = [gathered[0].says] if gathered else [why_unreached(self.trial, outcome)]
        sentences += [shown_count(len(gathered) - 1, "more clue")] if gathered[1:] else []
        if self._cut_after and not outcome.timed_out:
            sentences.append(
                f"the recorded run had not failed when its time was up, after {shown_seconds(self._cut_after)}:"
                " whet didn't see where its values came from"
            )
        return Finding(
            clues=tuple(gathered),
            summary="; ".join(filter(None, sentences)),
            origin=next(iter(origins.clues), None),
            change=self._change_of(gathered[:1]),
        )

    def _change_of(self, clues: Sequence[Clue]) -> tuple[str, str] | None:
        passing = {} if self._changed is None else self._changed.passing
        numbers = (number for each in clues for number in each.trials)
        return next((passing[number] for number in numbers if number in passing), None)

    def passes_with(self, change: tuple[str, str]) -> bool:
        """Whether the command passes with another text of a module."""
        _, outcome = self._variant(self._contained(), AgentTasks(edit=change))
        return self.baseline.oracle.judge(outcome) is Verdict.GOOD

    def origin(self) -> Clue | None:
        """Return where the bad value comes from; None: a run with its steps recorded doesn't tell."""
        (recorded,) = self._recorded() or [None]
        if recorded is None or recorded.recording.standing is not None:
            return None
        return next(iter(origins_of(recorded, Placing(self.trial.cwd)).clues), None)

    def _in_time(
        self, name: str, look: Callable[[], list[FoundT]], share: float = 1.0
    ) -> list[FoundT]:
        """Return what a look finds; nothing if there is no time left for it: the others keep theirs.

        Args:
            name: what it does, as a reader knows it.
            look: the look.
            share: how much of the time that is left it may take.
        """
        whole = self.session
        if share < 1 and whole.deadline is not None:
            self.session = replace(whole, deadline=self._until(share))
        try:
            return look()
        except OutOfTimeError:
            self.short_of.append(name)
            return []
        finally:
            self.session = whole

    @property
    def _passes_when_watched(self) -> bool:
        chance = (1 - self.baseline.reproduction.rate) ** _LOOKS
        return self.passed_while_looked_at == _LOOKS and chance < _CHANCE

    def _watched(self) -> Clue:
        from whet.workbench.investigate.closer.watched import watched_clue

        dead = dead_in(self.baseline.outcome.evidence)
        sources = {path: text for each in dead for path, text in each.failure.sources.items()}
        return watched_clue(self.session, self.trial, self.baseline, sources=sources, looks=_LOOKS)

    @property
    def _for_races(self) -> float:
        """How much of the time is for races: what is flaky is looked at in no other way."""
        return _FOR_OTHERS if self.baseline.reproduction.is_deterministic else _FOR_FLAKY

    @property
    def _can_look_closer(self) -> bool:
        seconds = self.baseline.reproduction.wall_seconds
        return bool(pythons_in(self.baseline.outcome.evidence)) and seconds * 2 <= _MOST_SECONDS

    def _of_first_look(self, outcome: Outcome, at: Placing) -> list[Clue]:
        dead = dead_in(outcome.evidence)
        warned = [*usage_clues(outcome, self.trial.command, at), *warning_clues(outcome, at)]
        if not dead:
            return warned
        process = dead[likeliest(outcome, dead)]
        return [
            *warned,
            *signal_clues(outcome.failure, process.error, at),
            *inner_clues(process.failure, process.error, at),
            *later_process_clues(
                process.failure, process.error, [each.failure for each in dead], at
            ),
            *wrong_file_clues(
                process.failure, process.error, self.session.bench.project.folder, at
            ),
            *overriding_clues(process.failure, process.error, at),
            *endless_clues(
                process.failure, process.error, at, named_files(self.session.bench, self.trial)
            ),
        ]

    def _of_closer_look(self, at: Placing) -> list[Clue]:
        if not self._can_look_closer:
            return []
        outcome = self._look_until_it_fails()
        trial = self.looked[-1]
        reports = self._told = told_in(outcome.evidence)
        self._dropped = dropped_in(reports, trial, self.baseline.outcome)
        failure = outcome.failure or self.baseline.outcome.failure
        kind = None if failure is None else failure.kind
        clues = [
            *descriptor_clues(reports, at),
            *Races(self.baseline, self._asked, self.looked).clues(reports, at),
        ]
        if kind is FailureKind.TIMEOUT:
            clues += lock_clues(reports, at)
        if kind is FailureKind.TIMEOUT or any(is_given_up(each) for each in reports):
            run = self._changes().run if self.tries_changes else None
            clues[:0] = shown_clues(reports, run, self.baseline, at)
        if kind is FailureKind.SIGNAL:
            clues += foreign_clues(reports, at)
        clues += memory_clues(reports, at, _source_of)
        clues += raised_clues(reports, failure, at, _source_of)
        return [replace(each, trials=each.trials or (trial,)) for each in clues]

    def _of_repairs(
        self, clues_so_far: Sequence[Clue], recorded: Recorded | None, way: Way | None
    ) -> list[Clue]:
        """Return the change that ends the failure, unless its cause is named; what takes memory is none."""
        is_named = any(e.sureness is not Sureness.POSSIBLE and not e.heading for e in clues_so_far)
        is_tried = self.tries_changes and self._can_look_closer
        if is_named or not is_tried or self.baseline.outcome.timed_out:
            return []
        with suppress(WhetError):  # this machine has no such room
            clue = repaired_clue(
                self.trial,
                self.baseline,
                Known(
                    recording=None if recorded is None else recorded.recording,
                    drops=self._dropped.drops,
                    kept=kept_changes(recorded, way, Placing(self.trial.cwd)),
                    rivals=() if way is None else rivals_of(way),
                ),
                self._changes().run,
                None if way is None else self._witnesses(way).still_checking,
                until=self._until(_FOR_ALL if way is None else _FOR_REPAIRS),
            )
            return [] if clue is None else [clue]
        return []

    def _recorded(self) -> list[Recorded | None]:
        """Return the steps of the failing run."""
        if not self._can_look_closer:
            return []
        dead = dead_in(self.baseline.outcome.evidence)
        process = at_inner_error(dead[likeliest(self.baseline.outcome, dead)]) if dead else None
        began = time.monotonic()
        recorded = recorded_alone(self.session, self.trial, self.baseline, process, self._variant)
        if recorded is not None and recorded.recording.standing is None:
            self._record_seconds = time.monotonic() - began
        return [recorded]

    def _of_neighbours(
        self, clues_so_far: Sequence[Clue], recorded: Recorded | None, at: Placing
    ) -> list[Clue]:
        """Return what was different where it worked, where nothing else has named the cause."""
        if (
            recorded is None
            or self.is_drawn
            or any(each.sureness is not Sureness.POSSIBLE for each in clues_so_far)
        ):
            return []
        neighbours = Neighbours(
            bench=self.session.bench, trial=self._contained(self.whole), baseline=self.baseline, recorded=recorded,
            run=self._variant, at=at,
        )  # fmt: skip
        with suppress(WhetError):  # this machine has no such room
            return neighbours.clues()
        return []

    def _contained(self, trial: Trial | None = None) -> Trial:
        """Return what fails in a room in which nothing that it writes stays."""
        return contained(self.session.bench, trial or self.trial)

    def _with_variations(self, clues: list[Clue], origins: Origins, at: Placing) -> list[Clue]:
        """Return the clues with the one-token changes with which the command passes."""
        way = origins.way
        is_named = any(each.sureness is not Sureness.POSSIBLE for each in clues)
        if way is None or is_named or not self.tries_changes:
            return clues
        from whet.workbench.investigate.experiments.left_out import LeftOut, left_out_clues

        contained, read = self._contained(), set(origins.files)
        # A neighbour lacks the record.
        is_found = any(str(Path(self.trial.cwd, each.path)) in read for each in clues)
        until = self._until(_FOR_RECORDS, _MOST_RECORDS, is_recorded=False)
        bench, base = self.session.bench, self.baseline
        (left_out,) = (
            [] if is_found else self._in_time(
                _RECORDS,
                lambda: [left_out_clues(bench, contained, base, origins, self._at_once, until)],
            )
        ) or [LeftOut()]  # fmt: skip
        records = list(left_out.clues)
        if any(each.sureness is Sureness.SHOWN for each in records):
            return [*records, *clues]
        if left_out.is_cut:
            self.short_of.append(_RECORDS)
        until = self._until(_FOR_CHANGES, _MOST_CHANGES)
        run, confirm = self._changes().run, self._witnesses(way).confirm
        (varied,) = self._in_time(
            _CHANGES, lambda: [vary(self.baseline, way, run, at, confirm, until=until)]
        ) or [Varied()]
        if varied.is_cut:
            self.short_of.append(_CHANGES)
        if varied.cause:
            return [*varied.cause, *clues, *records]
        is_telling = origins.is_telling or len(clues) > len(origins.clues)
        clues_first = is_telling and not way.check.is_exact
        return with_changes(varied, clues, records, clues_first=clues_first)

    def _witnesses(self, way: Way) -> Witnesses:
        return Witnesses(
            run=self._variant, trial=self._contained(), baseline=self.baseline, check=way.check,
            whole=None if self.whole is None else self._contained(self.whole),
        )  # fmt: skip

    def _until(
        self, share: float, most: tuple[float, float] | None = None, *, is_recorded: bool = True
    ) -> float:
        """Return when a share of the time that is left is over; what passes is tried again after that, too.

        Args:
            share: from 0 to 1.
            most: the bound where nobody asked for more: times of the failing run, and seconds.
            is_recorded: what passes runs once more, with its steps recorded.
        """
        now, deadline = time.monotonic(), self.session.deadline
        kept = self._record_seconds if is_recorded else 0.0
        left = math.inf if deadline is None else max(deadline - now - kept, 0.0)
        until = now + share * left
        if most is None or self.is_patient:
            return until
        times, seconds = most
        return min(until, now + times * self.baseline.reproduction.wall_seconds + seconds)

    def _changes(self) -> TriedChanges:
        """Return what runs the command with changes of its text."""
        if self._changed is None:
            usual = self.baseline.reproduction.wall_seconds
            times = 1 if self.baseline.outcome.timed_out else _TIMES_CHANGED
            seconds = min(max(_LEAST_CHANGED, times * usual), _MOST_SECONDS)
            timed = _with_time(self._contained(), seconds)
            self._changed = TriedChanges(
                session=self.session, trial=timed, oracle=self.baseline.oracle, looked=self.looked
            )
        return self._changed

    def _variant(self, trial: Trial, tasks: AgentTasks) -> tuple[int, Outcome]:
        (outcome,) = self._run(tasks, 1, trial=trial)
        return self.looked[-1], outcome

    def _at_once(self, trials: Iterable[Trial]) -> Iterator[tuple[int, Outcome]]:
        """Run trials without tasks, on all cores; yield their numbers and what they did, in order."""
        seconds = seconds_to_look(self.baseline.outcome, self.baseline.reproduction.wall_seconds)
        timed = (_with_time(each, seconds) for each in trials)
        session = replace(self.session, tasks=NO_TASKS)
        for ran in session.run_all(timed, self.baseline.oracle, "looked at", place=self.place):
            self.looked.append(ran.own_number)
            yield ran.own_number, ran.outcome

    def _of_late_error(self) -> list[Clue]:
        """Return where an error happens that is reported later; all further looks are taken there."""
        self._late = late_error(self.session, self.trial, self.baseline)
        moved = None if self._late is None else self._late.moved
        if moved is None:
            return []
        self.trial, self.baseline = moved.trial, moved.baseline
        return [moved.clue]

    def _of_toggles(self, *, is_explained: bool) -> list[Clue]:
        of_forks = fork_clues(self.session, self.trial, self.baseline, self._told)
        return [*of_forks, *toggle_clues(
            self.session, self.trial, self.baseline, is_explained=is_explained or bool(of_forks),
            libraries=self._libraries, known=self._late,
        )]  # fmt: skip

    def _first_numbers(self, at: Placing, share: float = _FOR_OTHERS) -> list[Clue]:
        return self._in_time("the first NaN", lambda: self._of_numbers(at), share)

    def _of_numbers(self, at: Placing) -> list[Clue]:
        """Return what a run tells in which each line was watched for the first number that is none."""
        self._libraries = first_nan.libraries_of_numbers(self.baseline)
        if self._libraries is None or not self._can_look_closer:
            return []
        times = 1 if self.baseline.reproduction.is_deterministic else _LOOKS
        reports = first_nan.watched_numbers(
            lambda word: told_in(self._run(_looking(word), times, until=Verdict.BAD)[-1].evidence),
            self.baseline.reproduction.wall_seconds,
        )
        self._libraries |= {"torch"} if is_of_torch(reports) else set()
        trials = (self.looked[-1],)
        return [replace(each, trials=trials) for each in number_clues(reports, at)]

    def _look_until_it_fails(self) -> Outcome:
        """Return a run that was looked at closely and failed, else the last one that did not."""
        failure = self.baseline.outcome.failure
        is_full = (
            failure is not None
            and failure.kind is FailureKind.OUT_OF_MEMORY
            and not is_about_gpus(failure.summary)
        )
        runs = self._run(_looking("memory" if is_full else ""), _LOOKS, until=Verdict.BAD)
        oracle = self.baseline.oracle
        self.passed_while_looked_at = sum(oracle.judge(run) is Verdict.GOOD for run in runs)
        return runs[-1]

    def _asked(self, word: str, times: int, until: Verdict | None) -> list[Outcome]:
        return self._run(_looking(word), times, until=until)

    def _run(
        self,
        tasks: AgentTasks,
        times: int,
        *,
        until: Verdict | None = None,
        trial: Trial | None = None,
    ) -> list[Outcome]:
        """Run the command with other tasks, several times, or until it ends in one way."""
        base = self.baseline
        seconds = seconds_to_look(base.outcome, base.reproduction.wall_seconds)
        # What fails each time, and is cut off when it is looked at, is cut off in another run, too.
        is_slowed = base.reproduction.is_deterministic and not base.outcome.timed_out
        runs = replace(self.session, tasks=tasks).repeat(
            _with_time(trial or self.trial, seconds), base.oracle, "looked at", times=times, place=self.place,
            until=lambda ran: ran.verdict is until or (is_slowed and ran.outcome.timed_out),
        )  # fmt: skip
        self.looked += [each.own_number for each in runs]
        return [each.outcome for each in runs]


def seconds_to_look(plain: Outcome, usual_seconds: float) -> float:
    """Return how long a closer look may take: on a busy machine, where processes wait, longer.

    Args:
        plain: a run without a look.
        usual_seconds: what such a run takes.
    """
    if plain.timed_out:  # it takes all that it gets
        return min(max(_LEAST_SECONDS, _TIMES_HANG * usual_seconds), _MOST_SECONDS)
    waited = plain.wall_seconds / plain.cpu_seconds if plain.cpu_seconds else 1.0
    least = _LEAST_SECONDS * min(max(waited, 1.0), _MOST_WAITED)
    return min(max(least, _TIMES * usual_seconds), _MOST_SECONDS)


def _with_time(trial: Trial, seconds: float) -> Trial:
    limit = trial.limits.wall_seconds
    return replace(trial, limits=replace(trial.limits, wall_seconds=max(seconds, limit or 0.0)))


def _looking(word: str) -> AgentTasks:
    return AgentTasks(keeps_locals=True, closer=word)


def _source_of(path: str) -> str:
    with suppress(OSError):
        return Path(path).read_text("utf-8", "replace")
    return ""
