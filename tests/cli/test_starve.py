"""`whet starve` as a user types it: limits, ladders, sets, a shell, and what makes no sense."""

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest
from whet_command import Whet

NOBODY = 54321
NEEDS = """
held = bytearray(b"1" * 60_000_000)  # which holds both for a moment
files = [open("/dev/null") for _ in range(20)]
"""


def test_a_trial_that_dies_of_memory_says_so_in_its_last_line(whet: Whet) -> None:
    whet.write("train.py", 'held = []\nwhile True:\n    held.append(b"1" * 1_000_000)\n')
    said = whet("starve", "--memory", "64M", "--", sys.executable, "train.py")
    assert said.code == 137
    assert "killed by the memory limit: " in said.stderr
    assert " of 64.00 MiB, largest process python" in said.stderr
    shown = whet("show").stdout
    assert "limited  memory 64 MiB by " in shown
    assert "kind  out of memory" in shown


@pytest.mark.parametrize("verb", [["run"], ["starve"], ["again"]])
def test_limits_hold_for_every_verb_that_runs_trials(whet: Whet, verb: list[str]) -> None:
    command = ["--", sys.executable, "-c", "import os\nfor _ in range(99): os.dup(0)"]
    first = whet("run", "--files", "50", *command)
    said = (
        first
        if verb == ["run"]
        else whet(*verb, *(["--files", "50", *command] if verb == ["starve"] else []))
    )
    assert said.code == 1
    assert "met the limit `--files 50`" in said.stderr


def test_a_search_s_trials_are_limited_too(whet: Whet) -> None:
    whet.write("hay.txt", "hay\n" * 30 + "needle\n" + "hay\n" * 30)
    whet.write(
        "find.py",
        "import os, sys\nif 'needle' in open(sys.argv[1]).read():\n    for _ in range(99): os.dup(0)\n",
    )
    said = whet("shrink", "hay.txt", "--files", "50", "--", sys.executable, "find.py", "hay.txt")
    assert said.code == 0, said.stderr
    assert (whet.folder / "hay.shrunk.txt").read_text().strip() == "needle"


def test_the_least_memory_is_found_and_how_it_fails_below(whet: Whet) -> None:
    whet.write("need.py", NEEDS)
    said = whet(
        "starve",
        "--find",
        "memory",
        "--json",
        "--picture",
        "p.svg",
        "--",
        sys.executable,
        "need.py",
    )
    assert said.code == 0, said.stderr
    found = json.loads(said.stdout)
    tried = {rung["shown"]: rung for rung in found["tried"]}
    enough, too_little = tried[found["least_good"]], tried[found["most_bad"]]
    assert 120_000_000 < enough["amount"] < 150_000_000
    assert too_little["amount"] < enough["amount"] <= too_little["amount"] * 1.03
    assert "killed by the memory limit" in too_little["failure"]
    assert found["stopped"] == "threshold"
    assert (whet.folder / "p.svg").read_text().count("<circle") == len(tried)


def test_the_least_number_of_files_is_exact(whet: Whet) -> None:
    whet.write("need.py", NEEDS)
    said = whet("starve", "--find", "files", "--", sys.executable, "need.py")
    assert said.code == 0, said.stderr
    assert "files are enough; " in said.stdout
    enough = int(said.stdout.split()[0])
    for count, code in ((enough, 0), (enough - 1, 1)):
        assert whet("run", "--files", str(count), "--", sys.executable, "need.py").code == code
    assert "Too many open files" in said.stdout


def test_nothing_is_searched_for_a_command_that_fails_anyway(whet: Whet) -> None:
    said = whet("starve", "--find", "memory", "--", "false")
    assert said.code == 65
    assert "fails with all the memory that there is" in said.stderr


def test_a_named_set_limits_and_options_win_over_it(whet: Whet) -> None:
    whet.write("whet.toml", '[limits.narrow]\nfiles = 40\nmemory = "200M"\n')
    program = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    command = ["--", sys.executable, "-c", program]
    assert whet("run", "--limits", "narrow", *command).stdout == "40\n"
    assert whet("run", "--limits", "narrow", "--files", "30", *command).stdout == "30\n"
    assert "limited  memory 200 MiB" in whet("show").stdout
    assert whet("run", "--limits", "tiny-container", *command).stdout == "1024\n"


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("limits = 3\n", "`limits` in"),
        ("[limits.narrow]\nfiles = 'many'\n", "`files = 'many'` in the set of limits `narrow`"),
        ("[limits.narrow]\nspoons = 3\n", "`spoons = 3` in the set of limits `narrow`"),
    ],
)
def test_a_set_that_is_wrong_is_named(whet: Whet, setting: str, words: str) -> None:
    whet.write("whet.toml", setting)
    said = whet("run", "--limits", "narrow", "--", "true")
    assert said.code == 78
    assert words in said.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--memory", "5X"], "`5X` is not a size: write 300M, 5G or 1.5G"),
        (["--memory", "1M"], "less than `python3"),
        (["--files", "3"], "the least that works is "),
        (["--swap", "1G"], "`--swap` goes with `--memory`"),
        ([], "was given nothing to limit"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(
    whet: Whet, options: list[str], words: str
) -> None:
    python = os.path.realpath(sys.executable)
    said = whet("starve", *options, "--", python, "-c", "open('was_run', 'w')")
    assert said.code in {64, 69}, said
    assert words in said.stderr
    assert not (whet.folder / "was_run").exists()


def test_without_a_command_a_shell_says_which_limits_hold(whet: Whet) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, **whet.environment, "SHELL": "/bin/bash", "HOME": str(whet.folder)}
    words = [sys.executable, "-m", "whet", "starve", "--memory", "300M", "--files", "64"]
    with subprocess.Popen(
        words, cwd=whet.folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    ) as shell:  # fmt: skip
        os.close(theirs)
        shown = _read_until(ours, b"(memory 300 MiB, files 64)")
        os.write(ours, b"echo =$MEMLIMIT= $(ulimit -n)\nexit 3\n")
        shown += _read_until(ours, b"=300MiB= 64")
        assert shell.wait(60) == 3, shown
    os.close(ours)
    assert list(Path(whet.environment["TMPDIR"]).iterdir()) == []


def _read_until(descriptor: int, words: bytes) -> bytes:
    shown = b""
    while words not in shown:
        ready, _, _ = select.select([descriptor], [], [], 60)
        assert ready, shown
        shown += os.read(descriptor, 65536)
    return shown


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.needs("setpriv")
def test_an_ordinary_user_gets_limits_too(whet: Whet) -> None:
    """Without a control group of their own: the watchdog, and what the kernel gives to everybody."""
    for folder in (whet.folder, Path(whet.environment["TMPDIR"])):
        os.chown(folder, NOBODY, NOBODY)
    for folder in whet.folder.parents:
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o055)
    whet.write("train.py", 'held = []\nwhile True:\n    held.append(b"1" * 1_000_000)\n')
    environment = {
        **os.environ,
        **whet.environment,
        **{f"XDG_{name}_HOME": str(whet.folder) for name in ("CACHE", "CONFIG", "DATA", "STATE")},
        "HOME": str(whet.folder),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]

    def call(*words: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [*as_nobody, *words],
            cwd=whet.folder, env=environment, capture_output=True, check=False, timeout=100,
        )  # fmt: skip

    # A user may not enter root's home, where root's own interpreter may lie.
    starts = "import click, sys, whet; open(sys.executable)"
    pythons = (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}")
    python = next((each for each in pythons if call(each, "-c", starts).returncode == 0), None)
    if python is None:
        pytest.skip("no interpreter here can be run by an ordinary user")
    limits = ("--memory", "64M", "--files", "64", "--cpus", "1")
    done = call(python, "-m", "whet", "starve", *limits, "--json", "--", python, "train.py")
    assert done.returncode == 137, done.stderr
    outcome = json.loads(done.stdout)["outcome"]
    assert outcome["limits_met"][0]["name"] == "memory"
    assert "memory 64 MiB by a watchdog" in outcome["limited_by"]
    assert "files by resource limit" in outcome["limited_by"]
    assert "processors 1 by affinity" in outcome["limited_by"]


@pytest.mark.long
def test_an_investigation_finds_how_much_is_enough_and_shrinks_under_the_limit(whet: Whet) -> None:
    whet.write(
        "load.py",
        "import sys\nheld = []\nfor line in open(sys.argv[1]):\n"
        "    if 'big' in line: held.append(bytearray(b'1' * 30_000_000))\n",
    )
    whet.write("rows.txt", "row\n" * 20 + "big\nbig\n" + "row\n" * 20)
    said = whet("investigate", "--memory", "80M", "--", sys.executable, "load.py", "rows.txt")
    assert said.code == 0, said.stderr
    report = (whet.folder / "whet-report" / "report.md").read_text()
    assert " of 80.00 MiB, largest process python" in report
    assert " MiB of memory is enough, " in report
    assert "it failed in the same way" in report
    assert "starve --memory 80M" in report
    small = (whet.folder / "whet-report" / "rows.txt").read_text()
    assert small.split() == ["big", "big"]
    assert (
        "<title>memory against time</title>"
        in (whet.folder / "whet-report" / "report.html").read_text()
    )


READ_ONLY = """
for place in /sys/fs/cgroup/*/ /sys/fs/cgroup; do
    mount --bind "$place" "$place" && mount -o remount,bind,ro "$place" || exit 99
done
exec "$@"
"""


@pytest.mark.needs("unshare")
def test_where_control_groups_are_read_only_the_next_way_is_taken_or_all_are_named(
    whet: Whet,
) -> None:
    whet.write("train.py", 'held = []\nwhile True:\n    held.append(b"1" * 1_000_000)\n')

    def call(*words: str) -> "subprocess.CompletedProcess[bytes]":
        shell = ["unshare", "--mount", "sh", "-c", READ_ONLY, "sh", sys.executable, "-m", "whet"]
        done = subprocess.run(
            [*shell, *words], cwd=whet.folder, env={**os.environ, **whet.environment},
            capture_output=True, check=False, timeout=100,
        )  # fmt: skip
        if done.returncode in {1, 99} and b"whet" not in done.stderr:
            pytest.skip("no mount namespace may be made here")
        return done

    done = call("starve", "--memory", "64M", "--json", "--", sys.executable, "train.py")
    outcome = json.loads(done.stdout)["outcome"]
    assert outcome["limited_by"] == ["memory 64 MiB by a watchdog"]
    assert outcome["failure"]["limit"] == "memory"

    refused = call("starve", "--processes", "50", "--", "true")
    assert refused.returncode == 69
    assert b"cannot enforce `--processes` here (cgroup v2: " in refused.stderr
    assert b"; cgroup v1: " in refused.stderr
