"""`whet syscalls`: which call failed, on which file, from which Python line."""

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from room_users import ORDINARY, user
from whet_command import Said, Whet

from whet.cli.main import run_cli
from whet.host.kernel.seccomp import why_not

CALLS = Path(__file__).parents[3] / "specimens" / "system_calls"

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture
def inside(
    whet: Whet, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """Call whet in this process: nothing has to be started for what starts nothing."""
    monkeypatch.chdir(whet.folder)

    def call(*words: str) -> Said:
        capfd.readouterr()
        code = run_cli(words)
        said = capfd.readouterr()
        return Said(code, said.out, said.err)

    return call


def first(said: str) -> str:
    """Return what is said of the first failing call."""
    return said.split("\n\n")[1]


def test_a_file_that_no_message_names_is_told_with_the_line_that_wanted_it(
    whet: Whet, inside: Callable[..., Said]
) -> None:
    said = whet("syscalls", "--", sys.executable, str(CALLS / "swallowed.py"))

    assert said.code == 1
    told = first(said.stdout)
    assert told.startswith(f"openat {whet.folder}/config/train.yml: No such file or directory")
    assert f"at {CALLS}/swallowed.py:8 in read" in told
    assert "the program calls it config/train.yml" in told
    assert f"{whet.folder} is there, nothing below it on that path" in told
    assert "RuntimeError: failed to load the settings" in said.stderr

    shown = inside("show").stdout
    assert "--- system calls" in shown
    assert told.splitlines()[0] in shown
    kept = json.loads(inside("show", "--json").stdout)["system_calls"]
    assert kept["failures"][0]["path"] == f"{whet.folder}/config/train.yml"

    again = whet("syscalls", "1", "--json")
    report = json.loads(again.stdout)
    assert report["schema_version"] == 1
    assert report["trial"]["trial"] == 2
    lines = [each["line"] for each in report["failures"][0]["frames"] if each["in_user_code"]]
    assert lines[-1] == 8


def test_a_run_that_passes_teaches_what_to_leave_out(
    whet: Whet, inside: Callable[..., Said]
) -> None:
    whet.write(
        "main.py",
        "import sys\n"
        "def look(path):\n"
        "    try: open(path)\n"
        "    except OSError: pass\n"
        "look('optional.yml')\n"
        "if sys.argv[1] == 'bad': look('needed.csv'); raise SystemExit('no')\n",
    )
    good = f"{sys.executable} main.py good"

    said = whet("syscalls", "--good", good, "--", sys.executable, "main.py", "bad").stdout
    assert f"openat {whet.folder}/needed.csv: No such" in said
    assert "optional.yml" not in said
    # How often Python itself fails in this is its own affair.
    assert re.search(rf"[1-9] kinds? known from `{re.escape(good)}` \(`--good`\), trial 1", said)

    kept = whet("syscalls", "--good-trial", "last~1", "2").stdout
    assert "needed.csv" in kept
    assert "optional.yml" not in kept

    refused = inside("syscalls", "--good-trial", "2", "--", "true")
    assert refused.code == 64
    assert "whet can't learn from trial 2: it doesn't pass" in refused.stderr


def test_a_full_file_system_is_told_as_it_was_when_the_call_failed() -> None:
    with user("root" if os.geteuid() == 0 else "ordinary") as ada:
        place = ada.folder / "spill"
        place.mkdir()
        script = str(CALLS / "full_temporary.py")
        said = ada("syscalls", "--disk", f"1M:{place}", "--", ada.python, script, str(place))

    told = first(said.stdout)
    named = rf"write {re.escape(str(place))}/#\d+ \(deleted\) \(65.5 kB\): No space left on device"
    assert re.match(named, told)
    assert "full_temporary.py:12 in spill" in told
    assert f"on tmpfs mounted at {place}" in told
    assert re.search(r"with 0 B( and \d+ files)? free of 1.0 MB at that moment", told)


def test_too_many_files_are_told_by_what_they_are(whet: Whet) -> None:
    said = whet("syscalls", "--", sys.executable, str(CALLS / "leaking.py"), ".")

    told = first(said.stdout)
    assert "shard-" in told.splitlines()[0]
    assert "Too many open files (EMFILE)" in told.splitlines()[0]
    # At the agent's own descriptor the program stops one earlier than by itself.
    held = r"it held 6[345] descriptors, 64 is its limit: \d\d of \S*/shard-\*.bin"
    assert re.search(held, told)


def test_who_owns_what_may_not_be_read_is_told() -> None:
    with user("ordinary") as ada:
        said = ada("syscalls", "--", ada.python, "-c", "open('/etc/shadow')")

    told = first(said.stdout)
    assert told.startswith("openat /etc/shadow: Permission denied (EACCES)")
    asker = ORDINARY if os.geteuid() == 0 else os.geteuid()
    assert f"/etc/shadow is -rw-r----- root:shadow, asked by {asker}" in told


def test_injected_failures_are_seen_too(whet: Whet) -> None:
    said = whet(
        "syscalls", "--fail", "write:EIO@1:*out", "--", sys.executable, "-c",
        "open('out', 'wb', 0).write(b'abc')",
    )  # fmt: skip

    assert first(said.stdout).startswith(f"write {whet.folder}/out (3 B): Input/output error (EIO)")


def test_what_is_followed_under_limits_is_proved_to_be_held_by_them(whet: Whet) -> None:
    whet.write("opens.py", "import os\nfor _ in range(99): os.open('/dev/null', 0)\n")
    limits = ["--memory", "100M", "--files", "40", "--cpus", "1", "--stack", "1M"]
    said = whet("syscalls", *limits, "--", sys.executable, "opens.py")
    assert said.code == 1, said
    assert first(said.stdout).startswith("openat /dev/null"), said
    assert "Too many open files" in said.stdout


def test_what_a_trial_waits_for_when_it_is_given_up_is_told(whet: Whet) -> None:
    said = whet(
        "syscalls", "--timeout", "1", "--", sys.executable, "-c",
        "import os\na, b = os.pipe()\nos.read(a, 1)",
    )  # fmt: skip

    assert re.search(r"in read pipe:\[\d+\], still under way at the end", said.stdout)


@pytest.mark.long
def test_investigate_names_the_file_that_the_message_does_not(whet: Whet) -> None:
    said = whet("investigate", "--no-changes", "--", sys.executable, str(CALLS / "swallowed.py"))

    assert f"before it failed: openat {whet.folder}/config/train.yml" in said.stdout + said.stderr
    assert "swallowed.py:8 in read" in (whet.folder / "whet-report" / "report.md").read_text()


@contextmanager
def running(whet: Whet) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program that looks for a file over and over, until there is one named `stop`."""
    whet.write(
        "loop.py",
        "import os, time\n"
        "def look():\n"
        "    try: open('/nowhere/data')\n"
        "    except OSError: pass\n"
        "print('up', flush=True)\n"
        "while not os.path.exists('stop'):\n"
        "    look(); time.sleep(0.01)\n"
        "raise SystemExit(7)\n",
    )
    process = subprocess.Popen([sys.executable, "loop.py"], cwd=whet.folder, stdout=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
            whet.write("stop", "")
            assert process.wait(20) == 7  # it goes on, and ends as ever
        finally:
            process.kill()


def following(whet: Whet, pid: int) -> "subprocess.Popen[bytes]":
    """Start to follow a process and return once that is so."""
    follower = subprocess.Popen(
        [sys.executable, "-m", "whet", "syscalls", "--pid", str(pid)],
        cwd=whet.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **whet.environment},
    )  # fmt: skip
    assert follower.stderr is not None
    assert b"following process" in follower.stderr.readline()
    return follower


def test_a_process_that_runs_is_followed_for_a_while_and_goes_on(whet: Whet) -> None:
    with running(whet) as process:
        said = whet("syscalls", "--pid", str(process.pid), "--for", "0.5")

        assert said.code == 0
        assert "openat /nowhere/data: No such file or directory (ENOENT)" in said.stdout
        assert f"{whet.folder}/loop.py:3 in look" in said.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_whoever_follows_may_be_ended_and_the_process_goes_on(
    number: signal.Signals, whet: Whet
) -> None:
    with running(whet) as process, following(whet, process.pid) as follower:
        refused = whet("syscalls", "--pid", str(process.pid))
        assert refused.code == 77
        assert (
            f"process {follower.pid} (a debugger, strace?) already follows process"
            in refused.stderr
        )

        follower.send_signal(number)
        out, _ = follower.communicate(timeout=60)
        assert follower.returncode == (0 if number is signal.SIGINT else -9)
        assert (b"calls of 1 process" in out) == (number is signal.SIGINT)


def test_a_trial_dies_with_whet_that_follows_it(whet: Whet) -> None:
    script = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-m", "whet", "syscalls", "--", sys.executable, "-c", script],
        cwd=whet.folder, stdout=subprocess.PIPE, env={**os.environ, **whet.environment},
    ) as own:  # fmt: skip
        assert own.stdout is not None
        pid = int(own.stdout.readline())
        watched = os.pidfd_open(pid)
        own.kill()

    ended, _, _ = select.select([watched], [], [], 20)
    os.close(watched)
    assert ended


def test_what_cannot_be_followed_is_refused_with_the_next_step(
    inside: Callable[..., Said],
) -> None:
    nobody = inside("syscalls", "--pid", "4194999")
    assert (nobody.code, "process 4194999 doesn't exist" in nobody.stderr) == (66, True)

    two = inside("syscalls", "1", "--", "true")
    assert (two.code, "give one of them" in two.stderr) == (64, True)

    words = inside("syscalls", "python", "main.py")
    assert words.code == 64
    assert "`whet syscalls -- python main.py`" in words.stderr

    early = inside("syscalls", "--for", "3", "--", "true")
    assert (early.code, "`--for` needs `--pid`" in early.stderr) == (64, True)

    missing = inside("syscalls", "99")
    assert "no trial 99" in missing.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user than the process's")
def test_a_process_of_another_user_is_refused(whet: Whet) -> None:
    with user("ordinary") as ada, running(whet) as process:
        said = ada("syscalls", "--pid", str(process.pid))

        assert said.code == 77
        assert f"let you follow process {process.pid}" in said.stderr


@pytest.mark.needs("strace")
def test_a_trial_that_another_follows_already_is_refused(whet: Whet) -> None:
    done = subprocess.run(
        ["strace", "-f", "-o", "/dev/null", sys.executable, "-m", "whet", "syscalls", "--", "true"],
        cwd=whet.folder, capture_output=True, check=False, timeout=100,
        env={**os.environ, **whet.environment},
    )  # fmt: skip

    assert done.returncode == 77
    assert b"whet can't follow the system calls of `true`" in done.stderr


def test_what_passes_is_run_with_the_variables_of_the_trial(whet: Whet) -> None:
    whet.write("main.py", "import os\nos.environ['TOKEN']\nopen('gone.txt')\n")
    whet.write("good.py", "import os\nos.environ['TOKEN']\n")
    whet("run", "--env", "TOKEN=1", "--", sys.executable, "main.py")
    said = whet("syscalls", "--good", f"{sys.executable} good.py")

    assert said.code == 1, said.stderr
    assert "gone.txt" in said.stdout
