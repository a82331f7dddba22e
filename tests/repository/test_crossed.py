"""Few combinations are in the ordinary run, and no value is in none of them."""

from itertools import product

import pytest
from crossed import crossed


@pytest.mark.parametrize("lengths", list(product(range(1, 5), repeat=3)))
def test_each_value_is_in_the_ordinary_run_and_each_combination_in_one_of_both(
    lengths: tuple[int, int, int],
) -> None:
    mark = crossed(**dict(zip("abc", (range(length) for length in lengths), strict=True)))

    names, sets = mark.args
    often = [each.values for each in sets if not each.marks]
    assert names == ("a", "b", "c")
    assert len(often) == max(lengths)
    for axis, length in zip(zip(*often, strict=True), lengths, strict=True):
        assert set(axis) == set(range(length))
    assert len({each.values for each in sets}) == lengths[0] * lengths[1] * lengths[2]
