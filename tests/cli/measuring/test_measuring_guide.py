"""The guide `Expect, measure, compare`: from a wrong guess to a confirmed 2 ×, as its page shows it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "specimens" / "slow"
PAGE = (ROOT / "docs" / "guides" / "measuring.md").read_text("utf-8")
SECTION = PAGE.partition("\n## The method, on one slow program")[2].partition("\n## ")[0]
COMMANDS = re.findall(r"^\$ (.*)$", SECTION, re.MULTILINE)
SHOWN = {
    "whet run --expect 'read": (
        r"read\.seconds ~ 300ms  \S+ m?s, (not )?as expected",
        r"first\.seconds ~ 20ms  \S+ m?s, not as expected: \S+ × more",
        r"^whet: section  runs",
    ),
    "whet expect --lines": (
        r"^ line      runs     time   memory  report\.py$",
        r'^   18    20,000 +\S+ m?s +if order\["customer"\] not in known:$',
        r"^   19     2,000 .*known\.append",
    ),
    "git init": (),
    "sed -i": (),
    "whet run --expect 'first": (
        r"report\.py \+2 −2 since trial 2 · expected first\.seconds ~ 10ms: \S+ m?s, ",
    ),
    "whet compare": (
        r"^B is [\d.]+ times as fast as A(?: in \w+ time)? \([\d.]+ to [\d.]+ times\), sure after \d+ runs",
        r"^  both print the same output$",
    ),
}
"""What each command of the page prints, however fast this machine is."""


def test_the_page_shows_the_program_that_it_is_about() -> None:
    (shown,) = re.findall(r"^```py\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)

    assert shown == (PROGRAM / "report.py").read_text("utf-8")


@pytest.mark.slow
def test_the_method_leads_from_a_wrong_guess_to_a_confirmed_speedup(tmp_path: Path) -> None:
    words = [sys.executable, str(PROGRAM / "make_orders.py"), "orders.jsonl"]
    subprocess.run(words, cwd=tmp_path, check=True)
    (tmp_path / "report.py").write_bytes((PROGRAM / "report.py").read_bytes())
    names = {
        f"GIT_{who}_{what}": "ada@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **names, "PATH": path, "XDG_STATE_HOME": str(tmp_path / "state")}
    said: dict[str, str] = {}

    for command in COMMANDS:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        (start,) = [each for each in SHOWN if command.startswith(each)]
        said[start] = done.stdout + done.stderr
        for pattern in SHOWN[start]:
            assert re.search(pattern, said[start], re.MULTILINE), f"{pattern}\n{said[start]}"

    assert list(said) == list(SHOWN)
    # How sure that is depends on the machine's load; the figure itself hardly does.
    (times,) = re.findall(r"B is ([\d.]+) times as fast as A", said["whet compare"])
    assert float(times) >= 2
