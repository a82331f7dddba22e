"""The workshop of the executors' tests, for programs that use libraries of native code."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "execution"))

from laboratory import Laboratory
from workshop import Workshop, opened


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    """A program, and both ways to run it."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    laboratory = Laboratory(tmp_path)
    with opened(laboratory) as workshop:
        yield workshop
    laboratory.cleanup_journal.discard_all()
