"""Elements that make sense only together are found, and others are left alone."""

from collections.abc import Collection

from hypothesis import given
from hypothesis import strategies as st

from whet.search.subsets.bound import bound_together


@given(
    count=st.integers(0, 12), pairs=st.lists(st.sets(st.integers(0, 11), min_size=2, max_size=2))
)
def test_each_element_is_in_one_group(count: int, pairs: list[set[int]]) -> None:
    def makes_sense(chosen: Collection[int]) -> bool:
        return all(pair <= set(chosen) or not pair & set(chosen) for pair in pairs)

    groups = bound_together(count, makes_sense)

    assert sorted(each for group in groups for each in group) == list(range(count))


@given(count=st.integers(2, 12), data=st.data())
def test_pairs_that_need_each_other_are_one_group_and_the_rest_are_alone(
    count: int, data: st.DataObject
) -> None:
    numbers = data.draw(st.permutations(range(count)))
    pairs = [
        {numbers[at], numbers[at + 1]}
        for at in range(0, data.draw(st.integers(0, count // 2)) * 2, 2)
    ]

    def makes_sense(chosen: Collection[int]) -> bool:
        return all(pair <= set(chosen) or not pair & set(chosen) for pair in pairs)

    groups = {frozenset(group) for group in bound_together(count, makes_sense)}

    together = {frozenset(pair) for pair in pairs}
    assert groups == together | {
        frozenset({each}) for each in range(count) if not any(each in pair for pair in pairs)
    }


def test_of_very_many_each_is_taken_alone() -> None:
    assert len(bound_together(500, lambda _: False)) == 500


def test_an_element_that_needs_more_than_one_other_gets_all_of_them() -> None:
    needed = {4, 5, 6, 7}

    def makes_sense(chosen: Collection[int]) -> bool:
        return needed <= set(chosen) or needed.isdisjoint(chosen)

    groups = bound_together(12, makes_sense)

    assert tuple(sorted(needed)) in groups
    assert len(groups) == 12 - len(needed) + 1
