"""Whoever wrote what whet reads: a reader answers, or refuses in a sentence."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import fuzz_reader
from fuzz import crash_of, example_of, run_turn
from fuzz_reader import Reader
from fuzz_readers import READERS

EXAMPLES = 20
LONG_SECONDS = 20.0
SLOW = ("payload: any", "git: ", "program: what it printed")
"""A few examples of these take as long as all of another one's."""
IN_C = ("hdf5", "arrow", "parquet", "torch")
"""What these read in C may get stuck on what is broken: only in a process of its own."""

numbers = st.integers(0, 2**40)


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("WHET_FUZZ_SCRATCH", str(tmp_path))
    fuzz_reader.scratch.cache_clear()
    yield
    fuzz_reader.scratch.cache_clear()


def _named(reader: Reader) -> str:
    return reader.name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "reader",
    [each for each in READERS if not each.name.startswith(SLOW) and not each.name.endswith(IN_C)],
    ids=_named,
)
def test_a_reader_of_what_somebody_else_wrote_answers_or_refuses_in_a_sentence(
    reader: Reader,
) -> None:
    seeds = reader.seeds()
    assert all(not crash_of(reader, each) for each in seeds)

    @settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
    @given(number=numbers)
    def all_examples(number: int) -> None:
        assert crash_of(reader, example_of(reader, seeds, number)) == "", f"--only {number}"

    all_examples()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reader", READERS, ids=_named)
def test_a_reader_stays_within_its_time_and_memory_for_many_examples(reader: Reader) -> None:
    tally, _ = run_turn(reader, int.from_bytes(os.urandom(4), "little"), LONG_SECONDS)

    assert tally.crashes == {}
