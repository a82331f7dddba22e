"""Two parts of a payload that say the same are changed in step: neither can be changed alone."""

import csv
import datetime as dt
import io
import json
import re
from typing import Any

import pytest
import yaml
from odd_oracles import fails_if, shrunk


def as_list(value: Any) -> list[Any]:
    found: list[Any] = value
    return found


def compared(schema: dict[str, Any], instance: Any) -> bool:
    """Walk both; whether a text is compared with a number, as no program would want."""
    if "minimum" in schema:
        return isinstance(instance, str) and isinstance(schema["minimum"], int)
    if "items" in schema and isinstance(instance, list):
        return any(compared(schema["items"], each) for each in as_list(instance))
    parts = schema.get("properties", {})
    return any(compared(parts[key], instance[key]) for key in schema.get("required", parts))


def of_schema(payload: bytes) -> bool:
    document = json.loads(payload)
    return compared(document["schema"], document["instance"])


def object_of(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": [*properties]}


PRICE = {"type": "number", "minimum": 0}
NAMED = {
    "schema": object_of(order=object_of(customer=object_of(name=PRICE), id={"type": "string"})),
    "instance": {"order": {"customer": {"name": "12"}, "id": "x"}},
}
LISTED = {
    "schema": {"type": "array", "items": {"type": "array", "items": {"items": PRICE}}},
    "instance": [[["7", "8"], [1]], []],
}
MIXED = {
    "title": "orders",
    "schema": object_of(
        orders={"type": "array", "items": object_of(lines={"items": object_of(price=PRICE)})}
    ),
    "instance": {"orders": [{"lines": [{"price": "12", "count": 3}]}]},
}
SMALLEST = b'{"schema":{"minimum":0},"instance":""}'


@pytest.mark.parametrize(("document", "most_calls"), [(NAMED, 900), (LISTED, 600), (MIXED, 1_100)])
def test_both_sides_are_hoisted_together(document: object, most_calls: int) -> None:
    done = shrunk(json.dumps(document, indent=1).encode(), fails_if(of_schema), name="x.json")

    assert done.reduction.payload == SMALLEST
    assert done.calls <= most_calls


def test_both_sides_of_a_yaml_document_are_hoisted_together() -> None:
    def holds(it: bytes) -> bool:
        try:
            document = yaml.safe_load(it)
        except yaml.YAMLError as error:
            raise ValueError from error
        return compared(document["schema"], document["instance"])

    done = shrunk(yaml.safe_dump(NAMED).encode(), fails_if(holds), name="x.yaml")

    found = yaml.safe_load(done.reduction.payload)
    assert [*found["schema"]] == ["minimum"]
    assert isinstance(found["instance"], str)
    assert done.calls <= 900


def test_what_three_parts_know_by_one_name_is_deleted_together() -> None:
    """A field is declared, asked for and there; each of the three is held against the others."""
    document = {"fields": ["id", "price"], "types": {"id": 0, "price": 1}, "row": [7, 8]}

    def holds(it: bytes) -> bool:
        found = json.loads(it)
        names = found["fields"]
        return "price" in names and sorted(names) == sorted(found["types"]) and "row" in found

    done = shrunk(json.dumps(document).encode(), fails_if(holds), name="x.json")

    assert json.loads(done.reduction.payload)["fields"] == ["price"]
    assert [*json.loads(done.reduction.payload)["types"]] == ["price"]


def test_alike_numbers_of_a_text_change_together() -> None:
    def holds(it: bytes) -> bool:
        numbers = re.findall(rb"\b[0-9]+\b", it)
        calls, ends = numbers[:2], numbers[2:]
        return len(calls) == len(ends) == 2 and calls == ends and len(set(calls)) == 2

    text = b"call 4711\ncall 386\nend 4711\nend 386\n"
    done = shrunk(text, fails_if(holds))

    assert {*re.findall(rb"\b[0-9]+\b", done.reduction.payload)} == {b"0", b"1"}


def rows_of(payload: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(payload.decode(), newline="")))


TABLE = b"""day,shop,amount
2024-01-05,Oslo north,12.50
2024-01-06,Bern,7
2024-01-05,Oslo north,3
2024-01-07,Rome,1
"""


def comes_back_to_a_day(payload: bytes) -> bool:
    head, *rows = rows_of(payload)
    days = [row[head.index("day")] for row in rows]
    for day in filter(None, days):
        dt.date.fromisoformat(day)
    amounts = [float(row[head.index("amount")]) for row in rows]
    return days[0] == days[2] != days[1] and min(amounts) >= 0


def test_alike_cells_are_emptied_together() -> None:
    done = shrunk(TABLE, fails_if(comes_back_to_a_day), name="x.csv")

    assert done.reduction.payload == b"day,amount\n,0\n1000-01-01,0\n,0"
    assert done.calls <= 400


def has_three_sums(payload: bytes) -> bool:
    """Three rows, each of which has its own sum: no cell can be changed alone."""
    head, *rows = rows_of(payload)
    good = [row for row in rows if len(row) == 2 and sum(map(ord, row[0])) == int(row[1])]
    return head == ["text", "sum"] and len(good) == len(rows) >= 3


def test_one_row_is_copied_over_another() -> None:
    texts = ("abcdefghijkl", "ab", "very long")
    lines = ["text,sum", *(f"{text},{sum(map(ord, text))}" for text in texts)]
    table = "\n".join(lines).encode()
    done = shrunk(table, fails_if(has_three_sums), name="x.csv")

    assert done.reduction.payload == b"text,sum\nab,195\nab,195\nab,195"
    assert done.calls <= 400
