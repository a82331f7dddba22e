"""The smallest sizes with which something fails, judged by functions."""

from collections.abc import Callable

import pytest

from whet.core.verdict import Verdict
from whet.search.subsets.sizes import NeededSizes, Sizes, needed_sizes


def searched(
    low: Sizes,
    high: Sizes,
    fails: Callable[[Sizes], bool],
    is_possible: Callable[[Sizes], bool] = lambda _: True,
) -> tuple[NeededSizes, int]:
    """Return what the search finds, and how many sizes it asked about."""
    search = needed_sizes(low, high, is_possible)
    asked = 0
    verdicts: list[Verdict] = []
    while True:
        try:
            batch = search.send(verdicts) if verdicts else next(search)
        except StopIteration as end:
            return end.value, asked
        verdicts = []
        for sizes in batch:
            assert is_possible(sizes)
            asked += 1
            verdicts.append(Verdict.BAD if fails(sizes) else Verdict.GOOD)
            if verdicts[-1] is Verdict.BAD:
                break


LOW, HIGH = (1, 2, 4, 8), (12, 12, 1024, 768)


@pytest.mark.parametrize(
    ("least", "needed", "most_asked"),
    [
        ({}, {}, 1),
        ({1: 3}, {1: 3}, 7),
        ({2: 129}, {2: 129}, 15),
        ({0: 2, 1: 3}, {0: 2, 1: 3}, 22),
        ({0: 12, 1: 12, 2: 1024, 3: 768}, {0: 12, 1: 12, 2: 1024, 3: 768}, 60),
    ],
)
def test_the_sizes_that_are_needed_and_the_least_of_each(
    least: dict[int, int], needed: dict[int, int], most_asked: int
) -> None:
    found, asked = searched(
        LOW, HIGH, lambda sizes: all(sizes[place] >= value for place, value in least.items())
    )

    assert {place: found.sizes[place] for place in found.needed} == needed
    others = [place for place in range(4) if place not in needed]
    assert [found.sizes[place] for place in others] == [LOW[place] for place in others]
    assert asked <= most_asked


def test_sizes_that_make_no_sense_together_are_not_asked_about() -> None:
    found, _ = searched(
        (2, 16), (12, 768), lambda sizes: sizes[0] >= 5, lambda sizes: sizes[1] % sizes[0] == 0
    )

    assert found.sizes[0] in {6, 8}
    assert found.sizes[1] % found.sizes[0] == 0


def test_no_size_is_needed_where_both_ends_are_one() -> None:
    found, asked = searched((3, 3), (3, 3), lambda _: True)

    assert (found.needed, asked) == ((), 0)


@pytest.mark.parametrize(
    ("is_possible", "least", "below"),
    [
        (lambda _: True, 5, (4,)),
        (lambda sizes: sizes[0] not in {3, 4}, 5, (2,)),
        (lambda sizes: sizes[0] % 4 == 0, 8, (4,)),
        (lambda sizes: sizes[0] == 12 or sizes[1] == 768, 12, (None,)),
    ],
)
def test_what_was_not_tried_below_the_least_size_is_known(
    is_possible: Callable[[Sizes], bool], least: int, below: tuple[int | None, ...]
) -> None:
    found, _ = searched((2, 16), (12, 768), lambda sizes: sizes[0] >= 5, is_possible)

    assert (found.sizes[0], found.below) == (least, below)
