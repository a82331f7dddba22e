"""What `--where` says of a row; what it can't read is named."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import BadRowCondition, WhetError
from whet.sampling.row_condition import RowCondition

ROW: Mapping[str, object] = {
    "amount": -3,
    "text_amount": "-3.0",
    "country": "DE",
    "empty": None,
    "day": date(2026, 2, 28),
    "moment": datetime(2026, 2, 28, 12, tzinfo=UTC),
    "price": Decimal("9.99"),
    "paid": True,
    "first name": "O'Hara",
    "a.b": 7,
}


@pytest.mark.parametrize(
    "text",
    [
        "amount < 0",
        "amount<0 and country == 'DE'",
        "text_amount < 0",
        "text_amount == -3",
        "0 > amount",
        "amount = -3",
        "amount <> 4",
        "country in ('FR', \"DE\")",
        "country not in ('FR')",
        "amount in (1, -3)",
        "not (amount > 0 or country == 'FR')",
        "amount > 0 and country == 'FR' or paid == true",
        "day >= '2026-02-01'",
        "moment > '2026-02-28'",
        "price < 10",
        "price == 9.99",
        "9.99 >= price",
        "price in (1, 9.99)",
        "price == '9.99'",
        "country ~ '^D' and country !~ 'F'",
        "empty is null and country is not null",
        "`first name` == 'O''Hara'",
        "a.b == 7",
        "AMOUNT_OR_NOT is null or amount < 0",
        "amount == -3.0",
    ],
)
def test_a_condition_that_holds(text: str) -> None:
    condition = RowCondition.parse(text)

    assert condition.holds({name: ROW.get(name) for name in condition.columns})


@pytest.mark.parametrize(
    "text",
    [
        "empty < 3",
        "not empty < 3",
        "empty == empty",
        "country > 3",
        "not country > 3",
        "day > 'yesterday'",
        "amount > 0",
        "paid == false",
    ],
)
def test_a_condition_that_does_not_hold_or_cannot_be_known(text: str) -> None:
    condition = RowCondition.parse(text)

    assert not condition.holds({name: ROW.get(name) for name in condition.columns})


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("amount <", "which ends too early"),
        ("amount < 0 and", "which ends too early"),
        ("amount ! 0", "from `! 0` on"),
        ("amount < 0 country", "from `country` on"),
        ("(amount < 0", "which ends too early"),
        ("amount in ()", "from `)` on"),
        ("amount in (other)", "from `other)` on"),
        ("amount == null", "from `null` on"),
        ("__import__('os').system('x')", "from `.system('x')` on"),
        ("amount ~ '('", "not a regular expression"),
        ("(" * 100 + "a < 1" + ")" * 100, "can't parse"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, rest: str) -> None:
    with pytest.raises(BadRowCondition) as error:
        RowCondition.parse(text)

    assert rest in str(error.value)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        condition = RowCondition.parse(text)
    except WhetError:
        return
    condition.holds(dict.fromkeys(condition.columns, 1))


numbers = st.integers(-5, 5) | st.none()


@given(a=numbers, b=numbers)
def test_and_or_and_not_are_those_of_three_values(a: int | None, b: int | None) -> None:
    def truth(text: str) -> bool | None:
        return RowCondition.parse(text).root.holds({"a": a, "b": b})

    opposite = {True: False, False: True, None: None}

    assert truth("not (a < 0 and b < 0)") is truth("not a < 0 or not b < 0")
    assert truth("not not a < 0") is truth("a < 0")
    assert opposite[truth("a < b")] is truth("a >= b")
