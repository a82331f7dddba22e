"""What a folder holds isn't what whet imports of Python's own modules."""

import os
import subprocess
import sys

import pytest
from whet_command import Whet

PYTHON = sys.executable


@pytest.mark.parametrize("name", ["statistics", "json", "dataclasses"])
def test_a_module_that_hides_one_of_pythons_own_does_not_stop_whet(whet: Whet, name: str) -> None:
    whet.write(f"{name}.py", "raise SystemExit('imported')\n")

    ran = subprocess.run(
        [PYTHON, "-m", "whet", "run", "--", PYTHON, "-P", "-c", "print('ran')"],
        cwd=whet.folder, env={**os.environ, **whet.environment},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip

    assert (ran.returncode, ran.stdout) == (0, "ran\n"), ran.stderr
