"""`whet investigate` names the line of the cause, where the symptom stands elsewhere."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.evidence.hidden_causes import SMALL_DISK, causes, investigate, is_named, small_disk

QUICK = ("segfault", "shadowed_module", "too_many_files")
ALL = causes()
WITHOUT_TORCH = sorted(ALL.keys() - {"stuck_rank"})


def heap_is_low() -> bool:
    """Whether half of an address is all of it, as for a Python that lies at a fixed place."""
    heap = re.search(r"^([0-9a-f]+)-.*\[heap\]$", Path("/proc/self/maps").read_text(), re.MULTILINE)
    return heap is not None and int(heap[1], 16) < 1 << 31


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_the_line_of_a_hidden_cause_is_named(name: str, tmp_path: Path) -> None:
    if name == "segfault" and heap_is_low():
        pytest.skip("a pointer that is cut in half is whole here: the heap of this Python lies low")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    answer = investigate(ALL[name], tmp_path, temporary, has_all_time=True)
    assert is_named(ALL[name], answer), answer


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(WITHOUT_TORCH) - {*QUICK, SMALL_DISK}))
def test_the_line_of_any_hidden_cause_is_named(name: str, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    answer = investigate(ALL[name], tmp_path, temporary, has_all_time=True)
    assert is_named(ALL[name], answer), answer


@pytest.mark.slow
def test_the_write_that_fills_a_disk_is_named_where_the_program_hides_it(tmp_path: Path) -> None:
    try:
        with small_disk(tmp_path / "small") as temporary:
            answer = investigate(ALL[SMALL_DISK], tmp_path, temporary, has_all_time=True)
    except PermissionError as error:
        pytest.skip(str(error))
    # The disk is full while the records are written or, by then a little room was left, flushed.
    cause = ALL[SMALL_DISK]
    assert any(is_named(replace(cause, line=cause.line + n), answer) for n in (0, 1)), answer
