"""`whet repeat --amplify`: which switches make a flaky failure more frequent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from statistics import median

from whet.core.budget import Budget, StopReason
from whet.core.event import Notice, StepFinished, StepStarted
from whet.core.observations.evidence import TOGGLES
from whet.core.oracle import AnyFailure, Oracle
from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_count
from whet.core.text.record import integer, texts
from whet.core.toggle import Toggle
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.limits.rr import keep_one_recording
from whet.host.trial.agent_tasks import AgentTasks
from whet.search.flaky.amplification import ERROR, Amplification, AmplificationSearch, Amplified
from whet.search.flaky.failure_rates import Runs
from whet.search.flaky.narrowing import ENOUGH, narrowed
from whet.search.flaky.rates import wilson
from whet.search.proposal import Search
from whet.search.round import Round
from whet.workbench.toggle.amplified import AS_IT_IS, AmplifyReport, Tried, switch_names
from whet.workbench.toggle.amplifiers import (
    RECORDINGS,
    RR,
    SLEEPS,
    go_together,
    hash_seed,
    refusal,
    sleeps_at,
)
from whet.workbench.toggle.toggle import refuse_impossible, took, turned_on
from whet.workbench.toggle.toggles import chosen, known_toggles
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.driver import Driver, Question
from whet.workbench.trials.repeated import Repeated
from whet.workbench.trials.reproduce import reference_of, with_patience
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import RecordedExecutor, Session, open_session
from whet.workbench.trials.tested import Tested

FIRST_RUNS = 10
_MOST_SEEDS = 2
_MOST_LINES, _MOST_PLACES = 256, 16
_PLACE_ROUNDS = 24
_SEED, _HASH_SEED = "PYTHONHASHSEED", "hash-seed"
CONFIDENCE = 0.95


@value_class(kw_only=True)
class AmplifyOptions:
    """How to look.

    Attributes:
        first_runs: runs of the command as it is, before anything is turned.
        names: the switches to try; empty: all that amplify, and what the command suggests.
        error: chance that anything is named which raises nothing; half of it is for lines.
        budget: when to stop.
        jobs: runs at once; more than one is a load of its own.
    """

    first_runs: int = FIRST_RUNS
    names: tuple[str, ...] = ()
    error: float = ERROR
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1


def amplify(bench: Workbench, request: TrialRequest, options: AmplifyOptions) -> AmplifyReport:
    """Look for what makes a failure more frequent; Ctrl-C and the budget end it early."""
    trial = bench.build_trial(request)
    with (
        open_session(
            bench, "repeat", request, trial, tasks=AgentTasks(reads_signs=True)
        ) as session,
        session.executor(jobs=options.jobs) as executor,
    ):
        report = _Search(session, executor, trial, options).run()
        session.stopped(report.stopped, report.trials, report.wall_seconds)
        strongest = report.kept
        raising = [each.name for each in report.tried if each.raises]
        facts = {"raises": raising, "kept": None if strongest is None else strongest.trial}
        session.conclude(report.stopped, facts)
    return report


class _Search:
    """The runs of one call."""

    def __init__(
        self, session: Session, executor: RecordedExecutor, trial: Trial, options: AmplifyOptions
    ) -> None:
        self._session = session
        self._bench = bench = session.bench
        self._executor = executor
        self._trial = trial
        self._options = options
        self._oracle: Oracle = AnyFailure()
        self._seen: dict[tuple[str, ...], list[Tested[object]]] = {}
        self._skipped: set[str] = set()
        self._trials = 0
        self._wall_seconds = 0.0
        self._title = ""
        self._usual_seconds = 0.0
        self._stopped = StopReason.MEASURED
        all_toggles = known_toggles(bench.settings.toggles)
        names = tuple(each for each in options.names if each != _HASH_SEED)
        self._general = (
            [each for each in all_toggles.values() if each.amplifies and not options.names]
            if not names
            else list(chosen(names, all_toggles))
        )
        if names:
            refuse_impossible(bench, self._general)
        else:
            self._general = [each for each in self._general if self._can_turn(each)]

    def _can_turn(self, toggle: Toggle) -> bool:
        why = refusal(toggle, self._bench.project.state)
        if why:
            self._bench.emit(Notice(text=f"skipped {toggle.name}: {why}"))
        return not why

    def run(self) -> AmplifyReport:
        summary, before = self._first_runs()
        result: Amplification[Toggle] = Amplification(as_it_is=before, tried=(), run_off=())
        unread: tuple[Toggle, ...] = ()
        places: tuple[Tried, ...] = ()
        if before.passed and self._goes_on:
            toggles, unread = self._candidates()
            result = self._race(toggles, before, go_together)
        run_off = tuple(map(self._tried, result.run_off))
        raising = [each.arm[0].name for each in result.tried if each.raises]
        if self._goes_on and self._sleeps_help(raising):
            places, best = self._places(result.as_it_is)
            run_off = tuple(sorted((*run_off, *best), key=lambda each: -_surely(each.runs)))
        return AmplifyReport(
            summary=summary or self._first_failure(),
            as_it_is=result.as_it_is,
            tried=tuple(map(self._tried, result.tried)),
            unread=tuple(each.name for each in unread),
            run_off=run_off,
            places=places,
            error=self._options.error,
            stopped=self._stopped,
            trials=self._trials,
            wall_seconds=self._wall_seconds,
        )

    @property
    def _goes_on(self) -> bool:
        return self._stopped is StopReason.MEASURED

    # ---- as it is ----

    def _first_runs(self) -> tuple[str, Runs]:
        """Run it as it is, each time with a hash seed of its own that is known."""
        self._begin("As it is", "how often it fails without a switch")
        judging = self._session.request.judging
        repeated = Repeated(
            executor=self._executor,
            oracle=oracle_of(judging),
            trial=lambda runs: self._seeded(runs, len(runs) + 1),
            jobs=1,
            budget=self._left,
            heard=lambda runs: self._session.show(
                replace(runs[-1], label=f"{AS_IT_IS} {len(runs)}")
            ),
        )
        stopped = repeated.run(lambda verdicts: self._options.first_runs - len(verdicts))
        self._account(len(repeated.runs), repeated.wall_seconds, stopped)
        reference = reference_of(judging, repeated.runs)
        self._oracle = oracle_of(judging, reference)
        runs = self._judged_anew(repeated.runs)
        if repeated.runs:
            self._usual_seconds = median(each.outcome.wall_seconds for each in repeated.runs)
            self._trial = with_patience(self._trial, self._usual_seconds)
        failure = None if reference is None else reference.failure
        self._end(f"failed in {runs.failed} of {runs.total} runs")
        if reference is None and runs.total:
            self._bench.emit(Notice(text="it hasn't failed yet: any failure counts"))
        return "" if failure is None else failure.summary, runs

    def _seeded(self, runs: Sequence[Tested[object]], seed: int) -> Trial:
        # Python takes a seed by chance; so does this, and knows it if the run fails.
        trial = self._trial
        if runs:
            trial = with_patience(trial, runs[0].outcome.wall_seconds)
        if _SEED in self._bench.environment or _SEED in trial.environment:
            return trial
        return replace(trial, environment={**trial.environment, _SEED: str(seed)})

    def _judged_anew(self, runs: Sequence[Tested[object]]) -> Runs:
        total = Runs()
        self._seen[()] = [each.judged_by(self._oracle) for each in runs]
        for ran in self._seen[()]:
            self._session.judge(ran, self._oracle)
            if ran.verdict is not Verdict.SKIP:
                total = total.plus(failed=ran.verdict is Verdict.BAD)
        return total

    # ---- what there is to turn ----

    def _candidates(self) -> tuple[tuple[Toggle, ...], tuple[Toggle, ...]]:
        """Return what to try, and what nothing in the program reads: each is turned once."""
        general = self._general
        if not general:
            return tuple(self._seeds()), ()
        self._begin("Look", f"which of {len(general)} switches the program reads")
        arms = tuple((each.name,) for each in general)
        self._drive(_once(arms), _named({each.name: each for each in general}))
        unread = tuple(each for each in general if self._took((each,)) is False)
        usable = [each for each in general if each not in unread and (each.name,) in self._seen]
        self._end(f"it reads {len(usable)}")
        return (*usable, *self._suspects(), *self._seeds()), unread

    def _suspects(self) -> list[Toggle]:
        """Return sleeps in the functions that several threads run, or else in the one that fails."""
        if all(each.name != SLEEPS for each in self._general):
            return []
        suspects: list[Toggle] = []
        shared = self._told_places(SLEEPS, "shared:")
        if shared:
            does = "random sleeps in the functions that several threads run"
            suspects.append(sleeps_at("threads", shared, does))
        places = {
            f"{_escaped(place.path)}:{place.function}"
            for ran in self._seen[()]
            if ran.verdict is Verdict.BAD
            and ran.outcome.failure is not None
            and (place := ran.outcome.failure.place) is not None
            and place.in_user_code
        }
        if places and places != set(shared) and suspects == []:
            does = "random sleeps in the function that fails"
            suspects.append(sleeps_at("failing", tuple(sorted(places)), does))
        return suspects

    def _seeds(self) -> list[Toggle]:
        """Return the hash seeds under which it has failed."""
        failures = [
            number for number, ran in enumerate(self._seen[()], 1) if ran.verdict is Verdict.BAD
        ]
        if self._options.names and _HASH_SEED not in self._options.names:
            return []
        if _SEED in self._bench.environment or _SEED in self._trial.environment:
            return []
        return [hash_seed(seed) for seed in failures[:_MOST_SEEDS]]

    def _sleeps_help(self, raising: Sequence[str]) -> bool:
        """Whether to look where to sleep: it helps, or nothing does and several run at once."""
        if raising:
            return any(SLEEPS in name for name in raising)
        return bool(self._told_places(SLEEPS, "shared:")) or any(
            _processes(ran.outcome) > 1 for ran in self._seen.get((SLEEPS,), [])
        )

    # ---- which of it raises the rate ----

    def _race(
        self,
        toggles: Sequence[Toggle],
        before: Runs,
        fit: Callable[[Toggle, Toggle], bool],
    ) -> Amplification[Toggle]:
        reason = (
            f"{len(toggles)} switches against the plain command, until whet knows which ones help"
        )
        self._begin("Amplify", reason)
        by_name = {each.name: each for each in toggles}
        search = AmplificationSearch(
            tuple(by_name),
            before=before,
            error=self._options.error / 2,
            go_together=lambda one, other: fit(by_name[one], by_name[other]),
        )
        self._drive(search.search(), _named(by_name))
        result = _with_toggles(search.result(), by_name)
        raising = [each.arm[0].name for each in result.tried if each.raises]
        nothing = "not proved for any of them" if self._goes_on else "stopped"
        self._end(f"more frequent with {', '.join(raising)}" if raising else nothing)
        return result

    def _places(self, before: Runs) -> tuple[tuple[Tried, ...], tuple[Tried, ...]]:
        """Return the lines at which a sleep alone raises the rate, and their run-off."""
        lines = self._told_places(SLEEPS, "slept:")
        shared = set(self._told_places(SLEEPS, "shared:"))
        if shared:  # a line of a function that several threads run is likelier
            files = {each.rpartition(":")[0] for each in shared}
            lines = tuple(sorted(lines, key=lambda each: each.rpartition(":")[0] not in files))
        lines = self._likely(lines[:_MOST_LINES], before)
        toggles = [
            sleeps_at(_short(line), (line,), "random sleeps in this line alone")
            for line in lines[:_MOST_PLACES]
        ]
        if not toggles or not self._goes_on:
            return (), ()
        self._begin("Where", f"a sleep in one line alone, at {shown_count(len(toggles), 'line')}")
        by_name = {each.name: each for each in toggles}
        search = AmplificationSearch(
            tuple(by_name),
            before=before,
            error=self._options.error / 2,
            most_rounds=_PLACE_ROUNDS,
            go_together=lambda _one, _other: False,
        )
        self._drive(search.search(), _named(by_name))
        result = _with_toggles(search.result(), by_name)
        raising = [self._tried(each) for each in result.tried if each.raises]
        raising.sort(key=lambda each: -each.runs.failed / max(each.runs.total, 1))
        self._end(f"{len(raising)} of them" if raising else "none of them alone")
        return tuple(raising), tuple(map(self._tried, result.run_off))

    def _likely(self, lines: Sequence[str], before: Runs) -> tuple[str, ...]:
        """Return the few lines of many at which a sleep may help, by sleeping at half of them at a time."""
        if len(lines) <= ENOUGH:
            return tuple(lines)
        self._begin("Narrow", f"sleeps in half of {len(lines)} lines at a time")
        lines = sorted(lines, key=_by_number)
        left: list[str] = []

        def search() -> Search[tuple[str, ...], None]:
            left.extend((yield from narrowed(lines, before)))

        self._drive(search(), lambda part: (_sleeps_in(part),))
        self._end(f"{shown_count(len(left), 'line')} left" if left else "stopped")
        return tuple(left) if len(left) < len(lines) else tuple(lines)

    def _drive(
        self,
        search: Search[tuple[str, ...], object],
        turned_by: Callable[[tuple[str, ...]], tuple[Toggle, ...]],
    ) -> None:
        def ask(arm: tuple[str, ...]) -> Question:
            toggles = turned_by(arm)
            trial = turned_on(self._bench, self._trial, toggles)
            return Question(trial=trial, label=switch_names(toggles))

        def note(ran: Tested[tuple[str, ...]]) -> None:
            if ran.skipped is not None:
                return
            toggles = turned_by(ran.candidate)
            self._seen.setdefault(_names(toggles), []).append(ran)
            if any(each.name == RR for each in toggles):
                is_wanted = ran.verdict is Verdict.BAD
                keep_one_recording(self._bench.project.state / RECORDINGS, is_wanted=is_wanted)

        driver = Driver(
            executor=self._executor, oracle=self._oracle, tell=self._tell, budget=self._left,
            jobs=self._options.jobs,
        )  # fmt: skip
        end = driver.run(search, ask, heard=note)
        self._account(end.trials, end.wall_seconds, end.stopped)

    # ---- what is known ----

    def _first_failure(self) -> str:
        """Return the failure that was seen first, in a line; empty: none was."""
        failures = [
            (ran.own_number, ran.outcome.failure.summary)
            for runs in self._seen.values()
            for ran in runs
            if ran.verdict is Verdict.BAD and ran.outcome.failure is not None
        ]
        return min(failures, default=(0, ""))[1]

    def _tell(self, ran: Tested[object], oracle: Oracle) -> None:
        if ran.skipped is not None:
            why = f"{ran.label}: {ran.skipped}"
            if why in self._skipped:
                return  # what can't be run can't be run each time
            self._skipped.add(why)
        self._session.tell(ran, oracle)

    def _tried(self, each: Amplified[Toggle]) -> Tried:
        runs = self._seen.get(_names(each.arm), [])
        seconds = [ran.outcome.wall_seconds for ran in runs]
        numbers = [ran.own_number for ran in runs if ran.verdict is Verdict.BAD]
        usual = self._usual_seconds
        return Tried(
            toggles=each.arm,
            runs=each.runs,
            raises=each.raises,
            took=self._took(each.arm),
            slowdown=median(seconds) / usual if seconds and usual else None,
            trial=numbers[-1] if numbers else None,
        )

    def _took(self, toggles: Sequence[Toggle]) -> bool | None:
        outcomes = [ran.outcome for ran in self._seen.get(_names(toggles), [])]
        answers = {took(each, outcomes) for each in toggles} if outcomes else {None}
        return False if False in answers else None if None in answers else True

    def _told_places(self, name: str, prefix: str) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for ran in self._seen.get((name,), []):
            for sign in _signs(ran.outcome):
                if sign.startswith(prefix):
                    names[sign.removeprefix(prefix)] = None
        return tuple(names)

    @property
    def _left(self) -> Budget:
        return self._options.budget.less(self._wall_seconds, self._trials)

    def _account(self, trials: int, wall_seconds: float, stopped: StopReason | None) -> None:
        self._trials += trials
        self._wall_seconds += wall_seconds
        if stopped is not None:
            self._stopped = stopped

    def _begin(self, title: str, reason: str) -> None:
        self._title = title
        self._bench.emit(StepStarted(title=title, reason=reason))

    def _end(self, result: str) -> None:
        self._bench.emit(StepFinished(title=self._title, result=result))


def _names(toggles: Sequence[Toggle]) -> tuple[str, ...]:
    return tuple(each.name for each in toggles)


def _named(by_name: Mapping[str, Toggle]) -> Callable[[tuple[str, ...]], tuple[Toggle, ...]]:
    return lambda arm: tuple(by_name[name] for name in arm)


def _sleeps_in(lines: tuple[str, ...]) -> Toggle:
    name = f"{_short(lines[0])}-{lines[-1].rpartition(':')[2]}"
    return sleeps_at(name, lines, f"random sleeps in {shown_count(len(lines), 'line')}")


def _by_number(line: str) -> tuple[str, int]:
    path, _, number = line.rpartition(":")
    return path, int(number) if number.isdigit() else 0


def _once(arms: Sequence[tuple[str, ...]]) -> Search[tuple[str, ...], None]:
    """Run each once."""
    yield Round(arms)


def _with_toggles(
    amplification: Amplification[str], by_name: Mapping[str, Toggle]
) -> Amplification[Toggle]:
    """Return the same with switches in place of their names."""

    def named(all_of_them: Sequence[Amplified[str]]) -> tuple[Amplified[Toggle], ...]:
        return tuple(
            Amplified(
                arm=tuple(by_name[name] for name in each.arm),
                runs=each.runs,
                raises=each.raises,
                evidence=each.evidence,
            )
            for each in all_of_them
        )

    return Amplification(
        as_it_is=amplification.as_it_is,
        tried=named(amplification.tried),
        run_off=named(amplification.run_off),
    )


def _signs(outcome: Outcome) -> tuple[str, ...]:
    return next((texts(e.detail, "signs") for e in outcome.evidence if e.kind == TOGGLES), ())


def _processes(outcome: Outcome) -> int:
    """Return how many processes have told anything."""
    return next((integer(e.detail, "processes") for e in outcome.evidence if e.kind == TOGGLES), 0)


def _escaped(path: str) -> str:
    """Return a path as the agent writes it."""
    return path.encode("ascii", "backslashreplace").decode("ascii")


def _surely(runs: Runs) -> float:
    return wilson(runs.failed, runs.total, CONFIDENCE).low


def _short(place: str) -> str:
    """Return ``counter.py:12`` of a whole path."""
    return place.rpartition("/")[2]
