"""`%%section` in IPython measures a cell, and changes nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from whet.core.observations.timeline import Timeline
from whet.core.outcome import Outcome
from whet.host.trial.sections import with_sections

pytestmark = pytest.mark.ml  # IPython is in that environment alone

SHELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
shell.run_line_magic("load_ext", "whet")
def cell(text):
    result = shell.run_cell(text)
    return result
"""


def run(folder: Path, program: str, **environment: str) -> str:
    path = folder / "program.py"
    path.write_text(SHELL + program)
    done = subprocess.run(
        [sys.executable, str(path)],
        cwd=folder,
        env={**os.environ, "IPYTHONDIR": str(folder / "ipython"), **environment},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout


def test_the_numbers_stand_below_the_cell(tmp_path: Path) -> None:
    said = run(
        tmp_path,
        """
result = cell("%%section load\\ndata = bytearray(30 << 20)\\nlen(data)")
assert result.result == 30 << 20, result
assert len(shell.user_ns["data"]) == 30 << 20
cell("%%section --objects rows\\nrows = [[] for _ in range(1000)];")
""",
    )
    load, out, rows, *_ = said.splitlines()

    assert load.startswith("load: ")
    assert " wall · " in load
    assert "kept +31." in load
    assert out == "Out[0]: 31457280"
    assert rows.startswith("rows: ")
    assert "objects" in rows


def test_an_error_in_the_cell_is_the_cells(tmp_path: Path) -> None:
    said = run(
        tmp_path,
        """
result = cell("%%section fails\\ny = 1\\nraise ValueError('its own')")
assert isinstance(result.error_in_exec, ValueError), result
assert shell.user_ns["y"] == 1
""",
    )

    assert said.count("its own") >= 1
    assert "fails: " in said
    assert "----> 2 raise ValueError('its own')" in said


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("%%section\\n1", "doesn't name one section"),
        ("%%section two names\\n1", "doesn't name one section"),
        (
            "%%section a\\nimport asyncio\\nawait asyncio.sleep(0)",
            "can't measure a cell that awaits",
        ),
        ("%%section a\\nthis is no python", "SyntaxError"),
    ],
)
def test_what_can_not_be_measured_is_said(tmp_path: Path, text: str, answer: str) -> None:
    said = run(tmp_path, f'cell("{text}")')

    assert answer in said


def test_in_a_trial_a_cell_is_a_section_of_it(tmp_path: Path) -> None:
    reports = tmp_path / "agent"
    reports.mkdir()
    said = run(tmp_path, 'cell("%%section load\\nx = 1")', WHET_AGENT=str(reports))
    (evidence,) = with_sections(Outcome(), reports, 0).evidence

    assert "load:" not in said
    assert [each.name for each in Timeline.from_bytes(evidence.data).totals] == ["load"]


def test_a_cell_that_leaves_something_behind_is_told_with_who_holds_it(tmp_path: Path) -> None:
    said = run(
        tmp_path,
        """
cell("kept = []\\ndef step():\\n    kept.append(bytearray(3000))\\n    print('once')")
cell("%%leak 12\\nstep()")
cell("%%leak 12\\nlen(kept)")
result = cell("%%leak soon\\n1")
assert "isn't a number of repetitions" in str(result.error_in_exec)
result = cell("%%leak\\n1 / 0")
assert isinstance(result.error_in_exec, ZeroDivisionError)
""",
    )

    assert said.count("once\n") == 1
    assert "LEAK: each run of this cell adds 3.1 kB (12 runs)" in said
    assert "`kept` (list, global of the notebook) gains 16 items of bytearray" in said
    assert "NO LEAK: below " in said
