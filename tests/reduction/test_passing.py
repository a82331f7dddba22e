"""The nearest payload that passes differs in what it means."""

import pytest

from whet.reduction.passing import Passing, is_typo


@pytest.mark.parametrize(
    ("one", "other", "typo"),
    [
        (b"return 1/0", b"retrn 1/0", True),
        (b"return 1/0", b"return0 1/0", True),
        (b"return 1/0", b"eturn 1/0", True),
        (b"return 1/0", b"return 1/1", False),
        (b"if not x: f()", b"if x: f()", False),
        (b"f(x)", b"f(y)", False),
        (b"f('one')", b"f('on')", False),
        (b"f(a, b)", b"f(a)", False),
        (b"SELECT a FROM t", b"SELECT a FRM t", True),
        (b"", b"a", False),
        (b"word" * 10_000, b"word" * 10_000 + b"x", True),
    ],
)
def test_a_difference_within_a_word_is_a_typo(one: bytes, other: bytes, *, typo: bool) -> None:
    assert is_typo(one, other) is typo
    assert is_typo(other, one) is typo


def test_a_program_that_passes_by_a_typo_is_not_the_nearest() -> None:
    passing = Passing()
    for each in (b"x = 1", b"return 1/(0+1)", b"retur 1/0"):
        passing.note(each)

    assert passing.nearest_to(b"return 1/0") == b"retur 1/0"
    assert passing.nearest_to(b"return 1/0", is_source=True) == b"return 1/(0+1)"
