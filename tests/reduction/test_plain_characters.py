"""Plainer characters of the same number, and how few trials they may take."""

import json
import subprocess
import sys
from collections.abc import Callable

import pytest
from odd_oracles import fails_if, shrunk

LETTERS = ("put a for letters", "put b for names")


def is_plugin_off(payload: bytes) -> bool:
    found = json.loads(payload)
    return found["plugin"] == 0 and found["enabled"] is False


def test_names_that_are_looked_up_are_asked_for_by_halves_and_not_by_letters() -> None:
    payload = b'{"plugin":0,"enabled":false}'

    done = shrunk(payload, fails_if(is_plugin_off))

    assert done.reduction.payload == payload
    assert (
        sum(each.by_pass in LETTERS for each, _ in done.told) <= 13
    )  # of 18 letters in three names
    assert done.calls <= 90


def is_name(payload: bytes) -> bool:
    return payload[:1].isalpha() and payload[2:].isalpha()


@pytest.mark.parametrize(
    ("payload", "holds", "expected"),
    [
        (b"xqwertzuiop", lambda it: it[:1] == b"x" and len(it) == 11, b"xaaaaaaaaaa"),
        (b"qwertzuiopx", lambda it: it[-1:] == b"x" and len(it) == 11, b"aaaaaaaaaax"),
        (b"xy", lambda it: len(set(it)) == 2 and it.isalpha(), b"ab"),
        (b"y=z", lambda it: it[1:2] == b"=" and it[:1] != it[2:] and is_name(it), b"a=b"),
        (b"Q=R", lambda it: it[1:2] == b"=" and is_name(it), b"a=a"),
    ],
)
def test_letters_that_do_not_matter_read_a_and_b(
    payload: bytes, holds: Callable[[bytes], bool], expected: bytes
) -> None:
    assert shrunk(payload, fails_if(holds)).reduction.payload == expected


def test_a_payload_of_text_imports_no_library_of_arrays_or_tables() -> None:
    code = (
        "import sys\nfrom whet.reduction.payload_kinds import kinds_of\n"
        "kinds_of(b'<p>text</p>' * 9, name='x.html')\n"
        "print([each for each in ('numpy', 'pyarrow', 'h5py', 'openpyxl') if each in sys.modules])"
    )

    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
