"""The folder list is the architecture."""

import subprocess
import sys
from pathlib import Path

import pytest

from .tree import ROOT

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


@pytest.mark.slow
@pytest.mark.skipif(not LINT_IMPORTS.exists(), reason="needs the `lint` group: import-linter")
def test_no_folder_imports_beside_or_above_itself() -> None:
    done = subprocess.run(
        [LINT_IMPORTS, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout
