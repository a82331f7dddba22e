"""A vocabulary that is cut: whatever its kind, numbers are dense and every token can still be made."""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.tiny.token_choice import Vocabulary, byte_letters

SPECIAL = ["<s>", "</s>", "<unk>", "<unused7>"]


@st.composite
def byte_pairs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a vocabulary of byte pairs as a trainer makes it: each merge joins tokens made before."""
    level = draw(st.sampled_from(["letters", "bytes", "fallback"]))
    letters = sorted(byte_letters()) if level == "bytes" else list("abcdeé\u2581")
    tokens = [*SPECIAL, *letters]
    if level == "fallback":
        tokens += [f"<0x{number:02X}>" for number in range(256)]
    merges: list[list[str]] = []
    parts = letters[:7]
    for _ in range(draw(st.integers(0, 30))):
        left, right = draw(st.sampled_from(parts)), draw(st.sampled_from(parts))
        merges.append([left, right])
        if left + right not in tokens:
            tokens.append(left + right)
            parts = [*parts, left + right]
    return {
        "type": "BPE",
        "unk_token": draw(st.sampled_from([None, "<unk>"])),
        "byte_fallback": level == "fallback",
        "vocab": {token: number for number, token in enumerate(tokens)},
        "merges": merges if draw(st.booleans()) else [" ".join(each) for each in merges],
    }


@st.composite
def words(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a vocabulary of words and their ends."""
    drawn = draw(st.lists(st.text("abcé", min_size=1, max_size=4), unique=True))
    tokens = [*SPECIAL, *string.ascii_lowercase[:5], *(f"##{each}" for each in "abc"), *drawn]
    return {
        "type": "WordPiece",
        "unk_token": "<unk>",
        "continuing_subword_prefix": "##",
        "vocab": {token: number for number, token in enumerate(dict.fromkeys(tokens))},
    }


@st.composite
def pieces(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a vocabulary with a score for each token."""
    drawn = draw(st.lists(st.text("abcé\u2581", min_size=1, max_size=4), unique=True))
    tokens = dict.fromkeys([*SPECIAL, *"abcé\u2581", *drawn])
    return {
        "type": "Unigram",
        "unk_id": draw(st.sampled_from([None, 2])),
        "vocab": [[each, draw(st.floats(-20, 0))] for each in tokens],
    }


@given(
    st.one_of(byte_pairs(), words(), pieces()),
    st.integers(0, 60),
    st.sets(st.sampled_from(SPECIAL)),
)
def test_a_cut_vocabulary_has_dense_numbers_in_the_old_order_and_what_was_needed(
    model: dict[str, Any], more: int, named: set[str]
) -> None:
    vocabulary = Vocabulary(model)
    needed = named | vocabulary.needed()
    size = len(needed) + more

    kept = vocabulary.chosen(named, size)
    cut = vocabulary.cut(kept)

    again = Vocabulary(cut)
    assert list(again.ids.values()) == list(range(len(kept)))
    assert [*again.ids] == [each for each in vocabulary.ids if each in again.ids]
    assert needed <= {*again.ids}
    assert len(kept) <= size
    assert again.unknown() == vocabulary.unknown()
    assert again.letters == vocabulary.letters
    assert {key: cut[key] for key in cut.keys() - {"vocab", "merges", "unk_id"}} == {
        key: model[key] for key in model.keys() - {"vocab", "merges", "unk_id"}
    }


@given(byte_pairs(), st.integers(0, 60))
def test_every_merge_that_stays_can_be_made_and_so_can_every_token(
    model: dict[str, Any], more: int
) -> None:
    vocabulary = Vocabulary(model)
    kept = vocabulary.chosen([], len(vocabulary.needed()) + more)
    cut = vocabulary.cut(kept)

    pairs = [each.split(" ") if isinstance(each, str) else each for each in cut["merges"]]
    made = {each for each in kept if each in SPECIAL or len(each) == 1 or each.startswith("<0x")}
    for left, right in pairs:
        assert {left, right, left + right} <= {*kept}
        if {left, right} <= made:
            made.add(left + right)
    assert made == {*kept}
    assert cut["merges"] == [each for each in model["merges"] if each in cut["merges"]]


@given(words(), st.integers(0, 60))
def test_as_many_tokens_stay_as_are_asked_for_or_all(model: dict[str, Any], more: int) -> None:
    vocabulary = Vocabulary(model)
    size = len(vocabulary.needed()) + more

    assert len(vocabulary.chosen([], size)) == min(size, len(vocabulary.ids))


def test_scores_stay_and_the_best_pieces_come_first() -> None:
    model = {
        "type": "Unigram",
        "unk_id": 0,
        "vocab": [["<unk>", 0.0], ["▁the", -2.0], ["▁a", -9.0], ["a", -3.0], ["▁of", -1.0]],
    }
    vocabulary = Vocabulary(model)

    cut = vocabulary.cut(vocabulary.chosen([], 3))

    assert cut["vocab"] == [["<unk>", 0.0], ["a", -3.0], ["▁of", -1.0]]


def test_pieces_without_an_unknown_one_keep_every_character() -> None:
    model = {"type": "Unigram", "unk_id": None, "vocab": [["a", 0.0], ["日", 0.0], ["ab", 0.0]]}

    assert Vocabulary(model).needed() == {"a", "日"}


@pytest.mark.parametrize("ending", ["", "</w>"])
def test_each_byte_stays_at_the_end_of_a_word_too(ending: str) -> None:
    letters = sorted(byte_letters())
    tokens = dict.fromkeys([*letters, *(each + ending for each in letters), "ab"])
    model = {
        "type": "BPE",
        "end_of_word_suffix": ending or None,
        "vocab": {token: number for number, token in enumerate(tokens)},
        "merges": [["a", "b"]],
    }

    assert len(Vocabulary(model).needed()) == (512 if ending else 256)
