"""Whoever wrote what whet reads: a reader answers, or refuses in a sentence."""

import random

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
