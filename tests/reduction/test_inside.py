"""What stands in a payload is reduced where it lies."""

import csv
import io
import json

from odd_oracles import fails_if, shrunk


def _inner(cell: object) -> object:
    return json.loads(cell)["a"]["b"] if isinstance(cell, str) else None


def test_a_json_text_in_a_cell_of_a_table_is_reduced_as_json() -> None:
    document = {"a": {"b": [7, 8], "c": "x" * 50}, "rest": [{"n": n} for n in range(30)]}
    table = io.StringIO()
    csv.writer(table).writerows(
        [[row, json.dumps(document if row == 3 else {"a": {"b": row}})] for row in range(8)]
    )

    def is_wrong(payload: bytes) -> bool:
        rows = [row for row in csv.reader(io.StringIO(payload.decode())) if row]
        return any(isinstance(_inner(row[1]), list) for row in rows)

    done = shrunk(table.getvalue().encode(), fails_if(is_wrong))

    (row,) = csv.reader(io.StringIO(done.reduction.payload.decode()))
    assert json.loads(row[1]) == {"a": {"b": []}}
    assert done.calls < 200


def test_json_in_a_string_in_a_string_of_json_is_reduced_as_json() -> None:
    inner = json.dumps({"a": {"b": [1]}, "c": list(range(20))})
    middle = json.dumps({"z": [1, 2], "text": inner})
    payload = json.dumps({"text": middle, "more": [1] * 20}, indent=1).encode()

    def is_wrong(payload: bytes) -> bool:
        outer = json.loads(json.loads(payload)["text"])
        return isinstance(json.loads(outer["text"])["a"]["b"], list)

    done = shrunk(payload, fails_if(is_wrong))

    outer = json.loads(done.reduction.payload)
    assert json.loads(json.loads(outer["text"])["text"]) == {"a": {"b": []}}
    assert done.calls < 450
