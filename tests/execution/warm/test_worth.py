"""Laws of what a copy is worth, by the edits until now."""

from hypothesis import given
from hypothesis import strategies as st

from whet.execution.worth import Worth, first_difference

TEXTS = st.lists(st.sampled_from([b"a", b"b", b""]), max_size=6).map(b"\n".join)


def text(*, early: int, late: int) -> dict[str, bytes]:
    return {"main.py": b"early = %d\nprint()\nlate = %d\n" % (early, late)}


def after(worth: Worth, texts: dict[str, bytes], *, refused: bool, vain: bool) -> Worth:
    return worth.after(texts, was_refused=refused, were_in_vain=vain)


@given(TEXTS, TEXTS)
def test_two_texts_are_the_same_up_to_their_first_difference_and_not_there(
    then: bytes, now: bytes
) -> None:
    at = first_difference(then, now)
    lines = [each.split(b"\n") for each in (then, now)]

    assert lines[0][: at - 1] == lines[1][: at - 1]
    if then != now:
        assert lines[0][at - 1 : at] != lines[1][at - 1 : at]


def test_where_the_deepest_copy_does_shorter_stretches_are_worth_one() -> None:
    worth = Worth(seconds=1)

    assert after(worth, text(early=1, late=1), refused=False, vain=False).here == 0.5


def test_where_copies_are_left_in_vain_longer_and_longer_ones_are_but_not_for_ever() -> None:
    worth = after(Worth(seconds=1), text(early=0, late=1), refused=True, vain=False)
    found = [worth.here]
    for early in range(1, 9):
        worth = after(worth, text(early=early, late=1), refused=True, vain=True)
        found.append(worth.here)

    assert found == [1, 2, 4, 4, 4, 4, 4, 4, 4]


def test_it_stays_so_while_the_same_place_is_edited_and_not_when_another_one_is() -> None:
    worth = after(Worth(seconds=1), text(early=0, late=1), refused=True, vain=False)
    worth = after(worth, text(early=1, late=1), refused=True, vain=True)
    same = after(worth, text(early=2, late=1), refused=False, vain=False)

    assert same.here == 2
    assert after(same, text(early=3, late=1), refused=False, vain=False).here == 2
    assert after(same, text(early=2, late=2), refused=False, vain=False).here == 0.5


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 2), st.integers(0, 2))))
def test_a_copy_of_every_stretch_is_left_where_every_stretch_is_worth_one(
    edits: list[tuple[bool, bool, int, int]],
) -> None:
    worth = Worth(seconds=0)
    for refused, vain, early, late in edits:
        worth = after(worth, text(early=early, late=late), refused=refused, vain=vain)
        assert worth.here == 0
