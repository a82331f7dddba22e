"""A data file without one of its records is what it was but for that record."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evidence.clues.records_in import records_in, without

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(
    st.lists(VALUES, min_size=4, max_size=12),
    st.sampled_from([None, 1]),
    st.sampled_from(["top", "inside"]),
)
def test_a_json_list_without_an_item_is_the_list_without_it(
    items: list[object], indent: int | None, place: str
) -> None:
    text = json.dumps({"rows": items, "n": 1} if place == "inside" else items, indent=indent)
    found = records_in("data.json", text)
    if len(found) != len(items):  # a longer list lies inside of an item
        return
    for number, record in enumerate(found):
        left = json.loads(without(text, record))
        assert (left["rows"] if place == "inside" else left) == items[:number] + items[number + 1 :]


@given(st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=9), min_size=1, max_size=9))  # fmt: skip
def test_lines_without_one_are_the_others(lines: list[str]) -> None:
    text = "".join(f"- {line}\n" for line in lines)
    found = records_in("notes.txt", text)
    assert [each.line for each in found] == list(range(1, len(lines) + 1))
    for number, record in enumerate(found):
        assert without(text, record).splitlines() == text.splitlines()[:number] + text.splitlines()[number + 1 :]  # fmt: skip


def test_the_head_of_a_table_is_no_record() -> None:
    text = "name,age\nada,3\nben,4\n"
    found = records_in("people.csv", text)
    assert [(each.line, each.text) for each in found] == [(2, "ada,3"), (3, "ben,4")]
    left = list(csv.DictReader(io.StringIO(without(text, found[1]))))
    assert left == [{"name": "ada", "age": "3"}]


@pytest.mark.parametrize("text", ["", "\n\n", "{}", "[]", "[1", "{'a'"])
def test_what_holds_no_records_gives_none_and_no_error(text: str) -> None:
    assert len(records_in("x.json", text)) <= 1


def test_records_that_share_a_line_have_a_column_and_others_have_none() -> None:
    text = json.dumps([{"a": each} for each in range(3)])
    assert [
        text[each.column - 1 :].startswith(each.text) for each in records_in("a.json", text)
    ] == [True] * 3
    assert {each.column for each in records_in("a.json", text.replace(", {", ",\n{"))} == {0}


@pytest.mark.parametrize("name", ["local.toml", "Setup.CFG", "app.ini"])
def test_heads_of_sections_and_comments_are_no_settings(name: str) -> None:
    text = "# mine\n[text]\nlength = 3\n\n; old\n  [[more]]\nlower = yes\n"
    assert [(each.line, each.text) for each in records_in(name, text)] == [
        (3, "length = 3"), (7, "lower = yes"),
    ]  # fmt: skip
