"""`whet toggle`: what becomes of a failure when a switch is turned."""

import json
import sys
from pathlib import Path

import pytest
from whet_command import Whet

RACE = """
import threading
from concurrent.futures import ThreadPoolExecutor

others, done = threading.Event(), []


def work(number):
    if number == 0:
        others.wait(0.2)
    else:
        others.set()
    done.append(number)


with ThreadPoolExecutor(4) as pool:
    list(pool.map(work, range(4)))
assert done[0] == 0, "out of order"
"""
SEGMENTATION = "import ctypes\n\ndef look():\n    ctypes.string_at(1)\n\nlook()\n"
NEEDS_TWO = """
import os
assert os.environ.get("OMP_NUM_THREADS") == "1" and os.environ.get("PYTHONHASHSEED") == "0"
"""
NEEDS_THREADS = """
import os
assert os.environ.get("OMP_NUM_THREADS") == "1", "many threads"
"""


def rows(whet: Whet, text: str, *words: str) -> dict[str, dict[str, object]]:
    whet.write("main.py", text)
    said = whet("toggle", "--json", *words, "--", sys.executable, "main.py")
    assert said.code == 0, said.stderr
    return {row["name"]: row for row in json.loads(said.stdout)["toggles"]}


def test_a_race_of_a_pool_is_gone_with_one_thread(whet: Whet) -> None:
    found = rows(whet, RACE, "one-thread", "debug-malloc")

    assert (found["one-thread"]["effect"], found["one-thread"]["took"]) == ("gone", True)
    assert (found["debug-malloc"]["effect"], found["debug-malloc"]["took"]) == ("same", True)


def test_a_crash_is_the_same_where_python_itself_says_in_which_line(whet: Whet) -> None:
    found = rows(whet, SEGMENTATION, "dev-mode")["dev-mode"]

    assert (found["effect"], found["failures"]) == ("same", 1)
    assert "main.py:4" in str(found["summary"])


def test_what_nothing_in_the_program_reads_did_not_take(whet: Whet) -> None:
    found = rows(whet, "assert not 1\n", "asyncio-debug", "import-times", "jax-debug-nans")

    assert [row["took"] for row in found.values()] == [False, True, False]
    assert {row["effect"] for row in found.values()} == {"same"}


def test_a_switch_took_where_a_library_that_reads_it_was_imported(whet: Whet) -> None:
    found = rows(whet, "import asyncio\nassert not 1\n", "asyncio-debug")

    assert found["asyncio-debug"]["took"] is True


def test_whether_a_switch_took_is_not_known_of_a_program_that_was_killed(whet: Whet) -> None:
    text = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"

    assert rows(whet, text, "asyncio-debug")["asyncio-debug"]["took"] is None


NOW_AND_THEN = """
import random
import sys
import time
from pathlib import Path

count = Path(sys.argv[1])
number = int(count.read_text()) if count.exists() else 0
count.write_text(str(number + 1))
time.sleep(float(sys.argv[2]))
assert number >= int(sys.argv[3]) and random.Random(number).random() < 0.5, "the cart is empty"
"""


@pytest.mark.long
@pytest.mark.parametrize(("seconds", "alike"), [(0, 10), (0.4, 3)], ids=["quick", "slow"])
def test_a_failure_that_goes_away_also_without_a_switch_is_gone_with_none(
    whet: Whet, tmp_path: Path, seconds: float, alike: int
) -> None:
    whet.write("main.py", NOW_AND_THEN)
    count = str(tmp_path / "count")
    words = ("--", sys.executable, "main.py", count, str(seconds), str(alike))
    said = whet("toggle", "--json", "hash-seed", "dev-mode", "import-times", *words)

    told = json.loads(said.stdout)
    assert [row["effect"] for row in told["toggles"] if row["effect"] == "gone"] == []
    assert told["failures"] < told["runs"]
    assert told["runs"] > 10


NOW_AND_THEN_WITH_ONE_THREAD = """
import os
import sys
from pathlib import Path

count = Path(sys.argv[1])
number = int(count.read_text()) if count.exists() else 0
is_one = os.environ.get("OMP_NUM_THREADS") == "1"
count.write_text(str(number + is_one))
assert is_one and number % 2 == 0, "the cart is empty"
"""


@pytest.mark.parametrize("wish", [(), ("--smallest",)])
def test_what_a_switch_changes_only_sometimes_is_not_gone_and_comes_to_an_end(
    whet: Whet, tmp_path: Path, wish: tuple[str, ...]
) -> None:
    whet.write("main.py", NOW_AND_THEN_WITH_ONE_THREAD)
    words = ("--", sys.executable, "main.py", str(tmp_path / "count"))
    told = json.loads(whet("toggle", "--json", *wish, "one-thread", *words).stdout)

    if wish:
        assert told["smallest"]["toggles"] == []
    else:
        (row,) = told["toggles"]
        assert (row["effect"], row["failures"], row["runs"]) == ("rarer", 1, 2)
    assert told["failures"] == told["runs"]


@pytest.mark.long
def test_a_failure_that_comes_once_and_never_again_is_no_error_of_the_search(
    whet: Whet, tmp_path: Path
) -> None:
    whet.write("main.py", NOW_AND_THEN.replace(" and random.Random(number).random() < 0.5", ""))
    words = ("--", sys.executable, "main.py", str(tmp_path / "count"), "0.4", "3")
    said = whet("toggle", "--json", "hash-seed", *words)

    assert said.code == 0, said.stderr
    told = json.loads(said.stdout)
    assert (told["failures"], told["runs"]) == (3, 14)


SHARED = """
import os, {imported}
seen = []
def look(number):
    seen.append(os.getpid())
    return number * 2
if __name__ == "__main__":
    with {pool} as pool:
        assert list(pool.map(look, range(4))) == [0, 2, 4, 6]
    assert seen == [os.getpid()] * 4, "what the workers have seen is not here"
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("imported", "pool"),
    [
        ("multiprocessing", "multiprocessing.Pool(2)"),
        ("multiprocessing", "multiprocessing.get_context('spawn').Pool(processes=2)"),
        ("multiprocessing.pool", "multiprocessing.pool.Pool(2, os.getpid, (), 3)"),
        ("concurrent.futures", "concurrent.futures.ProcessPoolExecutor(2)"),
        ("concurrent.futures", "concurrent.futures.ProcessPoolExecutor(initializer=os.getpid)"),
    ],
)
def test_pools_of_processes_work_in_the_process_itself(
    whet: Whet, imported: str, pool: str
) -> None:
    text = SHARED.format(imported=imported, pool=pool)

    assert rows(whet, text, "one-process")["one-process"]["effect"] == "gone"


def test_an_error_in_a_pool_that_works_in_the_process_itself_is_the_same(whet: Whet) -> None:
    text = """
import concurrent.futures
def fail(number):
    return 1 / number
if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(list(pool.map(fail, [1, 0])))
"""
    assert rows(whet, text, "one-process")["one-process"]["effect"] in {"same", "clearer"}


@pytest.mark.long
def test_pools_of_processes_have_one_process(whet: Whet) -> None:
    text = """
import multiprocessing, concurrent.futures
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        first = pool._processes
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert (first, pool._max_workers) == (1, 1), (first, pool._max_workers)
"""
    assert rows(whet, text, "one-process")["one-process"]["effect"] == "gone"


@pytest.mark.long
def test_the_fewest_switches_that_change_a_failure_are_found(whet: Whet) -> None:
    whet.write("main.py", NEEDS_TWO)

    said = whet("toggle", "--smallest", "--json", "--", sys.executable, "main.py")

    assert sorted(json.loads(said.stdout)["smallest"]["toggles"]) == ["hash-seed", "one-thread"]


def test_that_no_switch_changes_a_failure_is_said(whet: Whet) -> None:
    whet.write("main.py", "assert not 1\n")

    said = whet("toggle", "--smallest", "--", sys.executable, "main.py")

    assert "with all of them together it fails the same way" in said.stdout


@pytest.mark.long
def test_the_most_simplifying_switches_under_which_it_still_fails_are_found(whet: Whet) -> None:
    whet.write("main.py", NEEDS_THREADS)

    said = whet("toggle", "--simplify", "--json", "--", sys.executable, "main.py")

    found = json.loads(said.stdout)["simplest"]
    assert found["left_out"] == ["one-thread"]
    assert {"cuda-sync", "cpu", "no-workers", "one-process"} <= set(found["toggles"])


OTHERWISE = """
import os
if os.environ.get("OMP_NUM_THREADS") == "1":
    raise KeyError("threads")
raise ValueError("anything")
"""


def test_each_switch_is_kept_or_refused_with_its_reason(whet: Whet) -> None:
    whet.write("main.py", "import os\nassert os.environ.get('TOKENIZERS_PARALLELISM')\n")
    said = whet("toggle", "--simplify", "--", sys.executable, "main.py")

    rows = [line for line in said.stdout.splitlines() if line.startswith("  ")]
    reasons = {name: rest.strip() for name, _, rest in (row.strip().partition(" ") for row in rows)}
    assert reasons["hash-seed"].startswith("kept: the failure stays")
    assert reasons["jax-no-jit"] == "no effect: nothing in the program reads it (jax isn't loaded)"
    assert reasons["no-tokenizer-threads"].startswith("refused: the command passes with it")


@pytest.mark.long
def test_a_second_search_says_what_the_program_reads_as_well(whet: Whet) -> None:
    whet.write("main.py", "assert not 1\n")
    command = ("toggle", "--simplify", "--json", "--", sys.executable, "main.py")
    fates = [
        {
            each["name"]: each["fate"]
            for each in json.loads(whet(*command).stdout)["simplest"]["choices"]
        }
        for _ in range(3)
    ]

    assert fates[0]["jax-no-jit"] != "kept"
    assert fates[1:] == fates[:1] * 2


@pytest.mark.long
def test_a_switch_with_which_it_fails_otherwise_is_refused(whet: Whet) -> None:
    whet.write("main.py", OTHERWISE)
    said = whet("toggle", "--simplify", "--json", "--", sys.executable, "main.py")

    found = json.loads(said.stdout)["simplest"]
    (choice,) = [each for each in found["choices"] if each["name"] == "one-thread"]
    assert choice["fate"] == "otherwise"
    assert "KeyError" in choice["summary"]


def test_the_simplest_setting_has_a_line_that_was_run(whet: Whet) -> None:
    whet.write("main.py", "assert not 1\n")
    said = whet("toggle", "--simplify", "--json", "--", sys.executable, "main.py")

    found = json.loads(said.stdout)["simplest"]
    assert "PYTHONHASHSEED=0" in found["line"]
    assert found["line_complaint"] == ""
    assert found["line_trial"]


@pytest.mark.parametrize(
    ("words", "value", "step"),
    [
        (("one-tread",), "one-tread", "one-thread"),
        (("--smallest", "--simplify"), "--smallest", "one after the other"),
    ],
)
def test_what_says_nothing_is_refused(
    whet: Whet, words: tuple[str, ...], value: str, step: str
) -> None:
    said = whet("toggle", *words, "--", sys.executable, "-c", "assert not 1")

    assert said.code == 64
    assert value in said.stderr
    assert step in said.stderr


def test_a_command_that_passes_has_nothing_to_toggle(whet: Whet) -> None:
    assert "does not fail" in whet("toggle", "--", sys.executable, "-c", "pass").stderr


def test_switches_of_ones_own_stand_in_the_settings(whet: Whet) -> None:
    whet.write("whet.toml", '[toggles.no-cache]\nvariables = { APP_CACHE = "0" }\n')
    assert "APP_CACHE" in whet("settings", "--agree").stdout

    found = rows(whet, 'import os\nassert os.environ.get("APP_CACHE") == "0"\n', "no-cache")

    assert found["no-cache"]["effect"] == "gone"


@pytest.mark.long
def test_a_switch_of_a_project_is_used_once_the_user_has_agreed_to_it(whet: Whet) -> None:
    text = '[toggles.no-cache]\nvariables = { APP_CACHE = "0" }\n'
    program = (sys.executable, "-c", "import os; assert 'APP_CACHE' in os.environ")
    whet.write("whet.toml", text)

    refused = whet("toggle", "no-cache", "--", *program)
    assert refused.code == 64
    assert "`whet settings --agree`" in refused.stderr
    assert "doesn't use them until you agree" in whet("settings").stderr
    assert json.loads(whet("settings", "--json").stdout)["agreed"] is False
    assert "until you agree to them" in whet("toggle", "--", *program).stderr

    whet("settings", "--agree")
    assert json.loads(whet("settings", "--json").stdout)["agreed"] is True
    assert whet("toggle", "no-cache", "--", *program).code == 0

    whet.write("whet.toml", text.replace('"0"', '"1"'))
    assert whet("toggle", "no-cache", "--", *program).code == 64


def test_a_switch_in_the_users_own_settings_needs_no_word(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "config" / "whet").mkdir(parents=True)
    (tmp_path / "config" / "whet" / "settings.toml").write_text(
        '[toggles.no-cache]\nvariables = { APP_CACHE = "0" }\n'
    )
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    program = (sys.executable, "-c", "import os; assert os.environ.get('APP_CACHE') == '0'")

    assert whet("toggle", "no-cache", "--", *program, environment=environment).code == 0


@pytest.mark.parametrize("line", ['variable = { A = "1" }', "variables = 1", 'signs = "a"'])
def test_a_switch_that_cannot_be_read_is_named(whet: Whet, line: str) -> None:
    whet.write("whet.toml", f"[toggles.no-cache]\n{line}\n")

    said = whet("toggle", "--list")

    assert said.code == 78
    assert "no-cache" in said.stderr


def test_the_list_has_what_is_turned_by_name_only(whet: Whet) -> None:
    told = json.loads(whet("toggle", "--list", "--json").stdout)["toggles"]

    amplifying = {each["name"] for each in told if each["amplifies"]}
    assert {"sleeps", "one-core", "rr-chaos"} <= amplifying
    assert "for `whet repeat --amplify`, or by name" in whet("toggle", "--list", "sleeps").stdout


def test_the_one_device_is_the_first_that_the_user_allows(whet: Whet) -> None:
    allowed = {"CUDA_VISIBLE_DEVICES": "3,5"}
    said = whet("toggle", "--list", "--json", "one-device", environment=allowed)

    (row,) = json.loads(said.stdout)["toggles"]
    assert row["variables"]["CUDA_VISIBLE_DEVICES"] == "3"


def test_the_same_error_with_other_advice_is_the_same_failure(whet: Whet) -> None:
    whet.write(
        "main.py",
        "import os\n"
        "asks = '' if os.environ.get('CUDA_LAUNCH_BLOCKING') else '\\nFor debugging, turn a switch.'\n"
        "raise RuntimeError('CUDA error: initialization error' + asks)\n",
    )

    said = whet("toggle", "--json", "cuda-sync", "--", sys.executable, "main.py")

    (turned,) = json.loads(said.stdout)["toggles"]
    assert turned["effect"] == "same"
