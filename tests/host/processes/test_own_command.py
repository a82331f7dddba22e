"""The words with which whet says that it is called start this whet, wherever it was started from."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import whet

BARE = "/usr/bin:/bin"
ROOT = str(Path(whet.__file__).parents[1])
ASK = """\
import json, sys
from whet.host.process.own_command import as_called, own_line
line = own_line("run", environment=json.loads(sys.argv[1]))
print(json.dumps([line, as_called("see `whet log`, or `whet --help`; `whetstone`")]))
"""
SHOW = "import os, sys; print(os.environ.get('PYTHONPATH'), sys.argv[1])"


def asked(path: str, folders: str, given: dict[str, str] | None = None) -> tuple[list[str], str]:
    """Return what a whet says that is found through `PYTHONPATH`, as `pip install --target` has it."""
    said = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(given or {})],
        check=True, capture_output=True, text=True,
        env={"PATH": path, "PYTHONPATH": folders},
    )  # fmt: skip
    line, sentence = json.loads(said.stdout)
    return line, sentence


@pytest.mark.parametrize("given", [{}, {"PYTHONPATH": "/nowhere"}, {"PYTHONPATH": ROOT}])
def test_a_line_starts_whet_though_it_is_on_no_path_and_gives_the_program_its_own(
    given: dict[str, str], tmp_path: Path
) -> None:
    line, _ = asked(BARE, ROOT, given)

    ran = subprocess.run(
        [*line, "--", sys.executable, "-c", SHOW, "there"],
        check=True, capture_output=True, text=True, cwd=tmp_path,
        env={"PATH": BARE, "XDG_STATE_HOME": str(tmp_path / "state"), **given},
    )  # fmt: skip

    folders, word = ran.stdout.split()
    seen = [each for each in folders.split(":") if not each.startswith(f"{ROOT}/whet/agent")]
    assert (seen, word) == ([given.get("PYTHONPATH", ROOT)], "there")


def test_another_whet_on_the_path_is_not_this_one(tmp_path: Path) -> None:
    other = tmp_path / "whet"
    other.write_text("#!/bin/sh\necho another\n")
    other.chmod(0o755)

    line, sentence = asked(f"{tmp_path}:{BARE}", ROOT)

    python = f"{sys.executable} -m whet"
    assert " ".join(line).endswith(f"{python} run")
    assert sentence == f"see `{python} log`, or `{python} --help`; `whetstone`"


def test_whet_is_called_by_its_name_where_that_starts_it() -> None:
    beside = Path(sys.executable).with_name("whet")
    if not os.access(beside, os.X_OK):
        pytest.skip("whet isn't installed beside this Python")

    line, sentence = asked(f"{beside.parent}:{BARE}", ROOT)

    assert line == ["whet", "run"]
    assert sentence == "see `whet log`, or `whet --help`; `whetstone`"


def test_a_python_on_the_path_is_called_by_its_name() -> None:
    folder = Path(sys.executable).parent
    if shutil.which("whet", path=str(folder)):
        pytest.skip("whet is installed beside this Python")

    _, sentence = asked(f"{folder}:{BARE}", ROOT)

    assert sentence.startswith("see `python")
