"""Texts that are not UTF-8, marks and line ends: kept where they matter, gone where not."""

import csv
import io
import json
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_oracles import Judge, fails_if, odd_judges, shrunk

from whet.core.verdict import Verdict
from whet.reduction.formats.text.encoded import ENCODED
from whet.reduction.payload_kinds import kinds_of
from whet.testing.reduction import check_pass

DOCUMENT = {"users": [{"name": f"Zoë {n}", "age": n} for n in range(50)]}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_what_is_read_as_utf_16_is_reduced_as_the_json_it_is(encoding: str) -> None:
    payload = json.dumps(DOCUMENT, ensure_ascii=False).encode(encoding)

    def is_wrong(payload: bytes) -> bool:
        return any(each["age"] == 33 for each in json.loads(payload.decode(encoding))["users"])

    done = shrunk(payload, fails_if(is_wrong), name="users.json")

    assert done.reduction.payload == '{"users":[{"age":33}]}'.encode(encoding)
    assert done.calls < 200


def test_what_need_not_be_utf_16_becomes_utf_8() -> None:
    payload = json.dumps(DOCUMENT, ensure_ascii=False).encode("utf-16")

    done = shrunk(payload, fails_if(lambda it: 33 in [u["age"] for u in json.loads(it)["users"]]))

    assert done.reduction.payload == b'{"users":[{"age":33}]}'
    assert done.calls < 200


@pytest.mark.parametrize(
    "payload", [b"", b"\xff", b"\xff\xfe\x00", b"\xff\xfe\x00\xd8", b"\xef\xbb\xbfa"]
)
def test_what_breaks_its_encoding_is_plain_bytes(payload: bytes) -> None:
    assert kinds_of(payload)[0].name != "encoded"
    assert shrunk(payload, fails_if(lambda _: True)).reduction.payload == b""


@given(st.text(max_size=8), st.sampled_from(["utf-16", "utf-32"]), odd_judges())
def test_the_result_fails_and_stays(text: str, encoding: str, judge: Judge) -> None:
    try:
        payload = text.encode(encoding)
    except UnicodeEncodeError:
        return
    smallest = shrunk(payload, judge).reduction.payload

    assert smallest == payload or judge(smallest) is Verdict.BAD
    assert shrunk(smallest, judge).reduction.payload == smallest


def test_the_pass_keeps_its_promises() -> None:
    examples = [DOCUMENT["users"].__repr__().encode("utf-16"), b"", b"\xff\xfe", b"plain"]
    for each in ENCODED.passes:
        check_pass(each, examples, order=ENCODED.order)


def test_a_latin_1_document_is_cut_where_it_lies() -> None:
    rows = "".join(f"<r n='{n}'>caf\xe9 {n}</r>\r\n" for n in range(100))
    payload = f"<?xml version='1.0' encoding='iso-8859-1'?>\r\n<t>{rows}</t>".encode("latin-1")

    def is_wrong(payload: bytes) -> bool:
        try:
            return any("\xe9 77" in (each.text or "") for each in ET.fromstring(payload).iter())
        except (ET.ParseError, LookupError) as error:
            raise ValueError from error

    done = shrunk(payload, fails_if(is_wrong), name="x.xml")

    assert done.reduction.payload.decode("latin-1") == (
        "<?xml version='' encoding='iso8859'?><a>\xe9 77</a>"
    )


def test_a_mark_and_line_ends_stay_if_they_matter() -> None:
    payload = b"\xef\xbb\xbf" + b"".join(b"%d,x\r\n" % n for n in range(100))

    def is_wrong(payload: bytes) -> bool:
        text = payload.decode()
        rows = list(csv.reader(io.StringIO(text, newline="")))
        return text.startswith("\ufeff") and "\r\n" in text and ["50", "x"] in rows

    done = shrunk(payload, fails_if(is_wrong), name="x.csv")

    assert done.reduction.payload == b"\xef\xbb\xbf\r\n50,x"
