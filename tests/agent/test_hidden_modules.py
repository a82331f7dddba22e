"""What whet imports for itself: the program doesn't see it, and it is imported once."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import whet.agent

SITE = Path(whet.agent.__file__).parent / "site"
PROGRAM = """
import sys

assert not [name for name in sys.modules if name.startswith("whet_")]
assert not {"re", "ast", "contextlib"} & set(sys.modules)
import re, enum

assert isinstance(re.I, enum.Enum)
{}["total"]
"""


@pytest.mark.parametrize("wish", ["", "steps:||0", "readings:time", "left:"])
@pytest.mark.parametrize("edits", [False, True], ids=["as it is", "edited"])
def test_what_whet_has_imported_it_does_not_import_again(
    tmp_path: Path, wish: str, *, edits: bool
) -> None:
    program = tmp_path / "main.py"
    program.write_text(PROGRAM)
    told = tmp_path / "told"
    told.mkdir()
    variables = {
        "PYTHONPATH": str(SITE),
        "WHET_AGENT": str(told),
        "WHET_LOCALS": "1",
        "WHET_CLOSER": wish,
    }
    if edits:
        variables["WHET_EDIT"] = f"{program}\n{PROGRAM}"
    command = [sys.executable, "-X", "importtime", str(program)]

    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=60
    )  # fmt: skip

    assert "KeyError: 'total'" in done.stderr, done.stderr
    assert done.stderr.count("KeyError") == 1
    # One for whet, and one for the program.
    assert len(re.findall(r"\| +re\._compiler$", done.stderr, re.MULTILINE)) == 2
    assert [each.stat().st_size for each in told.iterdir() if each.name.endswith(".failures")]
