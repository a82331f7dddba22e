import pytest

from whet.core.condition import Condition
from whet.core.failure import Failure, FailureKind, FailureSignature
from whet.core.oracle import (
    AnyFailure,
    BadIf,
    Interesting,
    Oracle,
    SameData,
    SameFailure,
    ScriptVerdict,
    data_in,
)
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.verdict import Verdict

KEY_ERROR = FailureSignature(
    kind=FailureKind.EXCEPTION, exception="KeyError", user_function="a.py:load"
)
OTHER = FailureSignature(kind=FailureKind.EXCEPTION, exception="ValueError")
FINE = Outcome()
ORACLES: list[Oracle] = [
    AnyFailure(),
    SameFailure(KEY_ERROR),
    SameData(SameFailure(KEY_ERROR), ()),
    BadIf(Condition.parse("exit == 1")),
    ScriptVerdict(),
    Interesting(),
]


def failed(signature: FailureSignature, exit_code: int = 1) -> Outcome:
    return Outcome(exit_code=exit_code, failure=Failure(signature=signature, summary="it failed"))


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: type(oracle).__name__)
@pytest.mark.parametrize(
    "outcome", [Outcome(interrupted=True), Outcome(failed_reset="make clean", exit_code=1)]
)
def test_a_command_that_had_no_chance_proves_nothing(oracle: Oracle, outcome: Outcome) -> None:
    assert oracle.judge(outcome) is Verdict.SKIP
    assert oracle.description


def test_the_same_signature_is_bad_another_one_proves_nothing() -> None:
    oracle = SameFailure(KEY_ERROR)

    assert oracle.judge(failed(KEY_ERROR)) is Verdict.BAD
    assert oracle.judge(failed(OTHER)) is Verdict.SKIP
    assert oracle.judge(FINE) is Verdict.GOOD


def test_the_same_signature_with_other_data_proves_nothing_where_the_data_count() -> None:
    def says(words: str) -> Outcome:
        return Outcome(exit_code=1, failure=Failure(signature=KEY_ERROR, summary=words))

    oracle = SameData(SameFailure(KEY_ERROR), data_in("KeyError: 'b', 3 of -4.5 left"))

    assert oracle.data == ("'b'", "3", "-4.5")
    assert oracle.judge(says("no key 'b': 3 of -4.5")) is Verdict.BAD
    assert oracle.judge(says("KeyError: 'c', 3 of -4.5 left")) is Verdict.SKIP
    assert oracle.judge(says("KeyError: 'b', 4 of -4.5 left")) is Verdict.SKIP
    assert oracle.judge(FINE) is Verdict.GOOD


def test_any_failure_is_bad_when_nothing_else_was_said() -> None:
    assert AnyFailure().judge(failed(OTHER)) is Verdict.BAD
    assert AnyFailure().judge(FINE) is Verdict.GOOD


def test_a_crash_before_a_condition_could_come_true_proves_nothing() -> None:
    oracle = BadIf(Condition.parse("stdout ~ NaN"))

    assert oracle.judge(Outcome(stdout=BytesOutput(b"NaN"))) is Verdict.BAD
    assert oracle.judge(failed(OTHER)) is Verdict.SKIP
    assert oracle.judge(FINE) is Verdict.GOOD


def test_a_condition_that_cannot_be_known_proves_nothing() -> None:
    assert BadIf(Condition.parse("loss > 3")).judge(FINE) is Verdict.SKIP


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (0, Verdict.GOOD),
        (1, Verdict.BAD),
        (124, Verdict.BAD),
        (125, Verdict.SKIP),
        (127, Verdict.BAD),
        (128, Verdict.SKIP),
        (255, Verdict.SKIP),
    ],
)
def test_a_script_judges_with_the_exit_codes_of_git_bisect(code: int, verdict: Verdict) -> None:
    assert ScriptVerdict().judge(Outcome(exit_code=code)) is verdict


def test_an_interestingness_test_is_bad_at_zero() -> None:
    assert Interesting().judge(FINE) is Verdict.BAD
    assert Interesting().judge(Outcome(exit_code=1)) is Verdict.GOOD


@pytest.mark.parametrize("oracle", [ScriptVerdict(), Interesting()])
def test_a_script_that_was_killed_proves_nothing(oracle: Oracle) -> None:
    assert oracle.judge(Outcome(exit_code=None, signal=9)) is Verdict.SKIP
    assert oracle.judge(Outcome(exit_code=None, signal=9, timed_out=True)) is Verdict.SKIP


def test_what_bad_means_is_said_in_words() -> None:
    timeout = FailureSignature(kind=FailureKind.TIMEOUT)
    exits = FailureSignature(kind=FailureKind.EXIT, exit_code=3)

    assert SameFailure(KEY_ERROR).description.endswith("KeyError in a.py:load")
    assert SameFailure(timeout).description.endswith("timeout")
    assert SameFailure(exits).description.endswith("exit 3")


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_verdict_told_by_exit_code_is_understood(verdict: Verdict) -> None:
    assert ScriptVerdict().judge(Outcome(exit_code=verdict.exit_code)) is verdict


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ("no user 'web' in group 12", Verdict.BAD),
        ("group 12 lacks web", Verdict.BAD),
        ("no user 'webb' in group 12", Verdict.SKIP),
        ("no user 'web' in group 123", Verdict.SKIP),
        ("no user", Verdict.SKIP),
    ],
)
def test_a_failure_with_other_data_in_its_message_proves_nothing_where_they_belong_to_the_cause(
    message: str, verdict: Verdict
) -> None:
    outcome = Outcome(exit_code=1, failure=Failure(signature=KEY_ERROR, summary=message))

    assert SameFailure(KEY_ERROR, values=("web", "12")).judge(outcome) is verdict
    assert SameFailure(KEY_ERROR).judge(outcome) is Verdict.BAD
