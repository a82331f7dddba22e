"""The laboratory that every test of executors works in."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from laboratory import Laboratory
from workshop import Workshop, opened


@pytest.fixture
def laboratory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Laboratory]:
    """A laboratory that has to be as empty after a test as it was before."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    laboratory = Laboratory(tmp_path)
    yield laboratory
    laboratory.cleanup_journal.discard_all()
    assert list(temporary.iterdir()) == []
    assert not laboratory.made.exists() or list(laboratory.made.iterdir()) == []


@pytest.fixture
def workshop(laboratory: Laboratory) -> Iterator[Workshop]:
    """A program, and both ways to run it."""
    with opened(laboratory) as workshop:
        yield workshop
