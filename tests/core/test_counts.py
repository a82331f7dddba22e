"""A number stands with its noun as English has it."""

import pytest

from whet.core.text.quantity import shown_count


@pytest.mark.parametrize(
    ("count", "noun", "shown"),
    [
        (1, "day", "1 day"), (2, "day", "2 days"), (0, "key", "0 keys"), (2, "entry", "2 entries"),
        (1, "entry", "1 entry"), (3, "trial", "3 trials"),
    ],
)  # fmt: skip
def test_a_count_has_its_noun_in_the_right_number(count: int, noun: str, shown: str) -> None:
    assert shown_count(count, noun) == shown
