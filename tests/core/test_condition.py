import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.condition import Condition, duration_seconds
from whet.core.errors import BadCondition
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput

OUTCOME = Outcome(
    exit_code=3,
    wall_seconds=2.5,
    cpu_seconds=1.0,
    peak_rss_bytes=600_000_000,
    stdout=BytesOutput(b"epoch 1\nloss: nan\n"),
    stderr=BytesOutput(b"warning: a and b or c\n"),
    measurements={"loss": 7.0},
)


@pytest.mark.parametrize(
    "text",
    [
        "seconds > 2",
        "wall_seconds >= 2500ms",
        "cpu_seconds <= 1s",
        "peak_memory > 500MB",
        "peak_memory < 600MiB",
        "exit == 3",
        "exit != 0 and stdout ~ nan",
        "seconds > 9 or loss > 5",
        "stdout ~ '^loss: (nan|inf)$'",
        "stdout !~ infinity",
        "output ~ warning",
        "stderr ~ 'a and b or c'",
        "stdout_bytes > 10 and stderr_bytes < 1kB",
        "loss > 1e0",
    ],
)
def test_a_true_condition_holds(text: str) -> None:
    assert Condition.parse(text).holds(OUTCOME) is True


@pytest.mark.parametrize("text", ["seconds > 3", "stdout !~ nan", "exit == 3 and loss > 8"])
def test_a_false_condition_does_not_hold(text: str) -> None:
    assert Condition.parse(text).holds(OUTCOME) is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("accuracy > 1", None),
        ("accuracy > 1 and exit == 3", None),
        ("accuracy > 1 and exit == 0", False),
        ("accuracy > 1 or exit == 3", True),
        ("accuracy > 1 or exit == 0", None),
    ],
)
def test_a_number_that_was_never_reported_is_unknown_not_false(text: str, expected: object) -> None:
    assert Condition.parse(text).holds(OUTCOME) is expected


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "``"),
        ("seconds", "`seconds`"),
        ("seconds > ", "``"),
        ("seconds > fast", "`fast`"),
        ("seconds > 2 parsecs", "`2 parsecs`"),
        ("exit ~ 3", "`exit`"),
        ("stdout > 3", "`stdout >`"),
        ("stdout ~ (", "`(`"),
        ("seconds > 2 and", "``"),
    ],
)
def test_an_unreadable_condition_is_refused_with_the_part_that_is_wrong(
    text: str, part: str
) -> None:
    with pytest.raises(BadCondition) as error:
        Condition.parse(text)

    assert part in str(error.value)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=0), st.floats(0, 1e9))
def test_a_comparison_agrees_with_python(limit: float, seconds: float) -> None:
    held = Condition.parse(f"seconds > {limit!r}").holds(Outcome(wall_seconds=seconds))

    assert held is (seconds > limit)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(BadCondition):
        Condition.parse(text).holds(OUTCOME)


def test_a_number_that_is_not_one_is_never_above_a_limit() -> None:
    assert Condition.parse("x > 1").holds(Outcome(measurements={"x": math.nan})) is False


def test_the_names_that_a_program_has_to_report_are_known_beforehand() -> None:
    condition = Condition.parse("seconds > 2 and loss > 3 or stdout ~ x")

    assert condition.names == frozenset({"loss"})


@pytest.mark.parametrize(
    ("text", "tells"),
    [("seconds > 2 or stderr ~ x", True), ("stdout_bytes > 9", True), ("output ~ x", False)],
)
def test_what_asks_for_one_stream_is_known_beforehand(text: str, *, tells: bool) -> None:
    assert Condition.parse(text).tells_streams_apart is tells


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("200ms", 0.2),
        ("5min", 300),
        ("2 h", 7200),
        ("2MB", None),
        ("3m30s", 210),
        ("1h30m", 5400),
        ("1 h 2 min", 3720),
        ("30s3m", None),
        ("3m3m", None),
    ],
)
def test_a_time_has_a_unit_of_time(text: str, seconds: float | None) -> None:
    assert duration_seconds(text) == seconds
