import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.history.walk_back import walk_back
from whet.search.proposal import run_search


@given(oldest=st.integers(1, 3000), width=st.integers(1, 5), data=st.data())
def test_a_good_version_is_found_wherever_all_older_ones_are_good(
    oldest: int, width: int, data: st.DataObject
) -> None:
    last_bad = data.draw(st.integers(0, oldest - 1))
    landmarks = data.draw(st.sets(st.integers(1, oldest), max_size=20))

    result = run_search(
        walk_back(oldest, landmarks, width),
        lambda distance: Verdict.BAD if distance <= last_bad else Verdict.GOOD,
    )
    alone = run_search(
        walk_back(oldest, landmarks),
        lambda distance: Verdict.BAD if distance <= last_bad else Verdict.GOOD,
    )

    assert result.good is not None
    assert result.bad <= last_bad < result.good
    assert (result.good, result.bad) == (alone.good, alone.bad), "workers change no answer"
    assert len(result.tested) <= oldest.bit_length() + 1


@given(oldest=st.integers(1, 300), width=st.integers(1, 5), data=st.data())
def test_whatever_the_answers_the_walk_ends_with_what_it_was_told(
    oldest: int, width: int, data: st.DataObject
) -> None:
    told: dict[int, Verdict] = {}

    def test(distance: int) -> Verdict:
        assert 1 <= distance <= oldest
        assert distance not in told, "no version is tested twice"
        told[distance] = data.draw(st.sampled_from(Verdict))
        return told[distance]

    result = run_search(walk_back(oldest, {3, 9, 27, 81, 243}, width), test)

    assert dict(result.tested) == told
    assert (result.good is None) == (Verdict.GOOD not in told.values())
    assert result.bad == 0 or told[result.bad] is Verdict.BAD
    assert result.good is None or result.bad < result.good
    assert len(told) <= 2 * oldest.bit_length() + 2


def test_steps_double_and_the_oldest_is_tried_last() -> None:
    result = run_search(walk_back(21), lambda _: Verdict.BAD)

    assert [distance for distance, _ in result.tested] == [1, 2, 4, 8, 16, 21]
    assert (result.good, result.bad) == (None, 21)


def test_a_landmark_is_preferred_to_what_lies_before_the_next_step() -> None:
    result = run_search(walk_back(100, {6, 7, 40}), lambda _: Verdict.BAD)

    assert [distance for distance, _ in result.tested] == [1, 2, 6, 8, 16, 40, 64, 100]


def test_a_good_stretch_between_bad_and_unbuildable_versions_is_found() -> None:
    def test(distance: int) -> Verdict:
        if distance <= 70:
            return Verdict.BAD
        return Verdict.GOOD if distance <= 100 else Verdict.SKIP

    result = run_search(walk_back(1000), test)

    assert result.good in range(71, 101)
    assert result.bad in range(64, 71)


@pytest.mark.parametrize("verdict", [Verdict.BAD, Verdict.SKIP])
def test_with_nothing_before_the_bad_version_nothing_is_tested(verdict: Verdict) -> None:
    result = run_search(walk_back(0), lambda _: verdict)

    assert (result.good, result.bad, result.tested) == (None, 0, ())


def test_between_bad_and_skipped_versions_the_middle_is_tried_until_nothing_lies_between() -> None:
    result = run_search(
        walk_back(16), lambda distance: Verdict.BAD if distance <= 5 else Verdict.SKIP
    )

    assert [distance for distance, _ in result.tested] == [1, 2, 4, 8, 16, 6, 5]
    assert (result.good, result.bad) == (None, 5)
