"""What a reduction says it has proved: of which pieces no single one can go."""

import json

import pytest
from odd_oracles import Judge, fails_if, shrunk

from whet.core.verdict import Verdict
from whet.reduction.formats.documents.json_tree import JSON
from whet.reduction.formats.tables.csv_table import CSV
from whet.reduction.formats.text.pieces import BYTES, LINES, TOKENS

TABLE = b"id,name,city\n1,ann,Oslo\n2,bob,Rome\n3,cid,Oslo\n4,dan,Bern\n"


def has_two_cities(payload: bytes) -> bool:
    rows = [line.split(b",") for line in payload.splitlines()]
    place = rows[0].index(b"city")
    return len({(row[place], row[place - 1]) for row in rows[1:]}) > 1 and place > 0


def has_depth(payload: bytes) -> bool:
    return isinstance(json.loads(payload)["a"]["b"], list)


def without_each(payload: bytes, unit: str) -> list[bytes]:
    """The payload without each single piece, cut by hand."""
    if unit == "rows":
        table = CSV.parse(payload)
        assert table is not None
        return [payload[: row.start] + payload[row.end :] for row in table.rows]
    pieces = {"lines": LINES, "tokens": TOKENS, "bytes": BYTES}[unit].parse(payload)
    assert pieces is not None
    return [
        payload[:start] + payload[end:]
        for start, end in zip(pieces.bounds, pieces.bounds[1:], strict=False)
    ]


@pytest.mark.parametrize(
    ("payload", "judge", "name", "units"),
    [
        (TABLE, fails_if(has_two_cities), "x.csv", {"rows", "lines", "tokens", "bytes"}),
        (b'{"a": {"b": [1, 2], "c": 3}}', fails_if(has_depth), "x.json", {"tokens", "bytes"}),
        (b"one\ntwo\nthree\n", fails_if(lambda it: b"w" in it), "x.txt", {"lines", "bytes"}),
    ],
)
def test_none_of_the_pieces_that_are_named_can_go_alone(
    payload: bytes, judge: Judge, name: str, units: set[str]
) -> None:
    done = shrunk(payload, judge, name=name).reduction

    assert units <= set(done.minimal_over)
    for unit in units:
        for smaller in without_each(done.payload, unit):
            assert judge(smaller) is not Verdict.BAD, (unit, smaller)


def test_a_kind_that_the_result_is_none_of_is_not_named() -> None:
    done = shrunk(TABLE, fails_if(lambda it: b"B" in it), name="x.csv").reduction

    assert done.payload == b"B"
    assert {"rows", "columns", "cells"}.isdisjoint(done.minimal_over)
    assert "bytes" in done.minimal_over


def test_a_search_that_was_cut_short_has_proved_nothing() -> None:
    from whet.reduction.reducer import reducer_of

    reducer = reducer_of(TABLE, name="x.csv")
    search = reducer.reduce()
    next(search)

    assert reducer.so_far().minimal_over == ()


def test_json_is_minimal_over_its_values_where_it_still_has_some() -> None:
    done = shrunk(b'{"a": {"b": [1, 2], "c": 3}}', fails_if(has_depth), name="x.json").reduction

    assert JSON.parse(done.payload) is not None
    assert "values" in done.minimal_over
