import contextlib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from whet.core.errors import BadExpectation
from whet.core.expectation import Expectation, all_met, check_together, scores_of
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
        ("seconds ~ 3s", Outcome(wall_seconds=2.1), True),
        ("seconds ~ 3s", Outcome(wall_seconds=4.6), False),
        ("seconds ~ 3s ± 10%", Outcome(wall_seconds=3.2), True),
        ("seconds ~ 3s +- 100ms", Outcome(wall_seconds=3.2), False),
        ("seconds in 2..4s", Outcome(wall_seconds=3.9), True),
        ("seconds ~ 2s to 4s", Outcome(wall_seconds=4.1), False),
        ("cpu < 500us", Outcome(cpu_seconds=0.0004), True),
        ("peak < 2G", Outcome(peak_rss_bytes=1_900_000_000), True),
        ("peak ~ 500M..1G", Outcome(peak_rss_bytes=1_900_000_000), False),
        ("loss ~ -3", Outcome(measurements={"loss": -2.5}), True),
        ("train.seconds ~ 3s", Outcome(measurements={"train.seconds": 3.0}), True),
        ("train.seconds ~ 3s", PASSED, None),
        ("peak < 3", Outcome(measurements={"peak": 2.0}, peak_rss_bytes=9), True),
        ("stdout ~ a..b", Outcome(stdout=BytesOutput(b"axxb")), True),
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


@given(guess=st.floats(1e-3, 1e6), value=st.floats(1e-3, 1e6))
def test_a_guess_is_met_within_a_factor(guess: float, value: float) -> None:
    factor = max(guess / value, value / guess)
    assume(abs(factor - 1.5) > 1e-9)

    met = Expectation.parse(f"loss ~ {guess!r}").met(
        Outcome(measurements={"loss": value}), Verdict.GOOD
    )

    assert met is (factor < 1.5)


@given(low=st.floats(0, 1e6), width=st.floats(0, 1e6), value=st.floats(0, 2e6))
def test_a_range_is_met_between_its_ends(low: float, width: float, value: float) -> None:
    high = low + width
    met = Expectation.parse(f"seconds ~ {low!r}..{high!r}s").met(
        Outcome(wall_seconds=value), Verdict.GOOD
    )

    assert met is (low <= value <= high)


@given(
    st.sampled_from(["seconds", "cpu", "peak", "loss", "train.seconds", "x.count"]),
    st.floats(1e-3, 1e6),
    st.floats(1e-3, 1e6),
)
def test_two_guesses_contradict_each_other_only_if_no_value_meets_both(
    name: str, one: float, other: float
) -> None:
    ranges = [Expectation.parse(f"{name} ~ {guess!r}") for guess in (one, other)]
    apart = max(one, other) / min(one, other)
    assume(abs(apart - 2.25) > 1e-6)

    try:
        check_together(ranges)
    except BadExpectation:
        assert apart > 2.25
    else:
        assert apart < 2.25


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("exit 0", "exit 1"),
        ("exit 0", "exit == 3"),
        ("good", "bad"),
        ("seconds < 2", "wall_seconds > 3"),
        ("peak < 1G", "peak_memory ~ 2G"),
        ("seconds < 2", "seconds > 2"),
    ],
)
def test_a_contradiction_is_refused_and_both_are_named(one: str, other: str) -> None:
    with pytest.raises(BadExpectation) as caught:
        check_together([Expectation.parse("stdout ~ x"), *map(Expectation.parse, (one, other))])

    assert f"`{one}` and `{other}`" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("seconds ~ fast", "`fast`"),
        ("seconds ~ 3 parsecs", "`3 parsecs`"),
        ("seconds ~ 2GB", "`2GB`"),
        ("peak ~ 3s", "`3s`"),
        ("seconds ~ 4s..2s", "ends before it begins"),
        ("seconds ~ 1..2..3", "more than two ends"),
        ("seconds ~ 3 ± 1 ± 1", "more than one"),
        ("seconds ~ 3 ± much", "`much`"),
        ("seconds ~ 3 ± -5%", "`-5%`"),
        ("seconds ~ nan", "`nan`"),
        ("loss ~ 0", "no width"),
        ("loss ~", "`loss ~`"),
    ],
)
def test_a_guess_that_cannot_be_read_is_refused_with_the_word(text: str, word: str) -> None:
    with pytest.raises(BadExpectation) as caught:
        Expectation.parse(text)

    assert word in str(caught.value)


@given(st.text(max_size=30))
def test_any_text_behind_a_number_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(BadExpectation):
        Expectation.parse(f"seconds ~ {text}").met(PASSED, Verdict.GOOD)


@pytest.mark.parametrize(
    ("text", "met"),
    [("seconds < 2", None), ("seconds ~ 3s", None), ("seconds > 1", True), ("seconds < 1", False)],
)
def test_a_program_that_whet_ended_has_used_at_least_that(text: str, *, met: bool | None) -> None:
    killed = Outcome(exit_code=None, timed_out=True, wall_seconds=1.5)

    assert Expectation.parse(text).met(killed, Verdict.BAD) is met


def test_each_line_is_scored_on_its_own_and_a_line_of_a_newer_whet_tells_nothing() -> None:
    text = "seconds ~ 2s\nexit 1\nphase of the moon is full"

    scores = scores_of(text, Outcome(wall_seconds=8.0), Verdict.GOOD)

    assert [each.met for each in scores] == [False, False, None]
    assert [each.ratio for each in scores] == [4.0, None, None]


@given(st.lists(st.sampled_from([True, False, None])))
def test_all_came_true_only_if_each_did(mets: list[bool | None]) -> None:
    met = all_met(mets)

    assert (met is True) is (bool(mets) and all(each is True for each in mets))
    assert (met is False) is (False in mets)


def test_an_expectation_is_one_line_however_it_is_typed() -> None:
    pattern = Expectation.parse("stdout ~ a\nb")

    assert "\n" not in pattern.text
    assert pattern.met(Outcome(stdout=BytesOutput(b"a\nb")), Verdict.GOOD) is True
    assert Expectation.parse("out of\nmemory").text == "out of memory"
