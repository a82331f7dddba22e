"""`whet profile`: which lines the time goes to, kept with the trial."""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from whet_command import Whet

from whet.core.errors import ProfilerForbidden
from whet.host.inspect.stacks import find_spy

PROFILES = Path(__file__).parents[3] / "specimens" / "profiles"
WAITS = str(PROFILES / "waits.py")
FORBID = Path(__file__).parents[1] / "forbidden_call.py"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spy() is None, reason="py-spy isn't installed: `pip install py-spy`"),
]


def test_the_line_that_computes_and_the_line_that_waits_are_named_and_kept(whet: Whet) -> None:
    said = whet("profile", "--once", "--", sys.executable, WAITS, "0.5", "1.2")

    assert said.code == 3  # the program's own
    assert "exit 3" in said.stderr
    (head,) = [each for each in said.stdout.splitlines() if each.split()[:2] == ["CPU", "own"]]
    assert head.split() == ["CPU", "own", "total", "waits", "line"]
    assert "The program waits more than it computes: " in said.stdout
    assert "at waits.py:16 in wait." in said.stdout

    assert "whet profile --show 1" in whet("show", "1").stdout
    kept = whet("profile", "--show", "1").stdout
    assert kept == said.stdout
    data = json.loads(whet("profile", "--show", "1", "--json").stdout)
    assert data["schema_version"] == 1
    lines = {each["line"]: each for each in data["profiles"][0]["lines"]}
    assert lines[16]["waits"] > 0.9
    assert lines[16]["own"] < 0.2
    assert lines[16]["function"] == "wait"
    most = max(lines, key=lambda line: lines[line]["own"])
    assert lines[most]["function"] == "compute"


def test_a_profile_is_written_for_other_viewers_and_as_a_page(whet: Whet) -> None:
    refused = whet("profile", "--export", "x.png", "--", sys.executable, WAITS, "0", "0")
    assert refused.code == 64
    assert ".speedscope.json" in refused.stderr
    nowhere = whet("profile", "--html", "no/p.html", "--", sys.executable, WAITS, "0", "0")
    assert nowhere.code == 73
    assert "no trials" in whet("log").stdout + whet("log").stderr

    said = whet(
        "profile", "--once", "--html", "p.html", "--export", "p.trace.json",
        "--", sys.executable, WAITS, "0.4", "0",
    )  # fmt: skip
    assert "written to p.html" in said.stderr
    assert "<svg" in (whet.folder / "p.html").read_text("utf-8")
    events = json.loads((whet.folder / "p.trace.json").read_text("utf-8"))["traceEvents"]
    assert "compute (waits.py)" in [each["name"] for each in events]
    part = whet("profile", "--show", "last", "--capture", "waits:compute", "--json")
    (profile,) = json.loads(part.stdout)["profiles"]
    assert {each["function"].partition(".")[0] for each in profile["lines"]} == {"compute"}
    missed = whet("profile", "--show", "last", "--capture", "waits:comptue")
    assert missed.code == 66
    assert "did you mean `waits:compute`" in missed.stderr
    whet("profile", "--show", "last", "--export", "p.collapsed")
    assert "compute (" in (whet.folder / "p.collapsed").read_text("utf-8")


@pytest.mark.long
def test_a_short_program_runs_again_until_there_are_enough_samples(whet: Whet) -> None:
    whet.write("short.py", "total = sum(number * number for number in range(150_000))\n")
    said = whet("profile", "--json", "--", sys.executable, "short.py")
    data = json.loads(said.stdout)
    assert len(data["trials"]) > 1
    (profile,) = data["profiles"]
    assert profile["samples"] >= 50
    assert profile["facts"]["runs"] == len(data["trials"])
    used = [
        json.loads(whet("show", str(number), "--json").stdout)["outcome"]["cpu_seconds"]
        for number in data["trials"]
    ]
    assert profile["facts"]["cpu_seconds"] == pytest.approx(sum(used) / len(used))
    assert profile["lines"][0]["file"].endswith("short.py")


@pytest.mark.long
def test_a_child_process_behind_a_shell_is_profiled_too(whet: Whet) -> None:
    script = f"{sys.executable} {WAITS} 0.5 0; exit 5"
    said = whet("profile", "--once", "--json", "--", "sh", "-c", script)
    assert said.code == 5
    (profile,) = json.loads(said.stdout)["profiles"]
    assert profile["engine"].startswith("py-spy")
    assert profile["lines"][0]["function"] == "compute"


@pytest.mark.long
def test_all_ranks_of_a_job_are_in_one_profile_and_the_straggler_is_named(whet: Whet) -> None:
    ranks = str(PROFILES / "ranks.py")
    said = whet("profile", "--once", "--json", "--html", "p.html", "--", sys.executable, ranks, "3")
    (profile,) = json.loads(said.stdout)["profiles"]
    assert sorted(each["rank"] for each in profile["processes"] if "rank" in each) == [0, 1, 2]
    (sentence,) = [each for each in profile["sentences"] if "straggler" in each]
    assert sentence.startswith("Rank 2 is the straggler")
    assert "in compute" in sentence
    page = (whet.folder / "p.html").read_text("utf-8")
    assert all(f"rank {rank} main thread" in page for rank in range(3))


@pytest.mark.long
@pytest.mark.skipif(
    shutil.which("perf") is None or shutil.which("gcc") is None, reason="needs perf and gcc"
)
def test_a_program_in_another_language_is_profiled_by_perf(whet: Whet) -> None:
    whet.write(
        "hot.c",
        "__attribute__((noinline)) double hot(int n)"
        "{double s = 0; for (int i = 1; i < n; i++) s += 1.0 / i; return s;}\n"
        "int main(void) {return hot(300000000) < 0;}\n",
    )
    build = ["gcc", "-O1", "-fno-omit-frame-pointer", "-o", "hot", "hot.c"]
    subprocess.run(build, cwd=whet.folder, check=True)
    said = whet("profile", "--once", "--json", "--", "./hot")
    (profile,) = json.loads(said.stdout)["profiles"]
    assert profile["engine"].startswith("perf")
    assert profile["lines"][0]["function"] == "hot"


def test_a_program_that_is_killed_has_the_profile_so_far(whet: Whet) -> None:
    said = whet("profile", "--once", "--timeout", "1.5", "--", sys.executable, WAITS, "60", "0")
    assert said.code == 124
    assert "waits.py:11 compute" in said.stdout or "waits.py:10 compute" in said.stdout


def test_after_ctrl_c_there_is_the_profile_so_far_and_nothing_runs_on(whet: Whet) -> None:
    command = [sys.executable, "-m", "whet", "profile", "--once", "--", sys.executable, WAITS]
    process = subprocess.Popen(
        [*command, "60", "0"], cwd=whet.folder, env={**os.environ, **whet.environment}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    spies = wait_for_spies(process.pid)
    time.sleep(0.5)  # something to profile
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)
    assert "compute" in stdout
    assert not [pid for pid in spies if Path(f"/proc/{pid}").exists()]


def wait_for_spies(pid: int) -> list[int]:
    """Return the profilers of a whet as soon as both are there."""
    while True:
        found: list[int] = []
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(
                FileNotFoundError, ProcessLookupError
            ):  # a thread or child that ended meanwhile
                for child in (task / "children").read_text().split():
                    with suppress(FileNotFoundError, ProcessLookupError):
                        words = Path(f"/proc/{child}/cmdline").read_bytes()
                        found += [int(child)] if b"py-spy" in words else []
        if len(found) == 2:
            return found
        time.sleep(0.05)


def test_a_trial_without_a_profile_says_how_to_get_one(whet: Whet) -> None:
    whet("run", "--", "true")
    said = whet("profile", "--show", "1")
    assert said.code == 66
    assert "trial 1 wasn't profiled" in said.stderr
    assert "whet profile -- COMMAND" in said.stderr


@pytest.mark.skipif(
    shutil.which("perf") is None or platform.machine() != "x86_64",
    reason="needs perf, and the call's number is that of x86_64",
)
def test_a_profiler_that_a_container_forbids_is_named_with_the_ways_to_get_it(whet: Whet) -> None:
    perf_event_open = "298"
    done = subprocess.run(
        [sys.executable, str(FORBID), perf_event_open, "EPERM", sys.executable, "-m", "whet",
         "profile", "--", "sh", "-c", "exit 3"],
        cwd=whet.folder, env={**os.environ, **whet.environment}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip

    assert done.returncode == ProfilerForbidden.exit_code
    assert "trial 1 ran, but it has no profile: the system forbids" in done.stderr
    assert "exit 3" in whet("log").stdout
    page = whet("explain", "profiler-forbidden").stdout
    for way in ("root", "ptrace_scope", "SYS_PTRACE", "perf_event_paranoid", "PERFMON"):
        assert way in page


@pytest.mark.long
def test_lines_in_files_whose_names_a_profiler_cannot_read_are_said_to_be_left_out(
    whet: Whet,
) -> None:
    folder = whet.folder / os.fsdecode(b"f\xf6lder")
    folder.mkdir()
    (folder / "main.py").write_text("for number in range(20_000_000):\n    number * number\n")
    start = whet.write("start.py", "import os, runpy\nrunpy.run_path(os.path.abspath('main.py'))\n")
    command = [sys.executable, str(start)]
    said = replace(whet, folder=folder)("profile", "--once", "--", *command)
    assert "main.py" not in said.stdout
    assert "whose name isn't UTF-8: its time stands at the line that called it" in said.stdout
    said = replace(whet, folder=folder)("profile", "--once", "--memory", "--", *command)
    assert "take only names that are UTF-8" in said.stderr
    assert "mend that first" not in said.stderr


def test_without_a_profiler_the_trial_is_recorded_and_the_package_is_named(
    whet: Whet, tmp_path: Path
) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    (empty / "program").symlink_to("/bin/true")
    whet.environment["PATH"] = str(empty)
    said = whet("profile", "--", "program")
    assert said.code == 69
    assert "perf is not installed: `apt-get install linux-perf`" in said.stderr
    assert "exit 0" in whet("log").stdout
