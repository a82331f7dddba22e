import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import BadExpectation
from whet.core.expectation import Expectation
from whet.core.failure import Failure, FailureKind, FailureSignature
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.verdict import Verdict

PASSED = Outcome()


def failed(kind: FailureKind, *, exception: str = "", signal: str = "") -> Outcome:
    signature = FailureSignature(kind=kind, exception=exception, signal=signal)
    return Outcome(exit_code=1, failure=Failure(signature=signature, summary="it failed"))


KEY_ERROR = failed(FailureKind.EXCEPTION, exception="KeyError")
JSON_ERROR = failed(FailureKind.EXCEPTION, exception="json.decoder.JSONDecodeError")
SEGFAULT = failed(FailureKind.SIGNAL, signal="SIGSEGV")


@given(expected=st.integers(0, 255), came=st.integers(0, 255))
def test_an_exit_code_comes_true_if_it_is_that_of_the_shell(expected: int, came: int) -> None:
    met = Expectation.parse(f"exit {expected}").met(Outcome(exit_code=came), Verdict.GOOD)

    assert met is (expected == came)


@given(expected=st.sampled_from(Verdict), came=st.sampled_from(Verdict))
def test_a_skip_tells_nothing_about_good_and_bad(expected: Verdict, came: Verdict) -> None:
    met = Expectation.parse(expected.value).met(PASSED, came)

    if came is Verdict.SKIP is not expected:
        assert met is None
    else:
        assert met is (expected == came)


@given(expected=st.sampled_from(FailureKind), came=st.sampled_from(FailureKind))
def test_every_kind_of_failure_can_be_expected(expected: FailureKind, came: FailureKind) -> None:
    assert Expectation.parse(expected.value).met(failed(came), Verdict.BAD) is (expected is came)
    assert Expectation.parse(expected.value).met(PASSED, Verdict.GOOD) is False


@pytest.mark.parametrize(
    ("text", "outcome", "met"),
    [
        ("exit=1", KEY_ERROR, True),
        ("exit == 0", KEY_ERROR, False),
        ("exit 1000000000000", Outcome(exit_code=100_000_000), False),
        ("exit 0000000000001", Outcome(exit_code=1), True),
        ("exit 139", Outcome(exit_code=None, signal=11), True),
        ("exit 124", Outcome(exit_code=None, timed_out=True), True),
        ("  Timeout ", failed(FailureKind.TIMEOUT), True),
        ("out  of memory", failed(FailureKind.OUT_OF_MEMORY), True),
        ("KeyError", KEY_ERROR, True),
        ("KeyError", JSON_ERROR, False),
        ("KeyError", PASSED, False),
        ("JSONDecodeError", JSON_ERROR, True),
        ("json.decoder.JSONDecodeError", JSON_ERROR, True),
        ("Error", KEY_ERROR, False),
        ("zlib.error", failed(FailureKind.EXCEPTION, exception="zlib.error"), True),
        ("SIGSEGV", SEGFAULT, True),
        ("SIGABRT", SEGFAULT, False),
        ("SIGABRT", PASSED, False),
        ("seconds < 2", Outcome(wall_seconds=1.0), True),
        ("seconds < 2", Outcome(wall_seconds=3.0), False),
        ("stdout ~ 'a  b'", Outcome(stdout=BytesOutput(b"a  b")), True),
        ("loss < 1", PASSED, None),
    ],
)
def test_what_can_be_expected(text: str, outcome: Outcome, *, met: bool | None) -> None:
    assert Expectation.parse(text).met(outcome, Verdict.BAD) is met


@pytest.mark.parametrize("text", ["exit 0", "good", "KeyError", "timeout", "seconds < 2"])
@pytest.mark.parametrize("outcome", [Outcome(interrupted=True), Outcome(failed_reset="make clean")])
def test_a_trial_that_never_had_its_chance_tells_nothing(text: str, outcome: Outcome) -> None:
    assert Expectation.parse(text).met(outcome, Verdict.SKIP) is None


@pytest.mark.parametrize("text", ["", "  ", "crash", "it works", "exit one", "error"])
def test_what_cannot_be_read_is_answered_with_examples(text: str) -> None:
    with pytest.raises(BadExpectation) as caught:
        Expectation.parse(text)

    assert f"`{text}`" in str(caught.value)
    for example in ("exit 0", "KeyError", "timeout", "good", "seconds < 2"):
        assert example in caught.value.hint
        Expectation.parse(example)


def test_a_condition_that_cannot_be_read_says_where() -> None:
    with pytest.raises(BadExpectation, match="`2 lightyears`") as caught:
        Expectation.parse("seconds < 2 lightyears")

    assert "200ms" in caught.value.hint


def test_the_words_of_its_author_are_kept() -> None:
    assert Expectation.parse(" exit 0 ").text == " exit 0 "
