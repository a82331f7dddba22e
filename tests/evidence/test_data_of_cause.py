"""Which words of a failure's message are data that a smaller payload must keep."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.evidence.clues.data_of_cause import values_of

TABLE = "id,name,price\n1041,bob,12.50\n1042,O'Neill,n/a\n17,web,231.00\n"


def failed(message: str, *frames: Frame) -> Failure:
    signature = FailureSignature(kind=FailureKind.EXCEPTION, exception="ValueError")
    return Failure(signature=signature, summary=f"ValueError: {message}", frames=frames)


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("could not convert string to float: 'n/a'", ("n/a",)),
        ("no amount for bob", ("bob",)),
        ("order 1042 has no amount", ("1042",)),
        ("payment does not cover 231.00", ("231.00",)),
        ("'web'", ("web",)),
    ],
)
def test_what_stands_in_the_message_and_in_the_payload_is_data(
    message: str, values: tuple[str, ...]
) -> None:
    assert values_of(failed(message), TABLE) == values


@pytest.mark.parametrize(
    "message",
    [
        "division by zero",
        "line 1042 can't be read",
        "bad row at 1042",
        "expected 17 columns",
        "total is 4711.5, not 4711.6",
    ],
)
def test_a_position_a_short_number_and_what_was_computed_are_none(message: str) -> None:
    assert values_of(failed(message), TABLE) == ()


def test_a_word_of_the_program_itself_is_none(tmp_path: Path) -> None:
    module = tmp_path / "load.py"
    module.write_text('def load(row):\n    return row["name"]\n')
    frame = Frame(path=str(module), line=2, function="load", in_user_code=True)

    assert values_of(failed("'name' of bob", frame), TABLE) == ("bob",)


@given(st.text(max_size=60), st.text(max_size=60))
def test_each_value_stands_in_both(message: str, payload: str) -> None:
    for value in values_of(failed(message), payload):
        assert value in message
        assert value in payload
