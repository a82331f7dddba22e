"""`whet toggle`: how a failure changes when one or more switches are turned."""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from enum import Enum
from functools import partial
from statistics import median

from whet.core.budget import Budget, StopReason
from whet.core.errors import BadUsage
from whet.core.event import Notice
from whet.core.observations.evidence import TOGGLES
from whet.core.outcome import Outcome
from whet.core.room import Room
from whet.core.text.record import texts
from whet.core.toggle import Toggle, together
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.limits.rr import TRACES_VARIABLE
from whet.host.trial.agent_tasks import TOGGLES_VARIABLE, AgentTasks
from whet.search.rendering import rendering
from whet.search.subsets.delta import Kept, minimize
from whet.workbench.files.pasted_line import Shell, pasted_line
from whet.workbench.files.wording import Wording, stored_steps
from whet.workbench.toggle.amplifiers import RECORDINGS, refusal
from whet.workbench.toggle.likeness import is_same_crash, is_told_alike, tells_more
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.command_search import CommandOptions, CommandSearch
from whet.workbench.trials.driver import as_it_is
from whet.workbench.trials.investigation import PastedLine, Reproduction
from whet.workbench.trials.reproduce import (
    FEW,
    MANY,
    QUICK_SECONDS,
    Baseline,
    repeats_for,
    reproduce,
    with_patience,
)
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session
from whet.workbench.trials.tested import Tested

_SIGNS = AgentTasks(reads_signs=True)
_SURELY_UNREAD = 2
"""So many runs that don't read a switch, of a program that fails now and then."""


class Effect(Enum):
    """What became of the failure, in the words shown."""

    GONE = "gone"
    CLEARER = "clearer"
    DIFFERENT = "different"
    RARER = "rarer"
    SAME = "same"


@value_class(kw_only=True)
class Turned:
    """A switch that was turned, and what came of it.

    Attributes:
        toggle: the switch.
        effect: what became of the failure.
        took: whether the program has read it; None: that isn't known.
        slowdown: median wall time over that without it.
        failures: in how many runs it still failed the same way.
        runs: how many there were.
        trial: one of them: of those that fail, if any does.
        summary: what that did, in a line.
        signs: what the program told of itself in all of them.
    """

    toggle: Toggle
    effect: Effect
    took: bool | None
    slowdown: float
    failures: int
    runs: int
    trial: int
    summary: str
    signs: frozenset[str] = frozenset()

    @property
    def is_refused(self) -> bool:
        """Whether the program doesn't work with the switch: its failure says nothing of the other."""
        return self.toggle.is_refusal(self.summary)


class Fate(Enum):
    """What became of a simplifying switch, in the words shown."""

    KEPT = "kept"
    UNREAD = "no effect"
    NEEDED = "refused"
    OTHERWISE = "refused, other failure"
    UNTRIED = "not tried"


@value_class(kw_only=True)
class Choice:
    """A simplifying switch, and why it is part of the simplest setting or isn't.

    Attributes:
        toggle: the switch.
        fate: what became of it.
        summary: what the command did with it beside those that are kept; empty: the same failure.
        trial: the trial that showed it; None: none, or an earlier one.
    """

    toggle: Toggle
    fate: Fate
    summary: str = ""
    trial: int | None = None


@value_class(kw_only=True)
class TurnedTogether:
    """A set of switches that a search has found.

    Attributes:
        toggles: those that are turned.
        left_out: those of the candidates that aren't.
        trial: the number of a trial with them; None: it is an earlier one.
        stopped: why the search ended.
        holds: it is as it was asked for: with these the failure is the same, or another.
        choices: each of the candidates, and why; empty: the search was for few that matter.
        line: the command in the simplest setting, for a shell; None: it was not asked for.
    """

    toggles: tuple[Toggle, ...]
    left_out: tuple[Toggle, ...]
    trial: int | None
    stopped: StopReason
    holds: bool = True
    choices: tuple[Choice, ...] = ()
    line: PastedLine | None = None


@value_class(kw_only=True)
class ToggleReport:
    """What turning switches has shown.

    Attributes:
        reproduction: how often the command fails as it is.
        summary: how, in a line.
        turned: each switch on its own.
        smallest: fewest switches that change the failure; None: not asked for.
        simplest: most simplifying switches under which it is the same; None: not asked for.
    """

    reproduction: Reproduction
    summary: str
    turned: tuple[Turned, ...] = ()
    smallest: TurnedTogether | None = None
    simplest: TurnedTogether | None = None

    @property
    def stopped(self) -> StopReason:
        """Why the last search ended."""
        switches = self.simplest or self.smallest
        return StopReason.MINIMAL if switches is None else switches.stopped


@value_class(kw_only=True)
class ToggleOptions:
    """What to turn.

    Attributes:
        toggles: the switches.
        finds_smallest: look for the fewest that change the failure.
        simplifies: look for the most simplifying ones that leave it as it is.
        repeats: runs of each; None: as many as the failure's rate asks for.
        leaves_unread: run on with no switch that the program doesn't read.
        budget: when to stop.
        jobs: trials at once in the two searches.
    """

    toggles: tuple[Toggle, ...]
    finds_smallest: bool = False
    simplifies: bool = False
    repeats: int | None = None
    leaves_unread: bool = False
    budget: Budget = field(default_factory=Budget)
    jobs: int | None = None


def toggle(bench: Workbench, request: TrialRequest, options: ToggleOptions) -> ToggleReport:
    """Turn switches one by one, or look for a set of them.

    Raises:
        BaselineDoesNotFail: if the command passes as it is.
    """
    refuse_impossible(bench, options.toggles)
    trial = bench.build_trial(request)
    with open_session(bench, "toggle", request, trial, tasks=_SIGNS) as session:
        baseline = reproduce(session, trial, quick_seconds=QUICK_SECONDS)
        turning = _Turning(session, trial, baseline, options)
        failure = baseline.outcome.failure
        smallest = simplest = None
        turned: tuple[Turned, ...] = ()
        if options.simplifies:
            simplest = turning.simplest()
        elif options.finds_smallest:
            smallest = turning.smallest()
        else:
            turned = turning.one_by_one()
        report = ToggleReport(
            reproduction=turning.baseline.reproduction,
            summary="" if failure is None else failure.summary,
            turned=turned, smallest=smallest, simplest=simplest,
        )  # fmt: skip
        session.conclude(report.stopped, _result(report))
    return report


def turn_each(
    session: Session,
    trial: Trial,
    baseline: Baseline,
    toggles: tuple[Toggle, ...],
    *,
    repeats: int | None = None,
) -> tuple[Turned, ...]:
    """Turn switches one by one, for a failure that is known already."""
    with_signs = replace(session, tasks=replace(session.tasks, reads_signs=True))
    options = ToggleOptions(toggles=toggles, repeats=repeats, leaves_unread=True)
    return _Turning(with_signs, trial, baseline, options).one_by_one()


def turned_on(bench: Workbench, trial: Trial, toggles: Sequence[Toggle]) -> Trial:
    """Return the trial with switches turned, as the agent and the program read them."""
    variables, inside = together(toggles)
    # Those of a trial that was amplified (`--like`) stay turned.
    before = filter(None, trial.environment.get(TOGGLES_VARIABLE, "").split(","))
    overrides = {**variables, TOGGLES_VARIABLE: ",".join(dict.fromkeys([*before, *inside]))}
    limits = trial.limits
    for each in toggles:
        if each.room is not None:
            room = bench.settled((limits.room or Room()).beside(each.room))
            limits = replace(limits, room=room)
    wrapper = [word for each in toggles for word in each.wrapper]
    if wrapper:
        overrides[TRACES_VARIABLE] = str(bench.project.state / RECORDINGS)
    environment = {**trial.environment, **overrides}
    command = (*wrapper, *trial.command)
    return replace(trial, command=command, environment=environment, limits=limits)


def refuse_impossible(bench: Workbench, toggles: Sequence[Toggle]) -> None:
    """Refuse switches that can't be turned on this machine.

    Raises:
        BadUsage: if there is one.
    """
    for each in toggles:
        why = refusal(each, bench.project.state)
        if why:
            raise BadUsage(f"whet can't set `{each.name}`: {why}", hint="leave it out")


class _Turning:
    """The trials of one call."""

    def __init__(
        self,
        session: Session,
        trial: Trial,
        baseline: Baseline,
        options: ToggleOptions,
    ) -> None:
        self._session = session
        self._bench = session.bench
        self.baseline = baseline
        self._trial = with_patience(trial, baseline.reproduction.wall_seconds)
        self._numbers: dict[str, int] = {}
        self._ran: dict[str, list[Tested[object]]] = {}
        self._options = options
        self._repeats = options.repeats or baseline.repeats

    def _note(self, ran: Tested[object]) -> None:
        self._ran.setdefault(ran.trial.key, []).append(ran)
        if ran.number is not None:
            self._numbers[ran.trial.key] = ran.number

    # ---- one by one ----

    def one_by_one(self) -> tuple[Turned, ...]:
        """Turn each switch; where a run passes, see whether the failure comes without a switch as before."""
        while True:
            # One after the other: how long each takes is part of the answer.
            turned = tuple(map(self._turn, self._options.toggles))
            passing = [
                each
                for each in turned
                if each.effect is Effect.GONE or 0 < each.failures < each.runs
            ]
            if self._comes_each_time(len(passing)):
                return turned

    def _comes_each_time(self, times: int) -> bool:
        """Whether the failure comes without a switch so often again; if not, how often is measured.

        From then on, each switch is turned as often as that asks for.
        """
        if self._is_repeated or not times:
            return True

        def passes(ran: Tested[object]) -> bool:
            return self._verdict(ran) is not Verdict.BAD

        trial, oracle = self._trial, self.baseline.oracle
        controls = self._session.repeat(
            trial, oracle, "as it is", times=min(times, MANY), until=passes
        )
        if not passes(controls[-1]):
            return True
        self._session.emit(
            Notice(text="it fails only sometimes: whet turns each switch more often")
        )
        runs = [*controls, *self._session.repeat(trial, oracle, "as it is", times=MANY)]
        before = self.baseline.reproduction
        others = [each.did for each in runs if passes(each)]
        reproduction = replace(
            before,
            attempts=before.attempts + len(runs),
            same_failures=before.same_failures + len(runs) - len(others),
            other_failures=tuple(dict.fromkeys((*before.other_failures, *others))),
            trials=(*before.trials, *(each.own_number for each in runs)),
        )
        self._repeats = repeats_for(reproduction.rate)
        self.baseline = replace(self.baseline, reproduction=reproduction, repeats=self._repeats)
        return False

    @property
    def _is_repeated(self) -> bool:
        """Whether each setting runs several times, or as often as the user wishes."""
        return self._repeats > 1 or self._options.repeats is not None

    def _turn(self, each: Toggle) -> Turned:
        outcomes: list[Outcome] = []

        def settles(ran: Tested[None]) -> bool:
            outcomes.append(ran.outcome)
            is_unread = len(outcomes) >= _SURELY_UNREAD and took(each, outcomes) is False
            if self._options.leaves_unread and is_unread:
                return True
            # It still fails; it may fail otherwise.
            return self._options.repeats is None and ran.outcome.failure is not None

        turned = self._answer(each, runs := self._runs((each,), each.name, settles))
        if turned.effect is Effect.GONE and self._options.repeats is None:
            # Of several switches, one may pass by chance.
            turned = self._answer(each, [*runs, *self._runs((each,), each.name, settles)])
        return turned

    def _runs(
        self, toggles: tuple[Toggle, ...], label: str, until: Callable[[Tested[None]], bool]
    ) -> list[Tested[None]]:
        trial = turned_on(self._bench, self._trial, toggles)
        oracle = self.baseline.oracle
        runs = self._session.repeat(trial, oracle, label, times=self._repeats, until=until)
        for ran in runs:
            self._note(ran)
        return runs

    def _answer(self, each: Toggle, runs: Sequence[Tested[None]]) -> Turned:
        verdicts = [self._verdict(each) for each in runs]
        outcomes = [each.outcome for each in runs]
        failures = verdicts.count(Verdict.BAD)
        example = next((run for run in runs if run.verdict is not Verdict.GOOD), runs[-1])
        usual = self.baseline.reproduction.wall_seconds
        seconds = median(outcome.wall_seconds for outcome in outcomes)
        return Turned(
            toggle=each,
            effect=self._effect(each, verdicts, outcomes),
            took=took(each, outcomes),
            slowdown=seconds / usual if usual else 1.0,
            failures=failures,
            runs=len(runs),
            trial=example.own_number,
            summary=example.outcome.summary,
            signs=frozenset(sign for each in outcomes for sign in signs_of(each)),
        )

    def _verdict(self, run: Tested[object]) -> Verdict:
        """Return the verdict of a run; with a switch, more or less may be said of the same failure."""
        before, now = self.baseline.outcome.failure, run.outcome.failure
        is_same = is_same_crash(before, now) or is_told_alike(before, now)
        return Verdict.BAD if is_same else run.verdict

    def _effect(
        self, each: Toggle, verdicts: Sequence[Verdict], outcomes: Sequence[Outcome]
    ) -> Effect:
        others = [
            outcome.failure
            for outcome, verdict in zip(outcomes, verdicts, strict=True)
            if verdict is Verdict.SKIP and outcome.failure is not None
        ]
        if Verdict.BAD in verdicts:
            failures, before = verdicts.count(Verdict.BAD), self.baseline.reproduction
            is_rarer = failures / len(verdicts) <= before.rate / 2 and before.is_rarer_in(
                failures, len(verdicts)
            )
            return Effect.RARER if is_rarer else Effect.SAME
        if not others:
            return Effect.GONE
        first = others[0]
        is_clearer = tells_more(self.baseline.outcome.failure, first) and not each.is_refusal(
            first.summary
        )
        return Effect.CLEARER if is_clearer else Effect.DIFFERENT

    # ---- sets of them ----

    def smallest(self) -> TurnedTogether:
        """Look for the fewest switches that change the failure."""
        toggles = tuple(each for each in self._options.toggles if not each.only_tells)
        search = self._search(lambda kept: kept, toggles, _changed)
        if not self._is(search, toggles, Verdict.BAD):
            return self._nothing(toggles)
        stopped = search.run()
        if search.best and not self._is_repeated and not self._is_changed_again(search.best):
            return self.smallest()
        return self._found(search.best, toggles, stopped)

    def _is_changed_again(self, toggles: tuple[Toggle, ...]) -> bool:
        """Whether a set changes the failure a second time; if not, each set runs more often."""
        (again,) = self._runs(toggles, ", ".join(each.name for each in toggles), lambda _: True)
        if not self._comes_each_time(1):
            return False
        if _changed(self._verdict(again)) is Verdict.GOOD:
            self._repeats = FEW
            return False
        return True

    def simplest(self) -> TurnedTogether:
        """Look for the most simplifying switches under which the failure is the same."""
        toggles = tuple(each for each in self._options.toggles if each.simplifies)

        def others(left_out: tuple[Toggle, ...]) -> tuple[Toggle, ...]:
            return tuple(each for each in toggles if each not in left_out)

        search = self._search(others, toggles, as_it_is)
        stopped = search.run()
        kept = others(search.best)
        choices = tuple(self._choice(each, kept) for each in toggles)
        read = tuple(each.toggle for each in choices if each.fate is Fate.KEPT)
        found = self._found(kept, toggles, stopped)
        return replace(found, choices=choices, line=self._line(read))

    def _choice(self, each: Toggle, kept: tuple[Toggle, ...]) -> Choice:
        """Return what became of a switch, by the runs that the search has made."""
        is_kept = each in kept
        order = self._options.toggles
        beside = tuple(other for other in order if other in kept or other is each)
        runs = self._ran.get(turned_on(self._bench, self._trial, beside).key, [])
        if is_kept:
            # An earlier trial that answers may say nothing of what it read.
            outcomes = [run.outcome for run in runs if run.number is not None]
            is_read = not outcomes or took(each, outcomes) is not False
            return Choice(toggle=each, fate=Fate.KEPT if is_read else Fate.UNREAD)
        not_same = [run for run in runs if run.verdict is not Verdict.BAD]
        if not not_same:
            return Choice(toggle=each, fate=Fate.UNTRIED)
        example = next((run for run in not_same if run.verdict is Verdict.SKIP), not_same[-1])
        is_other = example.verdict is Verdict.SKIP
        return Choice(
            toggle=each,
            fate=Fate.OTHERWISE if is_other else Fate.NEEDED,
            summary=example.outcome.summary if is_other else "",
            trial=example.number,
        )

    def _line(self, kept: tuple[Toggle, ...]) -> PastedLine:
        """Return the line that runs the command in the simplest setting, run just now."""
        trial = turned_on(self._bench, self._trial, kept) if kept else self._trial
        shell = Shell(
            session=self._session, trial=trial, oracle=self.baseline.oracle,
            repeats=self._repeats, usual_seconds=self.baseline.reproduction.wall_seconds,
        )  # fmt: skip
        wording = Wording(bench=self._bench, write=partial(stored_steps, self._bench))
        comment = f"the simplest setting: {', '.join(each.name for each in kept) or 'as it is'}"
        return pasted_line(shell, wording, comment, keeps_settings=True)

    def _search(
        self,
        turned: Callable[[tuple[Toggle, ...]], tuple[Toggle, ...]],
        toggles: tuple[Toggle, ...],
        search_verdict: Callable[[Verdict], Verdict],
    ) -> CommandSearch[tuple[Toggle, ...]]:
        """Return the search for a smallest set; `turned` says which switches it stands for."""

        def chosen(kept: Kept) -> tuple[Toggle, ...]:
            return tuple(toggles[index] for index in kept.elements())

        return CommandSearch(
            session=self._session, oracle=self.baseline.oracle, repeats=self._repeats,
            best=toggles, told=search_verdict, heard=self._note,
            options=CommandOptions(budget=self._options.budget, jobs=self._options.jobs),
            begin=lambda start: rendering(minimize(len(toggles)), chosen, start),
            as_trial=lambda candidate: turned_on(self._bench, self._trial, turned(candidate)),
            label=lambda candidate: ", ".join(each.name for each in turned(candidate)) or "none",
        )  # fmt: skip

    def _is(
        self,
        search: CommandSearch[tuple[Toggle, ...]],
        toggles: tuple[Toggle, ...],
        expected: Verdict,
    ) -> bool:
        """Whether all switches together come out as wanted, in each of the runs that it takes."""

        def is_otherwise(ran: Tested[None]) -> bool:
            return search.told(ran.verdict) is not expected

        return not is_otherwise(self._runs(toggles, "all of them", is_otherwise)[-1])

    def _nothing(self, toggles: tuple[Toggle, ...]) -> TurnedTogether:
        self._session.emit(Notice(text="with all of them together it fails the same way"))
        return TurnedTogether(
            toggles=(), left_out=toggles, trial=None, stopped=StopReason.MINIMAL, holds=False
        )

    def _found(
        self, turned: tuple[Toggle, ...], toggles: tuple[Toggle, ...], stopped: StopReason
    ) -> TurnedTogether:
        trial = turned_on(self._bench, self._trial, turned)
        return TurnedTogether(
            toggles=turned,
            left_out=tuple(each for each in toggles if each not in turned),
            trial=self._numbers.get(trial.key),
            stopped=stopped,
        )


def _changed(verdict: Verdict) -> Verdict:
    """Turn "it fails the same way" into what a search for a change leaves alone."""
    return Verdict.GOOD if verdict is Verdict.BAD else Verdict.BAD


def took(each: Toggle, outcomes: Sequence[Outcome]) -> bool | None:
    """Return whether a program has read a switch in one of the runs; None: that isn't known."""
    answers = [_was_reached(each, outcome) for outcome in outcomes]
    return True if True in answers else (None if None in answers else False)


def _was_reached(each: Toggle, outcome: Outcome) -> bool | None:
    evidence = next((found for found in outcome.evidence if found.kind == TOGGLES), None)
    if evidence is None:
        return None
    return each.took(signs_of(outcome), is_all=bool(evidence.detail.get("ended")))


def signs_of(outcome: Outcome) -> tuple[str, ...]:
    """Return what the programs of a trial told of themselves."""
    told = (texts(each.detail, "signs") for each in outcome.evidence if each.kind == TOGGLES)
    return next(told, ())


def _result(report: ToggleReport) -> dict[str, object]:
    switches = report.smallest or report.simplest
    if switches is not None:
        return {"toggles": [each.name for each in switches.toggles]}
    return {each.toggle.name: each.effect.value for each in report.turned}
