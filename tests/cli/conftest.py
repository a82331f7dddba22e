from pathlib import Path

import pytest
from whet_command import Whet


@pytest.fixture
def whet(tmp_path: Path) -> Whet:
    folder, temporary = tmp_path / "project", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    return Whet(folder, {"TMPDIR": str(temporary)})
