"""What sets a record apart is said only where it is true of that record alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evidence.provenance.trace.contrast import contrast

SHOPS = [f"2024-01-0{day};A{day};{day * 9}.5" for day in range(1, 8)]
NAMED = ["day,shop,amount", *(f"2024-01-0{day},A{day},{day * 100 + 3}" for day in range(1, 8))]


@pytest.mark.parametrize(
    ("lines", "odd", "says"),
    [
        (SHOPS, "2024-01-08;A8;1,75", "field 3 is `1,75`, which is no number; the other 7 are numbers"),
        (SHOPS, "2024-01-08;A8;", "field 3 is empty; none of the other 7 is"),
        (SHOPS, "2024-01-08;A8", "it has 2 fields; the other 7 have 3"),
        (SHOPS, "08.01.2024;A8;12.5", "field 1 is `08.01.2024`; the other 7 are like `2024-01-01`"),
        (NAMED, "2024-01-08,A8,1250000",
         "`amount` is 1,250,000; the other 7 lie between 103 and 703"),
        (NAMED, "2024-01-08,A8,-4", "`amount` is -4; the other 7 lie between 103 and 703"),
        (SHOPS, "2024-01-08;A8;70.5", ""),
        (NAMED, "2024-01-08,A8,803", ""),
        (SHOPS, "08.01.2024;A8;1,75", ""),
        (SHOPS[:3], "2024-01-08;A8;1,75", ""),
    ],
)  # fmt: skip
def test_only_what_stands_out_alone_is_said(lines: list[str], odd: str, says: str) -> None:
    assert contrast([*lines, odd], len(lines) + 1) == says


def test_of_two_odd_fields_the_one_that_the_failure_is_about_is_said() -> None:
    said = contrast([*SHOPS, "08.01.2024;A8;1,75"], 8, ["1,75"])
    assert said == "field 3 is `1,75`, which is no number; the other 7 are numbers"


def test_lines_of_json_are_compared_by_their_keys() -> None:
    lines = [f'{{"id": {number}, "speed": {number + 20}.5}}' for number in range(9)]
    odd = '{"id": 9, "speed": null}'
    assert contrast([*lines, odd], 10) == (
        "`speed` is `null`, which is no number; the other 9 are numbers"
    )


@given(st.lists(st.text(max_size=30), max_size=12), st.integers(1, 12))
def test_any_file_is_read_and_a_line_like_all_others_is_not_odd(
    lines: list[str], line: int
) -> None:
    contrast(lines, line)
    assert not contrast(["1,a"] * 9, min(line, 9))
