"""Whoever wrote what whet reads: a reader answers, or refuses in a sentence."""

import random
from dataclasses import replace

import pytest
from benchmarks.faults.fuzz import run_turn
from benchmarks.faults.reader import Reader
from benchmarks.faults.readers import READERS

SHORT_SECONDS, LONG_SECONDS = 0.04, 20.0
ANY = random.Random().randrange(2**40)
"""Where the long form begins; what it says makes an example again: `--reader NAME --only NUMBER`."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("reader", "first", "seconds"),
    [
        pytest.param(each, first, seconds, marks=marks, id=f"{each.name}, {seconds} s")
        for each in READERS
        for first, seconds, marks in (
            (0, SHORT_SECONDS, ()),
            (ANY, LONG_SECONDS, pytest.mark.long),
        )
    ],
)
def test_a_reader_of_what_somebody_else_wrote_answers_or_refuses_in_a_sentence(
    reader: Reader, first: int, seconds: float
) -> None:
    tally, _ = run_turn(reader, first, seconds)

    assert tally.crashes == {}
    assert tally.examples > 0


DIGITS = b"9" * 5000
CRASHED = {
    "an error number without end": ("program: what it printed", b"OSError: [Errno %s] no" % DIGITS),
    "a number of times without end": ("words: wishes", b"a.py:f after %s" % DIGITS),
    "a set of dictionaries": ("settings: `a.py`", b"a = {{}}"),
    "a tree as deep as Python reads": ("source: a module", b"a = " + b"-" * 900 + b"1"),
    "a long line of digits": ("program: what it printed", b"an error in line " + b"9" * 65_000),
    "a long line of spaces": ("program: what it printed", b" " * 65_000 + b"x"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "data"), CRASHED.values(), ids=CRASHED)
def test_what_crashed_a_reader_once_is_answered(name: str, data: bytes) -> None:
    (reader,) = (each for each in READERS if each.name == name)
    tally, _ = run_turn(replace(reader, read=lambda _: reader.read(data)), 0, 1e-6)

    assert tally.crashes == {}
