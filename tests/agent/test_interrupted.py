"""Ctrl-C while a copy is being made is shown as Ctrl-C at the program's own line."""

import subprocess
import sys
from pathlib import Path

import whet.agent

SITE = str(Path(whet.agent.__file__).parent / "site")
INTERRUPTED = """
import sys
sys.path.insert(0, {site!r})
from whet_stage.forking import exit as ending
ending.OWN_FILES.add("own.py")
exec(compile("def look(): again()\\ndef again(): raise {error}", "own.py", "exec"))
def work(): look()
try: work()
except BaseException as error: ending._show(error)
"""


def shown(error: str) -> list[str]:
    """Return which functions are shown of an error that is raised in whet's own work."""
    program = INTERRUPTED.format(site=SITE, error=error)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return [line.split()[-1] for line in done.stderr.splitlines() if "File" in line]


def test_an_interrupt_is_shown_at_the_program_s_own_line() -> None:
    assert shown("KeyboardInterrupt")[-1] == "work"


def test_a_fault_of_whet_s_own_work_is_shown_where_it_was() -> None:
    assert shown("OSError")[-1] == "again"
