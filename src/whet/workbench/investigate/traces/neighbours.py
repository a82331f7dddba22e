"""A working case: a run that passes, made to compare it with the failing one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from whet.core.observations.clue import Clue, Placing
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.experiments.complaints import still_complains
from whet.evidence.neighbour.divergence import Divergence, divergences
from whet.evidence.neighbour.harmless import is_harmless
from whet.evidence.neighbour.kinds import Odd, odd_values
from whet.evidence.neighbour.stretch import (
    earlier_calls,
    others_of_file,
    outermost,
    stretch_of,
    within,
)
from whet.evidence.neighbour.switching import switched
from whet.evidence.neighbour.telling import Telling
from whet.evidence.printed.reported_tests import lines_of
from whet.evidence.provenance.failure.suspects import failing_in
from whet.evidence.provenance.run.recording import Call, Raised, Recording
from whet.evidence.provenance.run.source import Sources
from whet.host.trial.agent_tasks import NO_TASKS, STEPS_ASKED, AgentTasks
from whet.workbench.investigate.traces.origins import Recorded, recording_in
from whet.workbench.shrink.nearest import Near, near_arguments, near_payloads
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.reproduce import Baseline

_MOST_SECONDS = 20.0
_MOST_TRIALS = 40
_MOST_SWITCHED = 3
_PYTEST = {"pytest", "py.test"}
_FAILED = ("FAILED ", "ERROR ")
_WHY = "compare with the last call that worked"

Run = Callable[[Trial, AgentTasks], tuple[int, Outcome]]


@value_class(kw_only=True)
class Neighbour:
    """What passed.

    Attributes:
        parted: where the failing run leaves its way, the first place first.
        says: what it is, in a sentence.
        odd: where it goes the same way, and makes another kind of value.
        trials: the numbers of what was run for it.
        near: the variant of the command that it ran with; None: it is the command's own.
    """

    parted: Sequence[Divergence]
    says: str
    trials: tuple[int, ...]
    odd: Sequence[Odd] = ()
    near: Near | None = None


@dataclass(slots=True, kw_only=True)
class Neighbours:
    """Looks for what passes beside what fails, the cheapest first.

    Attributes:
        bench: the workbench.
        trial: what fails.
        baseline: how.
        recorded: the failing run.
        run: runs a trial with tasks; returns its number and what it did.
        at: says where a line is.
    """

    bench: Workbench
    trial: Trial
    baseline: Baseline
    recorded: Recorded
    run: Run
    at: Placing
    _sources: Sources = field(default_factory=Sources)
    _seconds: float = 0.0
    _trials: list[int] = field(default_factory=list[int])

    def clues(self) -> list[Clue]:
        """Return where the failing run leaves the way of its neighbour; nothing: it has none."""
        failing = failing_in(self.recorded.recording, self._sources, self.recorded.position_of)
        if failing is None or not self.baseline.reproduction.is_deterministic:
            return []
        alike: list[Neighbour] = []
        for found in self._neighbours(failing.error):
            if found.parted:
                return [self._with_record(self._clue_of(found), found)]
            alike.append(found)
        for found in alike:
            if found.odd:
                clue = self._telling.of_odd(found.odd[0], found.says)
                return [self._with_record(replace(clue, trials=found.trials), found)]
        for found in alike:
            if found.near is not None and found.near.path:
                near = found.near
                path, line = (near.path, near.line) if near.is_single else ("", 0)
                return [Clue(says=found.says, why=_WHY, path=path, line=line, trials=found.trials)]
        return []

    def _with_record(self, clue: Clue, found: Neighbour) -> Clue:
        """Return a clue that sends its reader to the record, where that alone is another in what passes."""
        near = found.near
        if near is None or not near.path or not near.is_single or clue.next_step:
            return clue
        record, line = self.at(near.path, near.line), self.at(clue.path, clue.line)
        return replace(clue, next_step=f"Check {record}, then {line}.")

    @property
    def _telling(self) -> Telling:
        return Telling(recording=self.recorded.recording, sources=self._sources, at=self.at)

    def _neighbours(self, error: Raised) -> Iterator[Neighbour]:
        yield from self._in_the_same_run(error)
        if any(Path(word).name in _PYTEST for word in self.trial.command[:4]):
            yield from self._tests_beside(error)
            return
        yield from self._runs(near_payloads(self.bench, self.trial, self._passes, self.at), error)
        if is_harmless(self.recorded.recording, self._sources):
            yield from self._runs(near_arguments(self.trial, self._passes), error)

    # ---- without another run ----

    def _in_the_same_run(self, error: Raised) -> Iterator[Neighbour]:
        recording = self.recorded.recording
        for call, others in earlier_calls(recording, error):
            name, count = call.code.short, len(others)
            calls = "earlier call" if count == 1 else f"{count} earlier calls"
            yield self._beside(
                call, recording, others, error,
                says=f"compared with the {calls} of `{name}`, which returned",
                trials=(self.recorded.number,),
            )  # fmt: skip

    def _beside(
        self,
        call: Call,
        other: Recording,
        calls: Sequence[Call],
        error: Raised,
        *,
        says: str,
        trials: tuple[int, ...],
    ) -> Neighbour:
        """Return what passed beside a call of the failing run."""
        own = self.recorded.recording
        (around,), others = within(own, [call]), within(other, calls)
        passing = [stretch_of(each) for each in others]
        return Neighbour(
            parted=divergences(stretch_of(around), passing, error, self._sources),
            odd=odd_values((own, around), (other, chain.from_iterable(others)), error),
            says=says,
            trials=trials,
        )

    # ---- the tests beside it ----

    def _tests_beside(self, error: Raised) -> Iterator[Neighbour]:
        """Compare a test with those of its file that pass: of the same function, if there are some."""
        root = outermost(error.call)
        failures = [
            line.partition(" ")[2].partition(" - ")[0]
            for line in lines_of(self.baseline.outcome.stdout)
            if line.startswith(_FAILED)
        ]
        if not failures or root.code.is_module:
            return
        words = (*self.trial.command, *(f"--deselect={each}" for each in failures))
        other, number = self._recorded(replace(self.trial, command=words))
        if other is None:
            return
        beside = others_of_file(other, root.code.path)
        own = [each for each in beside if each.code.name == root.code.name]
        tests = own or [each for each in beside if each.code.short.startswith("test")]
        if not tests:
            return
        count = "the test" if len(tests) == 1 else f"the {len(tests)} tests"
        kind = f"with other parameters of `{root.code.short}`" if own else "of the same file"
        yield self._beside(
            root, other, tests, error,
            says=f"compared with {count} {kind} that passed",
            trials=(self.recorded.number, number),
        )  # fmt: skip

    # ---- other payloads and arguments ----

    def _runs(self, nears: Iterator[Near], error: Raised) -> Iterator[Neighbour]:
        for near in nears:
            other, number = self._recorded(near.trial)
            if other is None:
                continue
            own = self.recorded.recording
            passing = [stretch_of(other.calls)]
            yield Neighbour(
                parted=divergences(stretch_of(own.calls), passing, error, self._sources),
                odd=odd_values((own, own.calls), (other, other.calls), error),
                says=f"{near.says} the command passes",
                trials=(self.recorded.number, number),
                near=near,
            )

    def _passes(self, make: Callable[[], Trial]) -> bool:
        if self._seconds > _MOST_SECONDS or len(self._trials) >= _MOST_TRIALS:
            return False
        return self._judged(make(), NO_TASKS)[0] is Verdict.GOOD

    def _judged(self, trial: Trial, tasks: AgentTasks) -> tuple[Verdict, int, Outcome]:
        number, outcome = self.run(trial, tasks)
        self._seconds += outcome.wall_seconds
        self._trials.append(number)
        return self.baseline.oracle.judge(outcome), number, outcome

    def _recorded(self, trial: Trial) -> tuple[Recording | None, int]:
        """Run what passes to its end with its steps written down."""
        wish = "|".join(["", "", "0", *self.recorded.packages])
        verdict, number, outcome = self._judged(trial, AgentTasks(closer=f"{STEPS_ASKED}{wish}"))
        return (recording_in(outcome) if verdict is Verdict.GOOD else None), number

    # ---- what is told ----

    def _clue_of(self, neighbour: Neighbour) -> Clue:
        """Return the clue: of the place with whose test turned the command passes, else the first."""
        telling = self._telling
        for parted in neighbour.parted[:_MOST_SWITCHED]:
            switch = self._switched(parted)
            if switch:
                way = "false" if parted.was else "true"
                there = f"; with that test {way} each time, the command passes"
                clue = telling.clue(parted, neighbour.says, switched=there)
                return replace(clue, trials=(*neighbour.trials, *switch))
        return replace(telling.clue(neighbour.parted[0], neighbour.says), trials=neighbour.trials)

    def _switched(self, parted: Divergence) -> tuple[int, ...]:
        """Run the command with a test that goes the other way, and with its own text; return both."""
        path = parted.function[0]
        text = self._sources[path].text
        other = switched(text, parted)
        if not other or self._seconds > _MOST_SECONDS:
            return ()
        place = str(Path(path).resolve())
        verdict, number, outcome = self._judged(self.trial, AgentTasks(edit=(place, other)))
        if verdict is not Verdict.GOOD or still_complains(self.baseline.outcome, outcome):
            return ()
        verdict, control, _ = self._judged(self.trial, AgentTasks(edit=(place, text)))
        return (number, control) if verdict is Verdict.BAD else ()
