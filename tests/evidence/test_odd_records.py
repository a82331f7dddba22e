"""The records of a large table that stand out by a number, and tables in which none does."""

import random

import pytest

from whet.evidence.clues.odd_records import odd_records
from whet.evidence.clues.records_in import records_in

DRAWN = random.Random(4)
TIMES = [1_700_000_000 + 3 * each + DRAWN.randint(0, 2) for each in range(500)]
PRICES = [DRAWN.randint(100, 900) for _ in range(500)]


def table(times: list[int], prices: list[int]) -> str:
    rows = (
        f"{time},shop-{each % 7},{price}\n"
        for each, (time, price) in enumerate(zip(times, prices, strict=True))
    )
    return "time,shop,price\n" + "".join(rows)  # fmt: skip


def put(numbers: list[int], place: int, number: int) -> list[int]:
    return [*numbers[:place], number, *numbers[place + 1 :]]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (table(put(TIMES, 200, TIMES[200] + 86_400), PRICES), 202, "first value, 1700087000, is at least 86397 above those before and after it, and no other one is above or below both of them by more than 4"),
        (table(put(TIMES, 200, TIMES[200] + 90), PRICES), 202, "first value, 1700000690, is at least 87 above those before and after it"),
        (table(TIMES, put(PRICES, 3, 90_000)), 5, "third value, 90000, is at least 89"),
        (table(TIMES, put(PRICES, 0, -900)), 2, "third value, -900, is farther from all others than they are from each other"),
    ],
    ids=["far ahead", "among the others", "much too large", "at the end"],
)  # fmt: skip
def test_a_record_with_a_number_far_from_its_like_is_the_first_and_those_beside_it_are_its_twins(
    text: str, line: int, says: str
) -> None:
    first, *beside = odd_records(records_in("rows.csv", text))
    assert first.line == line
    assert says in first.stands_out
    assert {each.line for each in beside} <= {line - 1, line + 1}
    assert not any(each.stands_out for each in beside)


@pytest.mark.parametrize(
    "text",
    [
        table(TIMES, PRICES),
        table([DRAWN.randint(0, 10**9) for _ in range(500)], PRICES),
        table([each // 250 for each in range(500)], [7] * 500),
        "a,b\n" + "1,2\n" * 300 + "1,2,3\n" + "9,9\n",
        "word\n" * 300 + "another\n",
    ],
    ids=["even", "drawn", "two levels", "no table", "words"],
)
def test_a_table_in_which_nothing_stands_out_offers_none(text: str) -> None:
    assert odd_records(records_in("rows.csv", text)) == []
