"""The statistics that whet's comparison with a neighbour is measured beside."""

import math
import sys
from pathlib import Path

from benchmarks.evidence.spectrum import (
    OTHER,
    PASSES,
    SAME,
    Counts,
    Executed,
    counted,
    dstar,
    line_of,
    ochiai,
    rank_of,
    run_traced,
)

RUNS = [
    Executed(SAME, frozenset({"a.py:1:line", "a.py:2:line"})),
    Executed(SAME, frozenset({"a.py:1:line", "a.py:2:line", "a.py:3:line"})),
    Executed(PASSES, frozenset({"a.py:1:line", "a.py:3:line"})),
    Executed(OTHER, frozenset({"a.py:2:line"})),
]


def test_what_failing_runs_alone_execute_comes_first() -> None:
    counts, all_ = counted(RUNS)
    assert all_ == Counts(2, 1)
    assert counts["a.py:2:line"] == Counts(2, 0)
    for formula in (ochiai, dstar):
        scores = {name: formula(each, all_) for name, each in counts.items()}
        assert rank_of("a.py:2".__eq__, scores, line_of) == (1, 3)
    assert ochiai(counts["a.py:1:line"], all_) == 2 / math.sqrt(2 * 3)


def test_what_is_alike_shares_the_middle_rank() -> None:
    scores = {"a.py:1:line": 0.5, "a.py:2:line": 0.5, "a.py:3:line": 0.5, "a.py:4:line": 0.9}
    assert rank_of("a.py:2".__eq__, scores, line_of) == (3, 4)
    assert rank_of("b.py:1".__eq__, scores, line_of) == (math.inf, 4)


def test_only_what_runs_once_the_payload_is_read_counts(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("1")
    (tmp_path / "main.py").write_text(
        "one = 1\ntext = open('data.txt').read()\nassert text == '2'\n"
    )
    failure, found = run_traced(sys.executable, tmp_path.resolve(), "data.txt", ["main.py"])
    assert failure.startswith("AssertionError")
    assert {line_of(each) for each in found} == {"main.py:3"}
