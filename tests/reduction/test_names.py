"""Names get short, and two of them may become one."""

import xml.etree.ElementTree as ET

import pytest
from odd_oracles import fails_if, shrunk

from whet.reduction.formats.text.names import renamed, shared_names


def test_two_things_that_need_each_other_become_one_that_needs_itself() -> None:
    payload = b"job-one needs job-two\njob-two needs job-three\njob-three needs job-one\n"

    def is_circle(text: bytes) -> bool:
        needs = dict(line.split(b" needs ") for line in text.splitlines() if b" needs " in line)
        place, seen = next(iter(needs), b""), set[bytes]()
        while place in needs and place not in seen:
            seen.add(place)
            place = needs[place]
        return bool(place) and place in seen

    assert shrunk(payload, fails_if(is_circle)).reduction.payload == b"a needs a"


def test_a_name_of_many_words_gets_short_wherever_it_stands() -> None:
    payload = b"[layers.3.bias]\nuse layers.3.bias\n"

    def holds(text: bytes) -> bool:
        header, _, rest = text.partition(b"]")
        return header[:1] == b"[" and len(header) > 1 and b"use " + header[1:] in rest

    assert shrunk(payload, fails_if(holds)).reduction.payload == b"[a]use a"


def test_the_capitals_of_a_word_go_together_or_stay() -> None:
    done = shrunk(b"SELECT 7", fails_if(lambda it: it.upper() == b"SELECT 7"))

    assert done.reduction.payload == b"select 7"
    done = shrunk(b"SELECT 7", fails_if(lambda it: it in (b"SELECT 7", b"SELECt 7")))
    assert done.reduction.payload == b"SELECT 7"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([b"plugin-1 x", b"needs plugin-1"], {b"plugin-1": b"a", b"plugin": b"b"}),
        ([b"alone", b"other"], {}),
        ([b'{"on": "x y"}', b'["x y"]'], {b'"x y"': b"0"}),
        ([b"a name", b"a name"], {b"name": b"b"}),
    ],
)
def test_names_that_texts_share(texts: list[bytes], expected: dict[bytes, bytes]) -> None:
    found = shared_names(texts)

    assert found.keys() == expected.keys()
    assert [short.isdigit() for short in found.values()] == [name[:1] == b'"' for name in found]
    assert all(len(short) == 1 for short in found.values())


def test_a_longer_name_goes_first_and_a_part_of_a_word_stays() -> None:
    names = {b"plug": b"a", b"plug-in": b"b"}

    assert renamed(b"plug plugin plug-in", names) == b"a plugin b"


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1"])
def test_a_tag_of_one_letter_is_the_first_one_in_any_encoding(encoding: str) -> None:
    rows = "".join(f'<r id="{number}">caf\xe9 {number}</r>' for number in range(30))
    payload = f'<?xml version="1.0" encoding="{encoding}"?><rows>{rows}</rows>'.encode(encoding)
    mark = "caf\xe9".encode(encoding)

    def holds(it: bytes) -> bool:
        return encoding.encode() in it and any(
            not (each.text or "").isascii() for each in ET.fromstring(it).iter()
        )

    assert holds(payload)
    assert mark in payload

    done = shrunk(payload, fails_if(holds), name="a.xml")

    assert done.reduction.payload.endswith(b"<a>" + "\xe9".encode(encoding) + b"</a>")
    assert done.calls <= 500
