"""Sentences of which each was untrue of some program: what is said is what was seen."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow
PYTHON = sys.executable


def told(whet: Whet) -> str:
    """Return the report, as text in one line."""
    return " ".join(
        (whet.folder / "whet-report" / "report.md").read_text().replace("\\", "").split()
    )


def can_mount() -> bool:
    words = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt"]
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


FILLS = "open('d/data', 'wb').write(bytes(1 << 20))\n"


def test_a_file_system_of_the_programs_own_is_not_told_by_what_lies_below_it(whet: Whet) -> None:
    if not can_mount():
        pytest.skip("no file system can be mounted here")
    (whet.folder / "d").mkdir()
    whet.write("main.py", FILLS)
    mounts = f"mount -t tmpfs -o size=100k none d && {PYTHON} main.py"
    whet("investigate", "--", "unshare", "--mount", "sh", "-c", mounts)

    said = told(whet)
    assert "No space left on device" in said
    assert "exists only inside the program" in said
    assert "on tmpfs mounted at" in said
    assert "--disk-free" not in said  # it would hold of what lies below
    assert f"mounted at `{_point_of(whet.folder)}`" not in said


def _point_of(folder: Path) -> str:
    while not os.path.ismount(folder):
        folder = folder.parent
    return str(folder)


def test_space_that_is_there_again_is_not_told_as_the_cause(whet: Whet) -> None:
    whet.write("main.py", "raise OSError(28, 'No space left on device', '/tmp/gone/data')\n")
    whet("investigate", "--", PYTHON, "main.py")

    assert "some space is free again, or the program has another file system there" in told(whet)


def test_a_trial_that_passed_is_not_said_to_fail(whet: Whet) -> None:
    whet.folder.chmod(0o777)  # so that no code is kept
    whet.write("main.py", "print(1)\n")
    whet("run", "--", PYTHON, "main.py")
    whet.write("main.py", "import sys\nassert len(sys.argv) > 5, 'few'\n")
    whet("investigate", "--", PYTHON, "main.py")

    both = re.search(
        r"run again now, both `trial 1` and `trial (\d+)` fail the same way", told(whet)
    )
    assert both is not None
    delta = whet("delta", "1", both[1])
    assert "code: none was kept with one of them; both run today's code" in delta.stderr


WAITS = """
import os, sys, time
open("runs", "a").write("x")
while len(open("runs").read()) == 1 and not os.path.exists("saved"):
    time.sleep(0.01)
print(open("hay.txt").read())
sys.exit(3)
"""


def test_what_the_user_saves_meanwhile_is_not_laid_to_the_command(whet: Whet) -> None:
    whet.write("main.py", WAITS)
    whet.write("hay.txt", "hay")
    whole = {**os.environ, **whet.environment}
    words = [PYTHON, "-m", "whet", "repeat", "--runs", "2", "--", PYTHON, "main.py", "hay.txt"]
    with subprocess.Popen(words, cwd=whet.folder, env=whole, stderr=subprocess.PIPE) as running:
        until = time.monotonic() + 30
        while not (whet.folder / "runs").exists() and time.monotonic() < until:
            time.sleep(0.01)
        whet.write("hay.txt", "saved by the user")
        whet.write("saved", "")
        _, errors = running.communicate(timeout=60)

    said = " ".join(errors.decode().split())
    assert "files that the command starts from changed while it ran (`hay.txt`)" in said
    assert "the command has written" not in said


FLEES = """
import os
def here():
    raise MemoryError
def there():
    raise MemoryError
here() if os.path.exists("runs") else there()
"""


def test_an_error_that_comes_elsewhere_is_told_with_both_places(whet: Whet) -> None:
    whet.write("main.py", FLEES)
    whet.write("runs", "")
    whet("investigate", "--json", "--", PYTHON, "main.py")
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())

    assert "did not fail in the same way: MemoryError." not in json.dumps(report)
