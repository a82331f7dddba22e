"""The folder list is the architecture."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .tree import ROOT, tracked

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


@pytest.mark.slow
@pytest.mark.skipif(not LINT_IMPORTS.exists(), reason="needs the `lint` group: import-linter")
def test_no_folder_imports_beside_or_above_itself() -> None:
    done = subprocess.run(
        [LINT_IMPORTS, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout


def test_a_frozen_class_with_slots_is_a_value_class() -> None:
    slow = re.compile(r"@dataclass\((?=[^)]*frozen=True)(?=[^)]*slots=True)")
    assert [str(path) for path in tracked("src/*.py") if slow.search(path.read_text())] == []
