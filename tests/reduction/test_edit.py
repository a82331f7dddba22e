"""Edits: what a splice makes of them, and that a search makes as many as it can."""

from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.reduction.edit import (
    Edit,
    delete_pieces,
    first_that_fails,
    make_changes,
    siblings,
    splice,
)
from whet.search.proposal import run_search


@given(st.lists(st.sampled_from(["a", "bb", "c,"]), min_size=1, max_size=6), st.data())
def test_siblings_go_with_their_separators(items: list[str], data: st.DataObject) -> None:
    text, spans = "[", []
    for number, item in enumerate(items):
        text += ";" * (number > 0)
        spans.append((len(text), len(text) + len(item)))
        text += item
    cut = data.draw(st.sets(st.integers(0, len(items) - 1)))
    cuts = siblings(spans)

    made = splice(f"{text}]".encode(), [cuts[number] for number in sorted(cut)])

    kept = ";".join(item for number, item in enumerate(items) if number not in cut)
    assert made.decode() == f"[{kept}]"


def test_an_edit_inside_of_a_cut_has_no_effect() -> None:
    assert splice(b"abcdef", [Edit(1, 5), Edit(2, 3, b"X"), Edit(5, 6, b"Y")]) == b"aY"


def test_an_insertion_right_behind_a_cut_is_made() -> None:
    assert splice(b"abc", [Edit(0, 2), Edit(2, 2, b"X")]) == b"Xc"


def test_overlapping_cuts_add_up() -> None:
    assert splice(b"abcdef", [Edit(0, 3), Edit(2, 5)]) == b"f"


@given(st.binary(min_size=1, max_size=30), st.sets(st.integers(0, 29)))
def test_makes_every_change_that_the_failure_survives(payload: bytes, needed: set[int]) -> None:
    changes = [[Edit(place, place + 1, b"..")] for place in range(len(payload))]
    wanted = b"".join(
        payload[place : place + 1] if place in needed else b".." for place in range(len(payload))
    )

    def test(candidate: bytes) -> Verdict:
        position = 0
        for place in range(len(payload)):
            if place in needed:
                if candidate[position : position + 1] != payload[place : place + 1]:
                    return Verdict.GOOD
                position += 1
            else:
                is_changed = candidate[position : position + 2] == b".."
                position += 2 if is_changed else 1
        return Verdict.BAD if position == len(candidate) else Verdict.GOOD

    if b"." not in payload:
        assert run_search(make_changes(payload, changes), test) == wanted


def test_what_stands_around_the_pieces_stays() -> None:
    def test(candidate: bytes) -> Verdict:
        assert candidate.startswith(b"<")
        assert candidate.endswith(b">")
        return Verdict.BAD

    assert run_search(delete_pieces(b"<abc>", (1, 2, 3, 4)), test) == b"<>"


def test_no_pieces_need_no_call() -> None:
    def test(candidate: bytes) -> Verdict:
        raise AssertionError(candidate)

    assert run_search(delete_pieces(b"", (0,)), test) == b""
    assert run_search(make_changes(b"abc", []), test) == b"abc"
    assert run_search(first_that_fails(iter(list[bytes]())), test) is None


def test_the_first_alternative_that_fails_is_taken() -> None:
    tested: list[bytes] = []

    def test(candidate: bytes) -> Verdict:
        tested.append(candidate)
        return Verdict.BAD if candidate in {b"b", b"c"} else Verdict.SKIP

    assert run_search(first_that_fails([b"a", b"b", b"c"]), test) == b"b"
    assert tested == [b"a", b"b"]
    assert run_search(first_that_fails([b"x"]), test) is None
