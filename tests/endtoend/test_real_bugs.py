r"""Real bugs, published in the trackers of real packages, from a real file to one line.

- mangiucugna/json_repair#135: "string index out of range" on a table of HTML5 entities as
  Python prints it; 0.47.0 to 0.47.3.
- rr-/docstring_parser#66: "Release 0.14 breaks cause additional parsing errors" on the
  docstrings of the standard library; 0.14.
- Textualize/rich#3947, the demo: "[BUG] If the text contains '\\u200d', console.print may
  throw a RuntimeError"; 14.3.0 and 14.3.1.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from whet.host.code.project import Project

ROOT = Path(__file__).parents[2]
SPECIMENS = ROOT / "specimens" / "real_bugs"


@dataclass(frozen=True)
class RealBug:
    """A published bug.

    Attributes:
        package: its package.
        folder: where its specimen is.
        good: a release before it.
        bad: a release with it.
        first_bad: the release that brought it.
        exception: what it raises.
        smallest_bytes: a payload of at most this size shows it.
    """

    package: str
    folder: str
    good: str
    bad: str
    first_bad: str
    exception: str
    smallest_bytes: int


BUGS = [
    RealBug("json_repair", "json_repair_135", "0.30.0", "0.47.3", "0.47.0", "IndexError", 60),
    RealBug(
        "docstring_parser",
        "docstring_parser_66",
        "0.7",
        "0.14",
        "0.14",
        "docstring_parser.common.ParseError",
        20,
    ),
]


def index_answers() -> bool:
    """Say whether the package index can be reached."""
    asked = [sys.executable, "-m", "pip", "index", "versions", "json_repair"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


@pytest.mark.network
@pytest.mark.long
@pytest.mark.parametrize("bug", BUGS, ids=[bug.folder for bug in BUGS])
def test_a_published_bug_is_found_shrunk_and_reproduced(bug: RealBug, tmp_path: Path) -> None:
    if not index_answers():
        pytest.skip("the package index cannot be reached")
    folder, temporary = tmp_path / "project", tmp_path / "tmp"
    shutil.copytree(SPECIMENS / bug.folder, folder)
    temporary.mkdir()
    subprocess.run([sys.executable, "make_input.py", "input.txt"], cwd=folder, check=True)
    before = hashlib.sha256((folder / "input.txt").read_bytes()).hexdigest()
    assert (folder / "input.txt").stat().st_size >= 50_000

    done = subprocess.run(
        [sys.executable, "-m", "whet", "investigate", "--package", bug.package,
         "--good", bug.good, "--bad", bug.bad, "--", "python3", "driver.py", "input.txt"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONUTF8": "1"},
        capture_output=True,
        check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr.decode()
    report = json.loads((folder / "whet-report" / "report.json").read_text())
    assert report["failure"]["signature"]["exception"] == bug.exception
    assert report["history"]["first_bad"] == bug.first_bad
    (payload,) = report["payloads"]
    assert payload["after_bytes"] <= bug.smallest_bytes
    assert payload["guarded_by"] == f"{bug.package} {report['history']['good']}"
    assert report["reproducer"]["is_verified"]
    assert hashlib.sha256((folder / "input.txt").read_bytes()).hexdigest() == before
    assert list(temporary.glob("whet-*")) == []  # uv leaves locks of its own there
    assert list((Project.find(folder, os.environ).state / "made").iterdir()) == []


@pytest.mark.network
@pytest.mark.long
def test_the_demo_finds_the_release_and_a_payload_of_a_line(tmp_path: Path) -> None:
    if not index_answers():
        pytest.skip("the package index cannot be reached")
    shutil.copytree(ROOT / "demo", tmp_path / "demo", ignore=shutil.ignore_patterns("work"))
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    done = subprocess.run(
        [tmp_path / "demo" / "run"], env=environment, capture_output=True, check=False
    )

    assert done.returncode == 0, done.stderr.decode()
    report = json.loads((tmp_path / "demo/work/whet-report/report.json").read_text())
    assert report["history"]["first_bad"] == "14.3.0"
    assert report["payloads"][0]["after_bytes"] <= 60
    assert report["reproducer"]["is_verified"]
