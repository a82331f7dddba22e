"""A lazy batch reads no further than asked."""

from collections.abc import Iterator

import pytest

from whet.search.batch import LazyBatch


def counting(read: list[int]) -> Iterator[int]:
    for number in range(5):
        read.append(number)
        yield number


def test_is_read_no_further_than_asked() -> None:
    read: list[int] = []
    batch = LazyBatch(counting(read))

    assert batch
    assert read == [0]
    assert batch[2] == 2
    assert read == [0, 1, 2]


def test_is_a_sequence_like_a_list() -> None:
    batch = LazyBatch(counting([]))

    assert list(batch) == [0, 1, 2, 3, 4]
    assert len(batch) == 5
    assert batch[-1] == 4
    assert batch[1:3] == [1, 2]
    with pytest.raises(IndexError):
        batch[5]


def test_an_empty_one_is_false() -> None:
    assert not LazyBatch(iter(()))
