"""`whet repeat --amplify` and what comes after it, as a user types it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow
RACES = Path(__file__).parents[3] / "specimens" / "races"
PYTHON = sys.executable


def amplified(whet: Whet, *words: str) -> dict[str, object]:
    # A hundred runs and more, which take minutes on a machine that is busy with others.
    said = whet("repeat", "--amplify", "--json", *words, most_seconds=500)
    assert said.code == 0, said.stderr
    found: dict[str, object] = json.loads(said.stdout)
    return found


def by_name(rows: object) -> dict[str, dict[str, object]]:
    assert isinstance(rows, list)
    return {" + ".join(row["toggles"]): row for row in rows}


@pytest.mark.long
def test_a_lost_update_is_made_frequent_its_line_is_named_and_the_trial_is_used(
    whet: Whet,
) -> None:
    shutil.copy(RACES / "lost_update.py", whet.folder)
    found = amplified(whet, "-n", "4", "--amplifier", "sleeps", "--", PYTHON, "lost_update.py")

    assert by_name(found["amplifiers"])["sleeps"]["raises"] is True
    # Between the read of the stock and its store.
    lines = {name.rpartition(":")[2] for name in by_name(found["places"])}
    assert lines & {"16", "17"}
    kept = found["kept"]
    assert isinstance(kept, dict)
    assert kept["failed"] >= 9

    again = whet("repeat", "--json", "-n", "4", "--like", str(kept["trial"]))
    assert json.loads(again.stdout)["failed"] >= 3
    assert any(whet("again", str(kept["trial"])).code == 1 for _ in range(3))
    line = whet("one-liner", str(kept["trial"])).stdout
    assert "whet run -- " in line  # nobody else turns these switches


def test_switches_of_a_trial_stay_turned_where_others_are_turned(whet: Whet) -> None:
    whet.write("main.py", "import sys\nassert sys.getswitchinterval() > 0.001\n")
    assert whet("run", "--env", "WHET_TOGGLES=switch-often", "--", PYTHON, "main.py").code == 1
    said = whet("toggle", "--json", "--like", "1", "debug-malloc")

    assert [row["effect"] for row in json.loads(said.stdout)["toggles"]] == ["same"]


@pytest.mark.long
def test_a_check_before_an_act_on_a_file_is_found_by_its_line(whet: Whet) -> None:
    shutil.copy(RACES / "check_then_act.py", whet.folder)
    found = amplified(whet, "--amplifier", "sleeps", "--", PYTHON, "check_then_act.py")

    assert {name.rpartition(":")[2] for name in by_name(found["places"])} & {"12", "14"}


def test_the_hash_seed_with_which_it_failed_makes_it_fail_each_time(whet: Whet) -> None:
    shutil.copy(RACES / "hash_order.py", whet.folder)
    found = amplified(whet, "-n", "12", "--amplifier", "hash-seed", "--", PYTHON, "hash_order.py")

    kept = found["kept"]
    assert isinstance(kept, dict)
    assert kept["toggles"][0].startswith("hash-seed=")
    assert kept["failed"] == kept["runs"]


def test_sleeps_in_the_program_make_a_lost_update_likely(whet: Whet) -> None:
    shutil.copy(RACES / "lost_update.py", whet.folder)
    codes = [
        whet("run", "--env", "WHET_TOGGLES=sleeps", "--", PYTHON, "lost_update.py").code
        for _ in range(3)
    ]

    assert 1 in codes


@pytest.mark.long
def test_a_test_case_runs_backwards_too(whet: Whet) -> None:
    whet.write(
        "test_order.py",
        "import unittest\nfilled = []\n\n\nclass Order(unittest.TestCase):\n"
        "    def test_a(self):\n        filled.append(1)\n\n"
        "    def test_b(self):\n        self.assertTrue(filled)\n",
    )
    found = amplified(
        whet, "-n", "2", "--amplifier", "reversed-tests", "--", PYTHON, "-m", "unittest", "-q"
    )

    assert by_name(found["amplifiers"])["reversed-tests"]["raises"] is True
    assert found["failed"] == 0


@pytest.mark.long
def test_another_order_of_the_tests_shows_that_one_leans_on_another(whet: Whet) -> None:
    shutil.copytree(RACES / "ordered_tests", whet.folder / "suite")
    found = amplified(
        whet, "-n", "2", "--amplifier", "reversed-tests", "--cwd", "suite", "--",
        PYTHON, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider",
    )  # fmt: skip

    assert by_name(found["amplifiers"])["reversed-tests"]["raises"] is True
    assert found["failed"] == 0


def test_what_the_program_does_not_read_is_not_tried(whet: Whet) -> None:
    whet.write("main.py", "import sys\n")
    found = amplified(
        whet, "-n", "2", "--amplifier", "shuffled-tests", "--amplifier", "many-threads",
        "--", PYTHON, "main.py",
    )  # fmt: skip

    assert found["unread"] == ["shuffled-tests", "many-threads"]
    assert (found["amplifiers"], found["kept"]) == ([], None)


def test_what_fails_each_time_needs_nothing(whet: Whet) -> None:
    whet.write("main.py", "assert not 1\n")
    said = whet("repeat", "--amplify", "-n", "3", "--", PYTHON, "main.py")

    assert said.code == 0
    assert "it fails every time" in said.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--amplify", "--until-failure"), "decides on its own when to stop"),
        (("--amplify", "--amplifier", "sleep"), "did you mean `sleeps`"),
        (("--amplifier", "sleeps"), "add `--amplify`"),
        (("--like", "7"), "no trial 7"),
    ],
)
def test_what_makes_no_sense_is_refused(whet: Whet, words: tuple[str, ...], told: str) -> None:
    said = whet("repeat", *words, "--", PYTHON, "-c", "")

    assert said.code not in {0, 70}
    assert told in said.stderr


def test_a_trial_with_an_input_of_its_own_is_none_to_run_like(whet: Whet) -> None:
    whet.write("data.txt", "x y z\n")
    assert whet("run", "--stdin", "data.txt", "--", "cat").code == 0
    said = whet("run", "--like", "1")

    assert said.code == 64
    assert "`whet again 1`" in said.stderr


def test_a_program_like_one_that_was_investigated_may_work_in_silence(whet: Whet) -> None:
    whet.write("main.py", "assert not 1\n")
    assert whet("investigate", "--", PYTHON, "main.py").code == 0
    whet("run", "--like", "1")
    trial = json.loads(whet("show", "--json").stdout)["spec"]

    assert trial.get("hangs_if_idle"), "what is silent for long and works has no hang"
    whet("run", "--like", "1", "--hang", "9")
    trial = json.loads(whet("show", "--json").stdout)["spec"]
    assert (trial["hang_seconds"], trial.get("hangs_if_idle", False)) == (9, False)


def test_ctrl_c_tells_what_is_known_by_then_and_leaves_nothing(whet: Whet) -> None:
    whet.write(
        "main.py",
        "import os, pathlib, time\n"
        "with open('runs', 'a') as file:\n    file.write('x')\n"
        "if os.path.getsize('runs') > 3:\n    pathlib.Path('now').touch()\n    time.sleep(60)\n",
    )
    running = subprocess.Popen(
        [PYTHON, "-m", "whet", "repeat", "--amplify", "--amplifier", "cpu-load", "-n", "3", "--",
         PYTHON, "main.py"],
        cwd=whet.folder, env={**os.environ, **whet.environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    gives_up_at = time.monotonic() + 60
    while not (whet.folder / "now").exists() and time.monotonic() < gives_up_at:
        time.sleep(0.01)
    busy = _children(running.pid)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)

    assert running.returncode == 75
    assert "0 of 3 runs" in out
    assert busy
    assert not [pid for pid in busy if _is_alive(pid)]


def test_a_load_ends_with_whet_even_when_that_is_killed(whet: Whet) -> None:
    whet.write("main.py", "import pathlib, time\npathlib.Path('now').touch()\ntime.sleep(60)\n")
    running = subprocess.Popen(
        [PYTHON, "-m", "whet", "run", "--cpu-load", "2", "--", PYTHON, "main.py"],
        cwd=whet.folder, env={**os.environ, **whet.environment}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    gives_up_at = time.monotonic() + 60
    while not (whet.folder / "now").exists() and time.monotonic() < gives_up_at:
        time.sleep(0.01)
    busy = [pid for pid in _children(running.pid) if "select" in _command(pid)]
    running.kill()
    running.wait()
    while any(_is_alive(pid) for pid in busy) and time.monotonic() < gives_up_at:
        time.sleep(0.01)

    assert len(busy) == 2
    assert not [pid for pid in busy if _is_alive(pid)]


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
