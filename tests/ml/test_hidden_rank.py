"""`whet investigate` names the line where the rank waits that the others do not come to."""

from pathlib import Path

import pytest
from benchmarks.evidence.hidden_causes import causes, investigate, is_named

pytestmark = [pytest.mark.ml, pytest.mark.slow]


def test_the_line_of_a_stuck_rank_is_named(tmp_path: Path) -> None:
    pytest.importorskip("torch.distributed")
    cause = causes()["stuck_rank"]
    answer = investigate(cause, tmp_path, tmp_path)
    assert is_named(cause, answer), answer
