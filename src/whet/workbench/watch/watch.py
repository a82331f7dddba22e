"""`whet watch`: panels on their own, or beside a program that is a trial like any other."""

import os
import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.core.errors import BadUsage, NothingRecorded
from whet.core.observations.evidence import TIMELINE, Evidence
from whet.core.observations.timeline import Timeline
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.text.record import as_record, decoded
from whet.core.threshold import Crossing, Threshold
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.levels.subjects import Subject, of_folder, tree_of
from whet.host.process.console import Console
from whet.host.process.ending import cleaning_up
from whet.host.trial.agent_tasks import NO_TASKS, AgentTasks
from whet.host.trial.known_secrets import veiled_data
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.run import RunResult, judged
from whet.workbench.trials.session import Session
from whet.workbench.trials.tested import result_of
from whet.workbench.watch.actions import KILL, Actions
from whet.workbench.watch.panels import ALLOCATORS, OF_PROCESSES, Wish, panels_for
from whet.workbench.watch.readers import Surroundings, readers_for, subject_of
from whet.workbench.watch.recording import Replay, replay_of
from whet.workbench.watch.watching import Watch

_ALLOCATORS_SECONDS = 1.0


@value_class(kw_only=True)
class Plan:
    """What to watch.

    Attributes:
        wishes: the panels.
        thresholds: what not to miss.
        interval_seconds: how long after a look the next one is due.
        seconds: end after this time if there is no program; None: never.
        column: the column of commands that is drawn; empty: whet chooses one.
    """

    wishes: Sequence[Wish]
    thresholds: Sequence[Threshold] = ()
    interval_seconds: float = 1.0
    seconds: float | None = None
    column: str = ""


@contextmanager
def open_watch(bench: Workbench, plan: Plan) -> Generator[Watch, None, None]:
    """Watch without a program of its own: this project's processes where a panel names none.

    Raises:
        BadUsage: if a threshold asks for what only a program makes possible.
    """
    for each in plan.thresholds:
        if each.action == KILL:
            raise BadUsage(
                "`kill` ends the program behind `--`, and there is none",
                hint=f"name it: whet watch --when '{each.text}' kill -- python train.py",
            )
    root = str(bench.project.root)
    around = _surroundings(bench, plan, None, of_folder(root), f"no process runs in `{root}` (yet)")
    ends = None if plan.seconds is None else time.monotonic() + plan.seconds
    watch = _watch(plan, around)
    if ends is not None:
        watch.is_over = lambda: time.monotonic() >= ends
    try:
        yield watch
    finally:
        with cleaning_up():
            watch.close()


@dataclass(slots=True, kw_only=True)
class WatchedTrial:
    """A trial that runs while its panels are looked at.

    Attributes:
        watch: the panels.
        result: what came of it; None: it still runs, or could not be started.
        told: what actions had to say after its end.
        is_kept: what was seen is kept with it.
    """

    watch: Watch
    session: Session
    trial: Trial
    future: "Future[Outcome]"
    oracle: Oracle
    result: RunResult | None = None
    told: list[str] = field(default_factory=list[str])
    is_kept: bool = False

    def conclude(self) -> RunResult:
        """Wait for the end, judge the trial, and keep what was seen with it.

        Raises:
            WhetError: if it couldn't be run.
        """
        if self.result is None:
            ran = result_of(self.trial, self.future, self.oracle, "")
            self.watch.actions.finish()
            self.told = self.watch.untold()
            self.result = judged(self.session, ran, self.oracle)
            self.keep()
        return self.result

    @property
    def outcome(self) -> Outcome | None:
        """What came of it; None: it still runs, or couldn't be started."""
        if not self.future.done() or self.future.cancelled() or self.future.exception():
            return None
        return self.future.result()

    def keep(self) -> None:
        """Keep what was seen with the trial, once; also with one that whet's own end has ended."""
        number: int | None = getattr(self.future, "number", None)
        if self.is_kept or number is None:
            return
        self.is_kept = True
        notebook = self.session.bench.notebook
        for each in (_kept(self.watch.recording.timeline()), *self.watch.actions.evidence):
            notebook.observe(number, each)


@contextmanager
def open_trial(
    bench: Workbench,
    request: TrialRequest,
    plan: Plan,
    console: Console,
    tasks: AgentTasks = NO_TASKS,
) -> Generator[WatchedTrial, None, None]:
    """Start what the user asked for as one recorded trial, and watch it.

    Leaving the block ends the program if it still runs.
    """
    trial = bench.build_trial(request, live=console.is_shown)
    wishes = panels_for(plan.wishes, plan.thresholds)
    if any(each.kind in ALLOCATORS for each in wishes):
        tasks = replace(tasks, levels_seconds=min(plan.interval_seconds, _ALLOCATORS_SECONDS))
    session = Session(bench=bench, verb="watch", request=request, tasks=tasks)
    subject = tree_of(lambda: console.progress.pid)
    around = _surroundings(
        bench, plan, console, subject, "whet has seen no process of the program (yet)"
    )
    with session.executor(console=console) as executor:
        future = executor.submit(trial)
        watch = _watch(plan, around)
        watch.is_over = future.done
        watch.wait = lambda seconds: wait([future], seconds)
        watched = WatchedTrial(
            watch=watch, session=session, trial=trial, future=future,
            oracle=oracle_of(request.judging),
        )  # fmt: skip
        try:
            yield watched
        finally:
            with cleaning_up():
                watch.close()
                watched.keep()


def replay_of_trial(bench: Workbench, name: int | str) -> tuple[Entry, Replay]:
    """Return what was recorded of a trial.

    Raises:
        NothingRecorded: if nothing was.
        UnknownTrial: if there is no such trial.
    """
    entry = bench.notebook.find(name)
    number = entry.number
    timelines = [
        Timeline.from_json(as_record(decoded(each.data), TIMELINE))
        for each in bench.notebook.evidence_of(number, TIMELINE)
    ]
    seconds = 0.0 if entry.outcome is None else entry.outcome.wall_seconds
    recorded = replay_of(timelines, bench.notebook.resources_of(number), seconds)
    if recorded is None or not recorded.sights:
        raise NothingRecorded(
            f"whet has no levels of trial {number}",
            hint="run it again, watched: `whet watch -- COMMAND`",
        )
    return entry, recorded


def _watch(plan: Plan, around: Surroundings) -> Watch:
    console = around.console
    wishes = panels_for(plan.wishes, plan.thresholds)
    named = next((each for each in wishes if each.kind in OF_PROCESSES and each.argument), None)
    told = deque[str]()
    actions = Actions(
        around=around,
        subject=around.subject if named is None else subject_of(named, around),
        kill=None if console is None else console.send,
        tell=told.append,
    )
    return Watch(
        readers=readers_for(wishes, around),
        interval_seconds=plan.interval_seconds,
        crossings=[Crossing(each) for each in plan.thresholds],
        actions=actions,
        console=console,
        told=told,
    )


def _surroundings(
    bench: Workbench, plan: Plan, console: Console | None, subject: Subject, absence: str
) -> Surroundings:
    return Surroundings(
        subject=subject,
        console=console,
        absence=absence,
        interval_seconds=plan.interval_seconds,
        column=plan.column,
        environment=bench.environment,
        cwd=os.path.abspath(bench.project.folder),
        cleanup_journal=bench.cleanup_journal,
        scratch=Path(bench.project.state, "scratch"),
    )


def _kept(timeline: Timeline) -> Evidence:
    detail = {"panels": sorted({each.source for each in timeline.levels}), "verb": "watch"}
    return Evidence(kind=TIMELINE, detail=detail, data=veiled_data(timeline.to_bytes()))
