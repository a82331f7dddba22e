"""`whet shrink` ends in the bug that it began with, though another one lies beside it."""

from pathlib import Path

import pytest
from benchmarks.evidence.slips import shrunk, slips
from crossed import one_in

ALL = slips()


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(6, sorted(ALL)))
def test_a_shrink_ends_in_the_bug_that_it_began_with(name: str, tmp_path: Path) -> None:
    ended = shrunk(ALL[name], tmp_path)
    assert ended.held, f"{ALL[name].slip}: {ended.result!r}\n{ended.said}"
    assert ended.after_bytes < ended.before_bytes
