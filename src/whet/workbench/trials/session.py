"""One use of a verb: it starts, judges, records and reports all of its trials."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeAlias

from whet.core.budget import StopReason
from whet.core.event import Event, Notice, SearchStopped, TrialFinished
from whet.core.executor import Executor
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput, Output
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.evidence.signature.classify import classify
from whet.execution.cold import ColdExecutor, Observe, Perform
from whet.execution.recording import RecordingExecutor
from whet.host.code.code_changes import describe_changes
from whet.host.process.console import Console
from whet.host.process.ending import cleaning_up
from whet.host.trial.agent_tasks import NO_TASKS, AgentTasks
from whet.host.trial.capture import Capture
from whet.host.trial.idle_slots import IdleSlots
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.tested import Tested, result_of

if TYPE_CHECKING:  # not loaded for a single trial: `whet run` must start at once
    from whet.execution.caching import CachingExecutor
    from whet.execution.deadline import DeadlineExecutor
    from whet.execution.several_runs import SeveralRunsExecutor
    from whet.workbench.trials.placing import PlacingExecutor

Place: TypeAlias = Callable[[Executor], "PlacingExecutor"]
"""Wraps the executor, so that a trial runs in its own checkout or environment."""

RecordedExecutor: TypeAlias = (
    "RecordingExecutor | CachingExecutor | DeadlineExecutor | SeveralRunsExecutor"
)
"""An executor whose futures know their trial's number."""


class Weighing(Protocol):
    """Answers each trial by several runs, of it and of others, where one run proves nothing."""

    def hold(self, place: Place | None) -> Place | None:
        """Return a place that stays from run to run."""
        ...

    def answer(self, trial: Trial, run: Callable[[Trial], Outcome]) -> Outcome:
        """Run trials, and return what they say together."""
        ...


@dataclass(slots=True)
class Log:
    """What a session has done so far.

    Attributes:
        begun: the numbers of the trials that were started.
        told: the numbers of those that were judged; None: an earlier trial answered.
        is_interrupted: Ctrl-C has ended a search.
    """

    begun: list[int] = field(default_factory=list[int])
    told: list[int | None] = field(default_factory=list["int | None"])
    is_interrupted: bool = False


@value_class(kw_only=True)
class Session:
    """What all trials of one use of a verb share; `dataclasses.replace` gives some of them other terms.

    Attributes:
        bench: the workbench.
        verb: who runs the trials.
        request: what the user asked for.
        number: the investigation that the trials belong to; None: each stands on its own.
        tasks: what the agents in the programs are to observe.
        deadline: when no trial runs any more, in seconds of `time.monotonic`; None: there is none.
        observe: says where to note what a trial looks at; None: nowhere.
        recalled: the outcome of a trial, as others than searches know it; None: nobody does.
        roots: folders other than a trial's own in which the project stands.
        clears_temporary: trials have a temporary folder of their own, which goes. Only for what was
            seen to fail so too: a file in the user's own may be what a failure needs.
        weighing: answers a trial by several runs; None: each trial is one run.
        before_each: is called before each trial is started, and may refuse it.
        idle_slots: what its executors leave to each other; None: each starts its own spawners.
        log: what it has done so far; shared by all that `replace` makes.
        end: why the investigation ended, and what it found; empty: it continues.
    """

    bench: Workbench
    verb: str
    request: TrialRequest
    number: int | None = None
    tasks: AgentTasks = NO_TASKS
    deadline: float | None = None
    observe: Observe | None = None
    recalled: Callable[[Trial], Outcome | None] | None = None
    roots: tuple[str, ...] = ()
    clears_temporary: bool = False
    weighing: Weighing | None = None
    before_each: Callable[[], None] = lambda: None
    idle_slots: IdleSlots | None = None
    log: Log = field(default_factory=Log)
    end: list[tuple[StopReason, Mapping[str, object]]] = field(
        default_factory=list[tuple[StopReason, Mapping[str, object]]]
    )

    # ---- single trials ----

    def run(
        self, trial: Trial, oracle: Oracle, label: str = "", *, place: Place | None = None
    ) -> Tested[None]:
        """Run one trial.

        Raises:
            WhetError: if it can't be run.
        """
        with self.executor(place=place) as executor:
            return self.run_on(executor, trial, oracle, label)

    def run_on(
        self, executor: RecordedExecutor, trial: Trial, oracle: Oracle, label: str = ""
    ) -> Tested[None]:
        """Run one trial through an executor that is open already.

        Raises:
            WhetError: if it can't be run.
        """
        ran = result_of(trial, executor.submit(trial), oracle, label)
        self.tell(ran, oracle)
        return ran

    def repeat(
        self,
        trial: Trial,
        oracle: Oracle,
        label: str,
        *,
        times: int,
        until: Callable[[Tested[None]], bool] = lambda _: False,
        place: Place | None = None,
    ) -> list[Tested[None]]:
        """Run one trial at most ``times`` times, until a run answers the question."""
        runs: list[Tested[None]] = []
        with self.executor(place=place) as executor:
            while len(runs) < times and not (runs and until(runs[-1])):
                runs.append(self.run_on(executor, trial, oracle, label))
        return runs

    def run_all(
        self, trials: Iterable[Trial], oracle: Oracle, label: str, *, place: Place | None = None
    ) -> Iterator[Tested[None]]:
        """Run trials on all cores; yield them in their order. What isn't asked for isn't begun."""
        left, jobs = iter(trials), self.bench.jobs
        with self.executor(jobs=jobs, place=place) as executor:
            under_way = deque((each, executor.submit(each)) for each in islice(left, jobs))
            while under_way:
                ran = result_of(*under_way.popleft(), oracle, label)
                under_way += ((each, executor.submit(each)) for each in islice(left, 1))
                self.tell(ran, oracle)
                yield ran

    def tell(self, ran: Tested[object], oracle: Oracle) -> None:
        """Write a verdict down, and show it."""
        self.judge(ran, oracle)
        self.show(ran)

    def judge(self, ran: Tested[object], oracle: Oracle) -> None:
        """Write down what a trial proves, and what became of its author's expectations.

        One that was not run has no row; of the trials of an investigation nobody expects a thing.
        """
        if ran.number is None:
            return
        expected = self.request.expectations if self.number is None else ()
        met = None
        if expected:
            from whet.core.expectation import all_met

            met = all_met(each.met(ran.outcome, ran.verdict) for each in expected)
        self.bench.notebook.judge(ran.number, oracle.description, ran.verdict, met)

    def show(self, ran: Tested[object]) -> None:
        """Tell the observers of a trial, or why it could not be run."""
        if ran.skipped is not None:
            label = f"{ran.label}: " if ran.label else ""
            self.emit(Notice(text=f"{label}skipped: {ran.skipped}"))
            return
        self.log.told.append(ran.number)
        self.emit(
            TrialFinished(
                number=ran.number, trial=ran.trial, outcome=ran.outcome, verdict=ran.verdict,
                label=ran.label,
            )
        )  # fmt: skip

    # ---- searches ----

    def stopped(self, reason: StopReason, trials: int, wall_seconds: float) -> None:
        """Tell everybody that a search has ended."""
        self.log.is_interrupted |= reason is StopReason.INTERRUPTED
        self.emit(SearchStopped(reason=reason, trials=trials, wall_seconds=wall_seconds))

    def conclude(self, reason: StopReason, facts: Mapping[str, object]) -> None:
        """Say why the investigation ends and what it has found; leaving its block writes that down."""
        self.end.append((reason, facts))

    # ---- what runs trials ----

    @property
    def emit(self) -> Callable[[Event], None]:
        """What tells the observers."""
        return self.bench.emit

    @contextmanager
    def executor(
        self,
        *,
        jobs: int = 1,
        console: Console | None = None,
        cached: bool = False,
        place: Place | None = None,
        perform: Perform | None = None,
        record: Callable[[Trial], int] | None = None,
    ) -> Generator[RecordedExecutor, None, None]:
        """Put an executor together: recording, around a cache if asked, around a place.

        Args:
            jobs: how many trials run at once.
            console: where the program's output goes live, or None.
            cached: answer a trial that was run before from the notebook.
            place: wraps what runs a trial in its checkout or its environment.
            perform: runs each program in a way of its own, from a frozen copy for one. Without
                it no outcome that came so is believed either.
            record: writes the row of a trial in place of `record`.
        """
        bench = self.bench
        with ColdExecutor(
            classify=partial(classify, roots=self.roots) if self.roots else classify,
            payload_of=bench.payload_store.payload_of,
            keep=self._keep,
            cleanup_journal=bench.cleanup_journal,
            scratch=bench.project.state / "scratch",
            environment=bench.environment,
            jobs=jobs,
            console=console,
            pycache=bench.project.state / "pycache",
            perform=perform,
            observe=self.observe,
            keep_looks=bench.notebook.blobs.put_bytes,
            tasks=self.tasks,
            clears_temporary=self.clears_temporary,
            deadline=self.deadline,
            idle_slots=self.idle_slots,
        ) as cold:
            weighing = self.weighing
            place = place if weighing is None else weighing.hold(place)
            placing = None if place is None else place(cold)
            recording = RecordingExecutor(placing or cold, record or self.record, self._finish)
            recall = self._known_cold if perform is None else bench.notebook.outcome_for
            try:
                is_cached = cached and weighing is None
                yield self._around(recording, recall if is_cached else None)
            finally:
                if placing is not None:
                    with cleaning_up():
                        placing.close()

    def _around(
        self, recording: RecordingExecutor, recall: Callable[[Trial], Outcome | None] | None
    ) -> "RecordedExecutor":
        if recall is None and self.deadline is None and self.weighing is None:
            return recording  # as for `whet run`, which must start at once
        from whet.execution.caching import CachingExecutor
        from whet.execution.deadline import DeadlineExecutor
        from whet.execution.several_runs import SeveralRunsExecutor

        whole = recording if recall is None else CachingExecutor(recording, recall)
        timed = whole if self.deadline is None else DeadlineExecutor(whole, self.deadline)
        return timed if self.weighing is None else SeveralRunsExecutor(timed, self.weighing.answer)

    def record(self, starting: Trial) -> int:
        """Write the row of a trial that is about to start, and return its number."""
        self.before_each()
        request, notebook = self.request, self.bench.notebook
        changes = ""
        if self.number is None:
            changes = changes_since(notebook.previous_of(starting), starting)
        number = notebook.begin(
            starting, verb=self.verb, name=request.name, note=request.note,
            expectation="\n".join(each.text for each in request.expectations),
            changes=changes, investigation=self.number,
        )  # fmt: skip
        self.log.begun.append(number)
        return number

    def _keep(self, capture: Capture) -> Output:
        blobs = self.bench.notebook.blobs
        if capture.file is not None:
            return blobs.keep(capture.file, capture.digest)
        blobs.put_bytes(capture.data)
        return BytesOutput(capture.data)

    def _finish(self, number: int, _trial: Trial, outcome: Outcome) -> None:
        self.bench.notebook.finish(number, outcome)

    def _known_cold(self, trial: Trial) -> Outcome | None:
        outcome = None if self.recalled is None else self.recalled(trial)
        outcome = outcome or self.bench.notebook.outcome_for(trial)
        return None if outcome is None or outcome.resumed_from else outcome


def changes_since(previous: Entry | None, trial: Trial) -> str:
    """Return what changed in the code since the previous trial, such as ``train.py +2 −1``."""
    if previous is None or previous.trial.code is None or trial.code is None:
        return ""
    if previous.trial.code.tree == trial.code.tree:
        return ""
    return describe_changes(previous.trial.code, trial.code)


@contextmanager
def open_session(
    bench: Workbench,
    verb: str,
    request: TrialRequest,
    trial: Trial,
    *,
    tasks: AgentTasks = NO_TASKS,
    within: Session | None = None,
) -> Generator[Session, None, None]:
    """Begin an investigation that starts from a trial; leaving the block ends it.

    One that an error ends has no end in the notebook.

    Args:
        bench: the workbench.
        verb: who investigates.
        request: what the user asked for.
        trial: what it starts from.
        tasks: what the agents in the programs are to observe.
        within: the session that this one is a step of: its time and its log are that one's too.
    """
    number = bench.notebook.begin_investigation(verb=verb, trial=trial)
    idle_slots = IdleSlots() if within is None else within.idle_slots
    session = Session(
        bench=bench, verb=verb, request=request, number=number, tasks=tasks, idle_slots=idle_slots
    )
    if within is not None:
        session = replace(session, deadline=within.deadline, log=within.log)
    try:
        yield session
    finally:
        if within is None and idle_slots is not None:
            idle_slots.close()
    for reason, facts in session.end:
        bench.notebook.end_investigation(number, reason, facts)
