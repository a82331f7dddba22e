from collections.abc import Iterator
from pathlib import Path

import pytest
from loaded_whet import loaded_whet
from report_sentences import said_twice
from whet_command import Whet


@pytest.fixture
def whet(tmp_path: Path) -> Iterator[Whet]:
    """A project with whet; no report that is left in it says anything twice."""
    folder, temporary = tmp_path / "project", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    yield Whet(folder, {"TMPDIR": str(temporary)})
    report = folder / "whet-report" / "report.md"
    if report.is_file():
        assert said_twice(report.read_text("utf-8", "replace")) == []


@pytest.fixture(scope="session", autouse=True)
def _one_loaded_whet() -> Iterator[None]:
    """Start it outside of any test, and end it with the last."""
    loaded = loaded_whet()
    yield
    loaded.close()
