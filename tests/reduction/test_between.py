"""What lies between two values: the ends are the values, and what lies between has parts of both."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.reduction.between import MISSING, Between
from whet.reduction.commands.argument_changes import as_options, as_words
from whet.reduction.files_between import FilesBetween, FileVersion
from whet.reduction.line_changes import text_between

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "b", ""]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(one: object, other: object) -> bool:
    """Whether two values are the same but for the order of keys."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@given(VALUES, VALUES)
def test_without_differences_it_is_the_first_and_with_all_the_second(
    before: object, after: object
) -> None:
    between = Between(before, after)

    assert same(between.made(()), before)
    assert same(between.made(range(len(between.leaves))), after)
    assert bool(between.leaves) is not same(before, after)
    assert len(set(between.paths)) == len(between.leaves)


@given(VALUES, VALUES, st.data())
def test_what_lies_between_is_made_of_the_values_of_both(
    before: object, after: object, data: st.DataObject
) -> None:
    between = Between(before, after)
    some = (
        st.sets(st.sampled_from(range(len(between.leaves)))) if between.leaves else st.just(set())
    )

    made = between.made(data.draw(some))

    assert scalars(made) <= scalars(before) | scalars(after)


def scalars(value: object) -> set[str]:
    if isinstance(value, dict):
        return {repr(key) for key in value}.union(*map(scalars, value.values()))
    return set().union(*map(scalars, value)) if isinstance(value, list) else {repr(value)}


def test_keys_come_in_the_order_of_the_first_and_new_ones_behind_those_they_follow() -> None:
    between = Between({"a": 1, "c": 2, "d": 3}, {"n": 0, "a": 1, "b": 5, "d": 3, "c": 2})

    made = between.made((0, 1))

    assert isinstance(made, dict)
    assert list(made) == ["n", "a", "b", "c", "d"]


def test_an_item_put_into_a_list_is_one_difference() -> None:
    layers = [{"size": 3}, {"size": 4}, {"size": 5}]
    between = Between({"layers": layers}, {"layers": [layers[0], {"size": 9}, *layers[1:]]})

    (leaf,) = between.leaves
    assert (leaf.path, leaf.before is MISSING, leaf.after) == (("layers", 1, "size"), True, 9)
    assert between.made((0,)) == {"layers": [{"size": 3}, {"size": 9}, {"size": 4}, {"size": 5}]}


def test_ten_thousand_settings_are_compared_and_made_at_once() -> None:
    before = {f"s{n}": {f"k{m}": n * m for m in range(100)} for n in range(100)}
    after = {
        name: {key: -value - 1 for key, value in each.items()} for name, each in before.items()
    }

    between = Between(before, after)

    assert len(between.leaves) == 10_000
    assert between.made(range(10_000)) == after


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\r\n", b"d"]), max_size=8).map(b"".join)


@given(LINES, LINES)
def test_texts_between_two_texts_begin_and_end_with_them(before: bytes, after: bytes) -> None:
    between = text_between(before, after)

    assert between.made(()) == before
    assert between.made(range(len(between.hunks))) == after


FILES = st.dictionaries(
    st.sampled_from(["a", "b/c", "b/d", "e.bin"]),
    st.builds(
        FileVersion,
        content=LINES | st.just(b"\0") | st.none(),
        form=st.sampled_from(["", "mode 755"]),
    ),
)


@given(FILES, FILES)
def test_files_between_two_folders_begin_and_end_with_them(
    before: dict[str, FileVersion], after: dict[str, FileVersion]
) -> None:
    between = FilesBetween(before, after)
    everything = range(len(between.changes))

    for made, wanted in ((between.made(()), before), (between.made(everything), after)):
        assert {path: made.get(path, wanted.get(path)) for path in {*before, *after}} == {
            path: wanted.get(path) for path in {*before, *after}
        }
    assert len(between.paths) == len(between.changes)


WORDS = st.lists(
    st.sampled_from(["--lr", "0.1", "-v", "--lr=0.1", "--lr=", "-1", "--", "x y", "", "--files"]),
    max_size=8,
).map(tuple)


@given(WORDS)
def test_arguments_are_the_same_words_again(words: tuple[str, ...]) -> None:
    assert as_words(as_options(words)) == words


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (("in", "--lr", "1", "-v"), {"": ["in"], "--lr": ["1"], "-v": []}),
        (("--lr=1", "x"), {"": [], "--lr=": ["1", "x"]}),
        (("-x", "-1"), {"": [], "-x": ["-1"]}),
    ],
)
def test_what_follows_an_option_belongs_to_it(
    words: tuple[str, ...], options: dict[str, list[str]]
) -> None:
    assert as_options(words) == options
