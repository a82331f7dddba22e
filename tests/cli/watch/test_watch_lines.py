"""`whet watch` where there is no terminal: lines, JSON, thresholds, replays."""

import json
import os
import re
import sys
from typing import Any

import pytest
from watch_screen import GROWS
from whet_command import Said, Whet

pytestmark = pytest.mark.slow


def rows_of(said: Said) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said.stdout.splitlines()]


def test_a_watched_program_is_a_trial_and_its_streams_pass_through(whet: Whet) -> None:
    whet.write("grow.py", GROWS + "print('bad', file=sys.stderr)\nsys.exit(4)\n")
    words = ("watch", "memory", "processes", "--interval", "0.2", "--", sys.executable, "grow.py")
    said = whet(*words, "5", stdin=b"unread")
    assert said.code == 4
    assert said.stdout == "".join(f"step {step}\n" for step in range(5))
    assert "bad\n" in said.stderr
    assert "BAD exit 4" in said.stderr
    assert "(yet)" not in said.stderr
    assert " MB, " in said.stderr
    replayed = whet("watch", "--replay", "last").stdout
    assert "memory" in replayed
    assert "processes 1 process" in replayed


def test_a_program_reads_the_standard_input_that_whet_was_given(whet: Whet) -> None:
    whet.write("read.py", "import sys\nprint(sys.stdin.read()[::-1])\n")
    assert whet("watch", "cpu", "--", sys.executable, "read.py", stdin=b"abc").stdout == "cba\n"


def test_a_threshold_tells_once_takes_the_stacks_and_is_kept_with_the_trial(whet: Whet) -> None:
    whet.write("grow.py", GROWS)
    said = whet(
        "watch", "--interval", "0.1", "--json", "--when", "rss > 120M", "stacks",
        "--when", "rss > 120M", "echo rung", "--", sys.executable, "grow.py", "12",
    )  # fmt: skip
    *sights, last = rows_of(said)
    events = [each for row in sights for each in row["events"]] + last["told"]
    assert sum("rss > 120M: it is" in each for each in events) == 2
    assert any("grow.py" in each for each in events)
    assert any("`echo rung`: rung" in each for each in events)
    assert "grow.py" in whet("stacks", "--trial", "1").stdout
    assert "! rss > 120M: it is" in whet("watch", "--replay", "1").stdout


def test_a_threshold_can_end_the_program(whet: Whet) -> None:
    whet.write("grow.py", GROWS)
    said = whet("watch", "--interval", "0.1", "--when", "rss > 80M", "kill", "--", sys.executable,
                "grow.py", "3", "stay")  # fmt: skip
    assert said.code == 137
    assert "rss > 80M: it is" in said.stderr
    assert "killed by SIGKILL (by whet, as `--when` asked)" in said.stderr
    assert "another process" not in said.stderr


@pytest.mark.long
def test_with_a_threshold_whet_looks_more_often_than_once_a_second(whet: Whet) -> None:
    """The program holds the memory for less than a second: no look would see it else."""
    whet.write(
        "brief.py",
        "import time\ntime.sleep(1.05)\nheld = bytearray(90_000_000)\ntime.sleep(0.9)\ndel held\ntime.sleep(0.3)\n",
    )
    words = ("--when", "rss > 80M", "bell", "--", sys.executable, "brief.py")
    said = whet("watch", *words).stderr
    # A look may come while the memory still grows.
    seen = re.search(r"rss > 80M: it is ([\d.]+) MB", said)
    assert seen is not None, said
    assert 80 < float(seen[1]) < 110


def test_panels_without_a_program_end_when_their_time_is_up(whet: Whet) -> None:
    said = whet("watch", "disk", "sh -c 'echo $((40 + 2)) eggs'", "--for", "1", "--json")
    assert said.code == 0
    rows = rows_of(said)
    numbers = {name for row in rows for panel in row["panels"] for name in panel["numbers"]}
    assert {"disk.free", "disk.used", "value"} <= numbers
    assert all(row["schema_version"] == 1 for row in rows)


@pytest.mark.parametrize(
    ("panel", "reason"),
    [
        ("processes:no-such-thing-anywhere", "no process has `no-such-thing-anywhere` in its command line"),
        ("memory:999999999", "there is no process 999999999 (yet)"),
        ("disk:/no/such/path", "`/no/such/path` doesn't exist (yet)"),
        ("ls /no/such/path", "exit code 2: ls:"),
        ("sh -c 'exit 7'", "exit code 7"),
        ("true", "it writes nothing; for the processes of that name: `name:true`"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_says_why(whet: Whet, panel: str, reason: str) -> None:
    said = whet("watch", panel, "--for", "0.4", "--interval", "0.2")
    assert said.code == 0
    assert reason in said.stdout


def test_a_command_that_hangs_says_so_and_leaves_nothing_behind(whet: Whet) -> None:
    said = whet("watch", "sleep 4711", "disk", "--for", "4.5", "--interval", "0.3")
    assert said.code == 0
    assert "no answer for" in said.stdout
    assert "disk /" in said.stdout
    from whet.host.process.process_facts import all_pids, facts_of

    commands = [facts.command for pid in all_pids() if (facts := facts_of(pid)) is not None]
    assert "sleep 4711" not in commands


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("memry",), 64, "did you mean `memory`?"),
        (("--when", "rss > many", "bell", "memory"), 64, "`many` in `rss > many`"),
        (("--when", "rss > 1G", "stack", "memory"), 64, "did you mean `stacks`?"),
        (("--when", "rss > 1G", "kill"), 64, "`kill` ends the program behind `--`"),
        (("sections",), 64, "there is none"),
        (("--probe", "x.py:1 sleep 3"), 64, "there is none"),
        (("--replay", "77"), 66, "77"),
        (("--for", "3", "--", "true"), 64, "`--timeout`"),
    ],
)
def test_what_cannot_be_watched_is_refused(
    whet: Whet, words: tuple[str, ...], code: int, text: str
) -> None:
    said = whet("watch", *words)
    assert said.code == code
    assert text in said.stderr


def test_a_trial_without_levels_has_no_replay(whet: Whet) -> None:
    whet("run", "--", "true")
    said = whet("watch", "--replay", "1")
    assert said.code == 66 or "memory" in said.stdout


@pytest.mark.long
def test_processes_are_found_by_their_command_line_or_by_name_alone(whet: Whet) -> None:
    whet.write("wait_here.sh", "echo ready; sleep 3\n")
    said = whet(
        "watch", "processes:wait_here", "name:sleep", "--interval", "0.3", "--json", "--",
        "sh", "wait_here.sh", environment={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    *sights, _ = rows_of(said)
    seen: dict[str, set[str]] = {}
    for panel in [panel for sight in sights for panel in sight["panels"]]:
        rows = panel.get("table", [])[1:]
        seen.setdefault(panel["panel"], set()).update(row[-1] for row in rows)
    assert seen["processes:wait_here"] == {"sh wait_here.sh"}
    assert "sleep 3" in seen["name:sleep"]
