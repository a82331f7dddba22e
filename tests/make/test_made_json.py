"""JSON from nothing: what a schema allows, what another document has, what breaks programs."""

import json
import math
import re
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import whet
from whet.core.errors import BadUsage
from whet.make.documents.json_values import EDGES, JSON_FILLS
from whet.make.documents.patterns import text_matching

ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 5, "maximum": 9},
        "name": {"type": "string", "minLength": 3, "maxLength": 5},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
        "when": {"type": "string", "format": "date-time"},
        "price": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "state": {"enum": ["open", "closed"]},
        "ok": {"type": "boolean"},
    },
    "required": ["id", "name"],
}


def test_a_schema_with_many_words() -> None:
    assert whet.make.json(ORDER) == {
        "id": 5,
        "name": "name2",
        "tags": ["tags3", "tags4"],
        "when": "2024-02-29T12:34:56Z",
        "price": 0.5,
        "state": "closed",
        "ok": True,
    }


@pytest.mark.parametrize("fill", JSON_FILLS)
def test_each_fill_stays_within_the_schema(fill: str) -> None:
    made = whet.make.json(ORDER, fill=fill)

    assert 5 <= made["id"] <= 9
    assert 3 <= len(made["name"]) <= 5
    assert 1 <= len(made["tags"]) <= 3
    assert 0 < made["price"] < 1
    assert made["state"] in {"open", "closed"}


@given(st.integers(-50, 50), st.integers(0, 50), st.integers(1, 9), st.sampled_from(JSON_FILLS))
def test_a_number_keeps_its_bounds_and_its_step(low: int, span: int, step: int, fill: str) -> None:
    schema = {"type": "integer", "minimum": low, "maximum": low + span, "multipleOf": step}
    is_there = any(number % step == 0 for number in range(low, low + span + 1))
    if not is_there:
        with pytest.raises(BadUsage, match="no number lies between its bounds"):
            whet.make.json(schema, fill=fill)
        return

    for made in whet.make.json({"type": "array", "items": schema, "minItems": 9}, fill=fill):
        assert low <= made <= low + span
        assert made % step == 0


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from(JSON_FILLS))
def test_a_text_keeps_its_length(least: int, more: int, fill: str) -> None:
    schema = {"type": "string", "minLength": least, "maxLength": least + more}
    for made in whet.make.json({"type": "array", "items": schema, "minItems": 9}, fill=fill):
        assert least <= len(made) <= least + more


@pytest.mark.parametrize(
    "pattern",
    ["^[A-Z]{2}-[0-9]{3,5}$", "(foo|bar)+", r"\d\w\s?", "[^a-c]x*", "a.c", "", r"^\S+@\S+\.com$",
     "[^\\d]{4}", "(?:ab)*?c", "x{3}"],
)  # fmt: skip
def test_a_pattern_has_a_text(pattern: str) -> None:
    for least in (0, 3):
        made = text_matching(pattern, least)
        assert made is not None
        assert re.search(pattern, made)


def test_references_choices_and_joined_schemas_are_followed() -> None:
    schema = {
        "$defs": {"positive": {"type": "integer", "minimum": 1}, "a/b": {"const": "there"}},
        "allOf": [
            {"properties": {"a": {"$ref": "#/$defs/positive"}}, "required": ["a"]},
            {"properties": {"b": {"anyOf": [{"$ref": "#/$defs/a~1b"}, {"type": "null"}]}}},
        ],
        "minProperties": 3,
    }

    assert whet.make.json(schema) == {"a": 1, "b": "there", "more1": 2}


def test_a_schema_that_contains_itself_ends() -> None:
    inner = {"type": "object", "properties": {name: {"$ref": "#"} for name in "abcdefghij"}}

    assert len(json.dumps(whet.make.json(inner))) < 100_000


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"properties": {"a": {"type": "integer", "minimum": 5, "maximum": 3}}}, r"`\$\.a`.*5 and 3"),
        ({"type": "string", "minLength": 5, "maxLength": 3}, "`minLength` 5 is above"),
        ({"type": "array", "minItems": 5, "maxItems": 3}, "`minItems` 5 is above"),
        ({"items": {"enum": []}}, r"`\$\[0\]`: `enum` is empty"),
        ({"$ref": "#/$defs/gone"}, "isn't there"),
        ({"$ref": "other.json"}, "another document"),
        ({"$ref": "#"}, "refers to itself"),
        ({"properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "without an end"),
        (False, "allows nothing"),
        ({"type": "nothing"}, "`nothing` is no type of JSON"),
        ({"type": "string", "pattern": "(?=a)b"}, "finds no text for the pattern"),
        ({"type": "array", "uniqueItems": True, "minItems": 3, "items": {"type": "boolean"}},
         "can't all be different"),
    ],
)  # fmt: skip
def test_a_schema_that_allows_nothing_is_refused_with_its_place(schema: object, why: str) -> None:
    with pytest.raises(BadUsage, match=why):
        whet.make.json(schema)


BOUNDS = st.integers() | st.floats(allow_nan=False) | st.integers(10**300, 10**320) | st.none()


@given(st.sampled_from(["integer", "number"]), st.sampled_from(JSON_FILLS), BOUNDS, BOUNDS, BOUNDS)
def test_a_number_lies_between_bounds_of_any_size_or_is_refused(
    kind: str, fill: str, low: float | None, high: float | None, step: float | None
) -> None:
    schema: dict[str, object] = {"type": kind, "exclusiveMinimum": low, "maximum": high}
    if step is not None and step > 0:
        schema["multipleOf"] = step
    with suppress(BadUsage):  # which bounds leave no number, the test above says
        made = Fraction(whet.make.json(schema, fill=fill))
        assert_between(made, schema)


def assert_between(made: Fraction, schema: dict[str, Any]) -> None:
    low, high, step = (
        None if limit in {None, math.inf, -math.inf} else Fraction(repr(limit))
        for limit in map(schema.get, ("exclusiveMinimum", "maximum", "multipleOf"))
    )
    is_rounded = schema["type"] == "number" and abs(made) < 2**1000
    rounding = abs(made) / 2**50 if is_rounded else 0
    assert low is None or made + rounding > low
    assert high is None or made - rounding <= high
    assert step is None or schema["type"] == "number" or made % step == 0


@pytest.mark.parametrize(
    "schema",
    [
        {"minItems": 10**10},
        {"minProperties": 2**70},
        {"type": "string", "minLength": 10**10},
        {"minItems": 9999, "items": {"minItems": 9999}},
        {"minItems": 999, "items": {"type": "string", "minLength": 9999}},
        {"type": "string", "pattern": "(((a{99}){99}){99}){99}"},
        {"minimum": 10**4000},
    ],
)
def test_a_schema_that_asks_for_very_much_is_refused_in_a_sentence(schema: object) -> None:
    with pytest.raises(BadUsage, match="whet can't make what the schema asks for"):
        whet.make.json(schema)


documents: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(documents.filter(lambda document: document is not None), st.sampled_from(JSON_FILLS))
def test_a_document_like_another_has_its_keys_and_types(document: object, fill: str) -> None:
    made = whet.make.json(like=document, items=1, fill=fill)

    assert shape(made) == shape(document)


def shape(value: object) -> object:
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value[:1]]
    return (
        "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value)
    )


def test_the_lists_of_a_document_have_the_length_that_one_asks_for() -> None:
    assert whet.make.json(like={"rows": [{"id": 7}]}, items=3) == {
        "rows": [{"id": 1}, {"id": 2}, {"id": 3}]
    }


def test_the_edges_have_equal_keys_and_more_than_floats() -> None:
    names: list[str] = []

    def kept(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names.extend(name for name, _ in pairs)
        return dict(pairs)

    json.loads(EDGES, object_pairs_hook=kept)

    assert names.count("twice") == 2
    assert {"", "__proto__"} < {*names}
    assert whet.make.json(fill="edge")["lone surrogate"] == "\ud800"


def test_an_unknown_fill_is_answered_with_the_closest() -> None:
    with pytest.raises(BadUsage, match="`cuont` is not a fill of JSON"):
        whet.make.json(fill="cuont")


@pytest.mark.parametrize(
    "pattern",
    ["^" + "d+" * 500 + "$", "^(a+)+$b", "(a*)*$c", "((a+)+)+$d", "^(?:(?:x?)*)*$y"],
)
def test_a_pattern_that_takes_forever_to_fail_is_answered(pattern: str) -> None:
    made = text_matching(pattern, 3)
    assert made is None or len(made) >= 3


@pytest.mark.parametrize(
    ("pattern", "least"),
    [(r"^([\w-]+\.)+[a-z]{2,}$", 40), (r"^(a+b?)*$", 60), (r"^[^\W\d]+(?: [^\W\d]+)*$", 50), (r"\bword\b", 4)],
)  # fmt: skip
def test_a_pattern_with_a_repeat_in_another_has_a_long_text(pattern: str, least: int) -> None:
    made = text_matching(pattern, least)
    assert made is not None
    assert len(made) >= least
    assert re.search(pattern, made)
