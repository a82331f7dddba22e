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

from whet.cli.display import progress
from whet.core.event import PayloadReduced

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


@pytest.mark.long
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


@pytest.mark.long
def test_an_error_that_comes_elsewhere_is_told_with_both_places(whet: Whet) -> None:
    whet.write("main.py", FLEES)
    whet.write("runs", "")
    whet("investigate", "--json", "--", PYTHON, "main.py")
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())

    assert "did not fail in the same way: MemoryError." not in json.dumps(report)


@pytest.mark.long
def test_a_hang_waits_and_raises_nothing(whet: Whet) -> None:
    whet.write("main.py", "import threading\nthreading.Event().wait()\n")
    said = whet("investigate", "--hang", "1", "--budget", "8s", "--", PYTHON, "main.py")

    assert "waits in threading.py:wait" in said.stderr
    assert "raised in" not in said.stderr


def test_each_heading_is_followed_by_a_result_and_no_history_is_not_a_package(whet: Whet) -> None:
    whet.write("main.py", "import sys\nprint('no good')\nsys.exit(3)\n")
    said = whet("investigate", "--", PYTHON, "main.py")

    parts = [each.splitlines() for each in said.stderr.split("\n\n")]
    headings = [each for each in parts if "  " in each[0]]
    assert "Look closer" in [each[0].split("  ")[0] for each in headings]
    assert [each[0] for each in headings if len(each) < 2] == []
    assert "whet searched no history: this folder isn't in a git repository" in said.stdout
    assert "took all its steps" in whet("log").stdout


GROWS = """
import resource, time
resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
held = []
while True:
    held.append(bytearray(30_000_000))
    time.sleep(0.15)
"""
SLOW_AT_FIRST = f"""
import pathlib, time
if not pathlib.Path("cache").exists():
    time.sleep(6)
pathlib.Path("cache").touch()
{GROWS}
"""


@pytest.mark.long
@pytest.mark.parametrize("program", [GROWS, SLOW_AT_FIRST])
def test_a_limit_that_the_program_sets_itself_is_no_smaller_one_of_whets(
    whet: Whet, program: str
) -> None:
    whet.write("main.py", program)
    said = whet("investigate", "--", PYTHON, "main.py")

    assert re.search(
        r"grew to \d+ MiB; this machine has \S+ GiB, so that isn't what was short: look for a limit",
        said.stderr,
    )
    assert "under no smaller limit it fails the same way, sooner" in said.stderr
    assert "whet continues with that limit" not in told(whet)


def test_why_a_search_is_skipped_is_said_once(whet: Whet) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    whet.write("main.py", "raise KeyError('old')\n")
    subprocess.run([*git, "init", "-q"], cwd=whet.folder, check=True)
    for program in ("raise KeyError('old')\n", "import sys\nsys.exit('too few')\n"):
        whet.write("main.py", program)
        subprocess.run([*git, "add", "main.py"], cwd=whet.folder, check=True)
        subprocess.run([*git, "commit", "-qm", "change"], cwd=whet.folder, check=True)
    said = whet("investigate", "--good", "HEAD~1", "--", PYTHON, "main.py")

    assert said.stderr.count("should be good, but") == 1


def test_a_line_that_says_nothing_new_is_not_written_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0.0)
    show = progress.Progress()
    for after in (648, 648, 640):
        show(PayloadReduced(before_bytes=7000, after_bytes=after, by_pass="delete rows"))

    assert capsys.readouterr().err.count("7.0 kB → ") == 2


REFUSES = """\
class Refused(Exception):
    pass


class Depot:
    def __init__(self, stock):
        self.stock = stock
        self.sent = {name: 0 for name in stock}

    def take(self, name, count):
        if name not in self.stock:
            raise Refused(name)
        self.stock[name] -= count

    def send(self, name, place, count):
        self.take(name, count)
        if place not in PLACES:
            raise Refused(place)
        self.sent[name] += count


PLACES = {"north", "south"}
ORDERS = [("tea", "north", 40), ("tea", "east", 25), ("rice", "south", 310)]


def run(depot):
    for name, place, count in ORDERS:
        try:
            depot.send(name, place, count)
        except Refused as error:
            print("refused:", error)


depot = Depot({"tea": 5210, "rice": 8440})
before = sum(depot.stock.values())
run(depot)
after = sum(depot.stock.values()) + sum(depot.sent.values())
assert after == before, (before, after)
"""


@pytest.mark.long
def test_a_change_with_which_all_work_is_refused_is_no_repair(whet: Whet) -> None:
    """With two arguments swapped nothing is taken, and so nothing is lost."""
    whet.write("main.py", REFUSES)
    whet("investigate", "--", PYTHON, "main.py")

    assert "was made at main.py:37" in told(whet)
    assert "take(count, name)" not in told(whet)
    assert "send(place, name" not in told(whet)
