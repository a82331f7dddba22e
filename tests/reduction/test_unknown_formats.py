"""What is of no known format is left when its trials gain next to nothing."""

import struct
import zlib
from collections.abc import Callable

import pytest
from odd_oracles import fails_if

from whet.core.verdict import Verdict
from whet.reduction.payload_kinds import is_unknown, kinds_of
from whet.reduction.problem import Reduced
from whet.reduction.reducer import FRUITLESS_TRIALS, reducer_of
from whet.reduction.statistics import Reduction
from whet.search.proposal import run_search

RECORDS = b"".join(struct.pack("<HHd", number, 7, number / 3) for number in range(1000))
SUMMED = b"\x7fOWN\0\0" + struct.pack("<II", len(RECORDS), zlib.crc32(RECORDS)) + RECORDS


def is_whole(payload: bytes) -> bool:
    if len(payload) < 14 or payload[:6] != SUMMED[:6]:
        return False
    size, check = struct.unpack_from("<II", payload, 6)
    return bool(len(payload) == 14 + size and zlib.crc32(payload[14:]) == check)


def searched(payload: bytes, holds: Callable[[bytes], bool]) -> tuple[Reduction, int]:
    judge = fails_if(holds)
    calls = 0

    def test(candidate: Reduced) -> Verdict:
        nonlocal calls
        calls += 1
        return judge(candidate.data)

    reducer = reducer_of(payload)
    reducer.gives_up = True
    return run_search(reducer.reduce(), test), calls


def test_a_file_with_a_sum_in_it_is_left_after_some_trials() -> None:
    reduction, calls = searched(SUMMED, is_whole)

    assert reduction.payload == SUMMED
    assert not reduction.is_minimal
    assert calls == FRUITLESS_TRIALS


def test_what_gains_goes_on_to_its_end() -> None:
    reduction, _ = searched(SUMMED, lambda it: RECORDS[6000:6012] in it)

    assert reduction.payload == RECORDS[6000:6012]
    assert reduction.is_minimal


def test_text_and_known_formats_go_on_to_their_end() -> None:
    lines = b"".join(b"line %d\n" % number for number in range(600))
    reduction, calls = searched(lines, lambda it: it.count(b"\n") >= 600)

    assert reduction.is_minimal
    assert calls > FRUITLESS_TRIALS


@pytest.mark.parametrize(
    ("payload", "unknown"),
    [
        (SUMMED, True),
        (b"\xff\xd9\0\1\2" * 40, True),
        (b"", False),
        ("caf\u00e9 \u4e00\n".encode("latin-1", "replace") * 9, False),
        (b"one \0 in a text of many lines\n" * 9 + b"x" * 4000, False),
        (b'{"a": 1}', False),
    ],
)
def test_an_unknown_format_is_neither_text_nor_known(payload: bytes, *, unknown: bool) -> None:
    assert is_unknown(payload, kinds_of(payload)) is unknown
