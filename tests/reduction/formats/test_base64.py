"""Base64 in a text is reduced as what it says, and encoded again as it was."""

import base64
import csv
import gzip
import io
import json
import plistlib
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_oracles import Judge, fails_if, odd_judges, shrunk

from whet.core.verdict import Verdict
from whet.reduction.formats.documents.base64_text import base64_in_text

ROWS = {"rows": [{"id": n, "v": n * 3 if n != 40 else None} for n in range(100)]}


def has_nothing(text: bytes) -> bool:
    return any(row["v"] is None for row in json.loads(text)["rows"])


def test_json_in_base64_in_json() -> None:
    body = base64.b64encode(json.dumps(ROWS).encode()).decode()
    payload = json.dumps({"kind": "blob", "headers": {"a": 1}, "body": body}).encode()

    def holds(it: bytes) -> bool:
        return has_nothing(base64.b64decode(json.loads(it)["body"], validate=True))

    done = shrunk(payload, fails_if(holds), name="a.json")

    smallest = base64.b64encode(b'{"rows":[{"v":null}]}').decode()
    assert done.reduction.payload == b'{"body":"%b"}' % smallest.encode()
    assert done.calls <= 620


def test_a_packed_text_in_base64_in_a_cell_of_a_table() -> None:
    def packed(text: str) -> str:
        return base64.b64encode(gzip.compress(f"{text}\n".encode() * 20, mtime=0)).decode()

    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(["id", "file"])
    writer.writerows([n, packed("needle" if n == 12 else f"line {n}")] for n in range(20))

    def says_needle(cell: str) -> bool:
        try:
            return b"needle" in gzip.decompress(base64.b64decode(cell, validate=True))
        except (OSError, EOFError, zlib.error):
            return False

    def holds(it: bytes) -> bool:
        rows = csv.DictReader(io.StringIO(it.decode(), newline=""))
        return any(says_needle(row["file"]) for row in rows)

    done = shrunk(table.getvalue().encode(), fails_if(holds), name="a.csv")

    head, _, cell = done.reduction.payload.partition(b"\n")
    assert head == b"file"
    assert gzip.decompress(base64.b64decode(cell)).strip() == b"needle"
    assert done.calls <= 420


def test_a_token_of_the_web_stays_one_without_padding() -> None:
    def part(value: object) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    head, body = (
        {"alg": "none", "typ": "JWT"},
        {"sub": "someone", "name": "Zoë ~?~?", "admin": True},
    )
    payload = b"GET /\nAuthorization: Bearer %b.%b.\n" % (part(head), part(body))

    def holds(it: bytes) -> bool:
        _, _, token = it.decode().partition("Bearer ")
        middle = token.split(".")[1]
        told = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
        return isinstance(told, dict) and told["admin"] is True

    done = shrunk(payload, fails_if(holds))

    smallest = base64.urlsafe_b64encode(b'{"admin":true}').rstrip(b"=")
    assert done.reduction.payload == b"Bearer ." + smallest


def test_lines_of_one_width_are_one_text() -> None:
    text = "a long text that is told in a property list, and one needle in it\n" * 4
    payload = plistlib.dumps({"data": text.encode()})

    (part,) = base64_in_text(payload)

    assert part.content == text.encode()
    assert part.put(part.content) == payload
    shorter = part.put(b"needle " * 20)
    assert shorter is not None
    assert plistlib.loads(shorter)["data"] == b"needle " * 20


@pytest.mark.parametrize(
    "text",
    [
        b"CounterClockwiseContourIntegral",
        b"d131dd02c5e6eec4693d9a0698aff95c2fcab58712467eab4004583eb8fb7f89",
        b"/usr/lib/python3/dist-packages/configuration/elements",
        b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        b"some_name_of_a_function_with_many_parts",
    ],
)
def test_words_paths_and_digests_are_no_base64(text: bytes) -> None:
    assert base64_in_text(b"x = %b\n" % text) == []


@given(st.binary(max_size=60), st.sampled_from([b"", b"say: ", b"\xff"]), odd_judges())
def test_the_result_fails_and_stays(content: bytes, before: bytes, judge: Judge) -> None:
    payload = before + base64.b64encode(content)
    for part in base64_in_text(payload):
        assert part.put(part.content) == payload

    smallest = shrunk(payload, judge).reduction.payload

    assert smallest == payload or judge(smallest) is Verdict.BAD
    assert shrunk(smallest, judge).reduction.payload == smallest
