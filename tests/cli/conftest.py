from collections.abc import Iterator
from pathlib import Path

import pytest
from loaded_whet import loaded_whet
from whet_command import Whet


@pytest.fixture
def whet(tmp_path: Path) -> Whet:
    folder, temporary = tmp_path / "project", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    return Whet(folder, {"TMPDIR": str(temporary)})


@pytest.fixture(scope="session", autouse=True)
def _one_loaded_whet() -> Iterator[None]:
    """Start it outside of any test, and end it with the last."""
    loaded = loaded_whet()
    yield
    loaded.close()
