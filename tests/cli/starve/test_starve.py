"""`whet starve` as a user types it: limits, ladders, sets, a shell, and what makes no sense."""

import json
import os
import re
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


def test_a_command_that_ends_well_with_fewer_processes_is_told_to_have_met_the_limit(
    whet: Whet,
) -> None:
    whet.write("forks.py", "import os\ntry:\n    while os.fork(): pass\nexcept OSError: pass\n")
    said = whet("starve", "--processes", "5", "--", sys.executable, "forks.py")
    if "can't enforce" in said.stderr:
        pytest.skip("no control group for processes may be made here")
    assert said.code == 0
    assert "note: met the limit `--processes 5`: a process or thread was refused" in said.stderr
    assert "met the limit `--processes 5`" in whet("show").stdout


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


@pytest.mark.long
def test_the_least_number_of_files_is_exact(whet: Whet) -> None:
    whet.write("need.py", NEEDS)
    said = whet("starve", "--find", "files", "--", sys.executable, "need.py")
    assert said.code == 0, said.stderr
    assert "files are enough; " in said.stdout
    enough = int(said.stdout.split()[0])
    for count, code in ((enough, 0), (enough - 1, 1)):
        assert whet("run", "--files", str(count), "--", sys.executable, "need.py").code == code
    assert "Too many open files" in said.stdout


def test_failures_that_differ_only_by_the_limit_are_one(whet: Whet) -> None:
    whet.write(
        "need.py",
        "opened = []\n"
        "try:\n"
        "    for number in range(100):\n"
        "        opened.append(open('/dev/null'))\n"
        "except OSError:\n"
        "    count = len(opened)\n"
        "    opened.clear()\n"
        "    raise SystemExit(f'only {count} of 100 are open')\n",
    )

    said = whet("starve", "--find", "files", "--", sys.executable, "need.py")

    _, _, told = said.stdout.partition("with less, it fails:\n")
    ways = told.partition("\n\n")[0].splitlines()
    ours = [way for way in ways if "of 100 are open" in way]
    assert len(ours) == 1, told
    assert " to " in ours[0]


def test_nothing_is_searched_for_a_command_that_fails_anyway(whet: Whet) -> None:
    said = whet("starve", "--find", "memory", "--", "false")
    assert said.code == 65
    assert "fails with all available memory" in said.stderr


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
        (["--swap", "1G"], "`--swap` needs `--memory`"),
        ([], "needs something to limit"),
        (["--find", "files", "--picture", "no/such/p.svg"], "the folder doesn't exist"),
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


_EACH = """
import tempfile, threading
held = bytearray(b"1" * 20_000_000)
stop = threading.Event()
threads = [threading.Thread(target=stop.wait, daemon=True) for _ in range(3)]
for each in threads: each.start()
stop.set()
with tempfile.TemporaryFile() as file: file.write(bytes(1_000_000))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("memory", r"[\d.]+ MiB of memory is enough; [\d.]+ MiB is too little"),
        ("disk", r"[\d.]+ KiB of disk is enough; [\d.]+ KiB is too little"),
        ("processes", "4 processes are enough; 3 are too few"),
        ("cpus", "0.05 cpus are enough"),
    ],
)
def test_the_least_of_each_is_found_and_drawn(whet: Whet, name: str, answer: str) -> None:
    whet.write("each.py", _EACH)
    words = ("--find", name, "--picture", "least.svg", "--", sys.executable, "each.py")
    said = whet("starve", *words)
    if "can't enforce" in said.stderr:
        pytest.skip(f"there is no way here to limit {name}")
    assert re.match(answer, said.stdout), said
    assert f"<title>run time against {name}</title>" in (whet.folder / "least.svg").read_text()


@pytest.mark.long
def test_an_amount_with_which_a_program_waits_for_ever_is_too_little(whet: Whet) -> None:
    waits = "try:\n    files = [open('/dev/null') for _ in range(30)]\nexcept OSError:\n"
    waits += "    __import__('threading').Event().wait()\n"
    whet.write("waits.py", waits)
    said = whet("starve", "--find", "files", "--", sys.executable, "waits.py")
    assert said.code == 0, said
    assert re.search(r"^\d+ files are enough; \d+ are too few", said.stdout), said
    assert "no output for" in said.stdout.partition("with less, it fails:")[2]


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
    assert "failed the same way" in report
    assert "starve --memory 80M" in report
    small = (whet.folder / "whet-report" / "rows.txt").read_text()
    assert small.split() == ["big", "big"]
    assert (
        "<title>memory against time</title>"
        in (whet.folder / "whet-report" / "report.html").read_text()
    )


@pytest.mark.long
@pytest.mark.needs("prlimit")
def test_a_machine_out_of_memory_is_investigated_under_a_limit_that_is_met_at_once(
    whet: Whet,
) -> None:
    whet.write(
        "load.py",
        "import sys, time\nheld = []\nfor line in open(sys.argv[1]):\n    if 'big' in line:\n"
        "        held.append(bytearray(30_000_000))\n        time.sleep(0.15)\n",
    )
    whet.write("rows.txt", "row\n" * 20 + "big\n" * 12 + "row\n" * 20)
    command = [sys.executable, "load.py", "rows.txt"]
    done = subprocess.run(
        # As if the machine had no more than that.
        ["prlimit", "--as=300000000", sys.executable, "-m", "whet", "investigate", "--", *command],
        cwd=whet.folder, env={**os.environ, **whet.environment}, capture_output=True, check=False,
        timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = (whet.folder / "whet-report" / "report.md").read_text()
    assert re.search(r"- Python\S* \(pid \d+\) grew to \d+ MiB", report, re.IGNORECASE)
    assert re.search(r"With \\?`--address-space \d+M\\?` it fails the same way, sooner", report)
    left = (whet.folder / "whet-report" / "rows.txt").read_text().split()
    assert set(left) == {"big"}
    assert len(left) <= 4


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
    assert b"whet can't enforce `--processes` here (cgroup v2: " in refused.stderr
    assert b"; cgroup v1: " in refused.stderr
