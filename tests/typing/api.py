"""A user's program, checked by the type checkers and run by a test."""

from concurrent.futures import Future

from whet import (
    BadIf,
    Budget,
    Condition,
    Event,
    Executor,
    FailureKind,
    FailureSignature,
    Limits,
    Observer,
    Oracle,
    Outcome,
    ResetStep,
    SameFailure,
    StopReason,
    Trial,
    Verdict,
    WhetError,
    annotate,
    capture,
    section,
)


class Exits0:
    """An oracle of the user's own: bad is any exit but 0."""

    @property
    def description(self) -> str:
        """What BAD means."""
        return "it exits with anything but 0"

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        return Verdict.GOOD if outcome.exit_code == 0 else Verdict.BAD


class Scripted:
    """An executor of the user's own."""

    def submit(self, trial: Trial, /) -> Future[Outcome]:
        """Answer at once."""
        future: Future[Outcome] = Future()
        future.set_result(Outcome(exit_code=len(trial.command)))
        return future


def judge_all(oracles: list[Oracle], executor: Executor, trial: Trial) -> list[Verdict]:
    """Return what each oracle says about one trial."""
    outcome = executor.submit(trial).result()
    return [oracle.judge(outcome) for oracle in oracles]


def collect(into: list[Event]) -> Observer:
    """Return an observer that keeps what it hears."""
    return into.append


def sentence_of(reason: StopReason, budget: Budget) -> str:
    """Say why a search ended."""
    return f"{reason.value} ({budget.trials} trials at the most)"


def step_of(error: WhetError) -> str:
    """Return the next step."""
    return f"{error.slug}: {error.hint}"


@section("double")
@annotate("double", color="green", payload=2)
@capture()
def double(number: int) -> int:
    """Return twice a number, measured; its type stays what it is."""
    with section("inside"), annotate("inside"):
        return 2 * number


FOUR: int = double(2)
TRIAL = Trial(
    command=("python", "train.py"),
    cwd="/",
    reset=(ResetStep(command="rm -f cache", must_succeed=False),),
    limits=Limits(wall_seconds=30),
)
ORACLES: list[Oracle] = [
    Exits0(),
    BadIf(Condition.parse("exit > 1")),
    SameFailure(FailureSignature(kind=FailureKind.TIMEOUT)),
]
VERDICTS: list[Verdict] = judge_all(ORACLES, Scripted(), TRIAL)
