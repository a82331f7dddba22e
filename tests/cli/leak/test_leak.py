"""What piles up with each repetition is named with its holder and its line; what doesn't isn't."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from whet_command import Said, Whet

SPECIMENS = Path(__file__).parents[3] / "specimens" / "leaks"
PYTHON = sys.executable
pytestmark = pytest.mark.slow
FILLS = """\
import random

table = {}
chance = random.Random(1)
for number in range(1800):
    table.setdefault(chance.randrange(900), bytes(2000))
"""


BUILDS = """\
def clean(count):
    rows = []
    for number in range(count):
        rows.append([number] * 100)
    return rows


clean(400)
"""


def found(said: Said) -> Any:
    assert said.code == 0, said.stderr
    return json.loads(said.stdout)


def leak(whet: Whet, specimen: str, *words: str) -> Any:
    whet.write("prog.py", (SPECIMENS / specimen).read_text())
    return found(whet("leak", "--json", *words, "--", PYTHON, "prog.py"))


def line_of(specimen: str, part: str) -> int:
    lines = (SPECIMENS / specimen).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if part in line)


def test_a_list_that_grows_is_named_with_the_lines_that_make_and_fill_it(whet: Whet) -> None:
    told = leak(whet, "growing/list_kept.py")
    assert (told["verdict"], told["growing"], told["is_python"]) == ("leak", ["memory"], True)
    slope = told["slopes"]["memory"]
    assert 600 * 8 - 100 < slope["low"] <= slope["high"] < 600 * 8 + 600
    (holder,) = told["holders"]
    assert (holder["name"], holder["type"], holder["item"]) == ("history", "list", "array.array")
    assert holder["line"] == line_of("growing/list_kept.py", "history = []")
    (fill,) = holder["filled"]
    assert fill["line"] == line_of("growing/list_kept.py", "history.append")


def test_a_cache_that_fills_up_is_no_leak(whet: Whet) -> None:
    told = leak(whet, "steady/cache.py")
    assert (told["verdict"], told["growing"], told["holders"]) == ("none", [], [])
    assert len(told["trials"]) == 1  # nothing to look at more closely


@pytest.mark.long
def test_a_table_that_random_keys_fill_is_said_to_fill_up(whet: Whet) -> None:
    whet.write("prog.py", FILLS)
    said = whet("leak", "--", PYTHON, "prog.py")
    assert said.stdout.startswith("PROBABLY NO LEAK: each round of the loop prog.py:"), said.stdout
    assert "at this pace it ends at about" in said.stdout
    assert "`table` (dict" in said.stdout
    assert "until it ends, or for 1 min 0 s (`--budget`)" in said.stderr  # before it runs
    assert "whet runs the program again, up to round" in said.stderr


@pytest.mark.long
def test_a_list_that_the_function_of_the_loop_returns_is_a_result(whet: Whet) -> None:
    whet.write("prog.py", BUILDS)
    said = whet("leak", "--loop", "prog.py:3", "--", PYTHON, "prog.py")
    assert said.stdout.startswith("A RESULT GROWS: each round of the loop prog.py:3 (in clean)")
    assert "to `rows`, which `clean` returns" in said.stdout
    assert "whet leak --call prog.py:clean -- COMMAND" in said.stdout
    told = found(whet("leak", "--json", "--call", "prog.py:clean", "--", PYTHON, "prog.py"))
    assert told["verdict"] == "none"


@pytest.mark.long
def test_native_memory_is_told_from_python_objects(whet: Whet) -> None:
    told = leak(whet, "growing/extension.py")
    assert (told["verdict"], told["is_python"], told["holders"]) == ("leak", False, [])
    assert told["slopes"]["memory"]["best"] == pytest.approx(5008, abs=16)


ENCODER = """\
import ctypes

take = ctypes.pythonapi.PyMem_RawMalloc
take.restype, take.argtypes = ctypes.c_void_p, [ctypes.c_size_t]


def encode(size):
    return take(size)


def main():
    for _ in range(300):
        encode(5000)


main()
"""


@pytest.mark.long
def test_the_line_that_takes_native_memory_is_named_with_its_blocks(whet: Whet) -> None:
    pytest.importorskip("memray")
    whet.write("prog.py", ENCODER)
    said = whet("leak", "--", PYTHON, "prog.py")

    assert said.stdout.startswith("LEAK: each round of the loop prog.py:12 (in main) adds 5.0 kB")
    (line,) = [each for each in said.stdout.splitlines() if "(memray)" in each]
    assert line.startswith("  1.5 MB in 300 blocks are allocated at prog.py:8")
    assert "and still held at the peak (memray): return take(size)" in line
    assert "next: free what is allocated there" in said.stdout


@pytest.mark.long
def test_open_files_and_threads_are_counted(whet: Whet) -> None:
    files = leak(whet, "growing/descriptors.py")
    assert "descriptors" in files["growing"]
    assert files["slopes"]["descriptors"]["best"] == pytest.approx(1)
    assert files["holders"][0]["name"] == "opened"
    threads = leak(whet, "growing/threads.py")
    assert "threads" in threads["growing"]
    assert threads["threads"][0][3] == "Event.wait"


@pytest.mark.long
def test_a_call_is_repeated_in_copies_from_where_it_was_called_first(whet: Whet) -> None:
    told = leak(whet, "growing/closure.py", "--call", "prog.py:Server.handle")
    assert (told["verdict"], told["piece"]["kind"]) == ("leak", "call")
    assert told["piece"]["function"] == "Server.handle"
    assert told["repetitions"] >= 64
    assert told["holders"][0]["name"] == "server.on_close"
    none, one, two, four, eight = (told["doubled"][each] for each in "01248")
    assert none < one / 4
    assert one < two < four < eight
    assert eight - four == pytest.approx(4 * told["slopes"]["memory"]["best"], rel=0.25)
    assert leak(whet, "steady/closure.py", "--call", "prog.py:Server.handle")["verdict"] == "none"


@pytest.mark.long
def test_the_body_of_a_single_test_is_repeated(whet: Whet) -> None:
    whet.write(
        "test_pool.py",
        "import pytest\nKEPT = {}\n@pytest.fixture\ndef pool():\n    return KEPT\n"
        "def test_reuse(pool):\n    pool[len(pool)] = bytearray(4000)\n    assert pool\n",
    )
    said = whet("leak", "--json", "--", PYTHON, "-m", "pytest", "-q", "test_pool.py::test_reuse")
    told = found(said)
    assert (told["verdict"], told["piece"]["function"]) == ("leak", "test_reuse")
    assert told["holders"][0]["name"] == "KEPT"


@pytest.mark.long
def test_the_answer_comes_first_and_ends_with_the_next_step(whet: Whet) -> None:
    text = (SPECIMENS / "growing/list_kept.py").read_text()
    # The main module gets a second name by it.
    whet.write("prog.py", text.replace("import array", "import array, multiprocessing"))
    said = whet("leak", "--exit-verdict", "--", PYTHON, "prog.py")
    lines = said.stdout.splitlines()
    assert said.code == 1
    assert lines[0].startswith("LEAK: each round of the loop prog.py:16 (in main) adds 5.")
    assert "prog.py:5 `history` (list, global of __main__) gains" in lines[1]
    assert lines[2].strip() == "filled at prog.py:10: history.append(gradients)"
    assert lines[-1].startswith("next: empty `history`, give it a bound")
    assert said.stdout.count("\n\n") == 2
    assert "1197600" not in said.stdout  # what the program prints is in its trial


SECTIONS = """
import whet
kept, log = [], ""
for number in range(40):
    with whet.section("load"):
        rows = [number] * 100
    with whet.section("train step"):
        kept.append(bytearray(2000))
"""


@pytest.mark.long
def test_the_runs_of_a_section_are_measured(whet: Whet) -> None:
    whet.write("prog.py", SECTIONS)
    run = ("--", PYTHON, "prog.py")
    told = found(whet("leak", "--json", "--section", "train step", *run))
    assert (told["verdict"], told["piece"]["kind"]) == ("leak", "section")
    assert told["slopes"]["memory"]["best"] == pytest.approx(2090, abs=100)
    assert told["holders"][0]["name"] == "kept"
    said = whet("leak", "--section", "train stp", *run)
    assert (said.code, "its sections are `train step`" in said.stderr) == (66, True)


ANEW = """
import contextvars
trail = contextvars.ContextVar("trail", default=())
log = ""
for number in range(80):
    log = log + "line of the log %d " % number * 10
    trail.set(trail.get() + (number,))
"""


@pytest.mark.long
def test_a_value_that_is_replaced_by_a_larger_one_is_named(whet: Whet) -> None:
    whet.write("prog.py", ANEW)
    told = found(whet("leak", "--json", "--", PYTHON, "prog.py"))
    assert told["verdict"] == "leak"
    assert [each["name"] for each in told["holders"]] == ["log", "trail"]
    assert [each["item"] for each in told["holders"]] == ["character", "item"]


ATTRIBUTES = """
class Log:
    seen = bytearray()
    def __init__(self):
        self.text = ""
    def add(self):
        self.text += "abc" * 300
        Log.seen.extend(b"x" * 900)

def main():
    log = Log()
    for number in range(400):
        log.add()

main()
"""


@pytest.mark.long
def test_a_value_that_grows_in_an_attribute_is_named(whet: Whet) -> None:
    whet.write("prog.py", ATTRIBUTES)
    told = found(whet("leak", "--json", "--", PYTHON, "prog.py"))
    assert told["verdict"] == "leak"
    assert {each["name"] for each in told["holders"]} == {"log.text", "Log.seen"}


ITERATOR = """
def step(batches):
    for batch in batches:
        kept.append(bytearray(9000))

kept = []
step(iter(map(str, range(3))))
"""
RAISES = """
seen = []
def step():
    if seen:
        raise ValueError("only once")
    seen.append(1)
step()
"""
THREAD = """
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True, name="poller").start()
kept = []
def step():
    kept.append(bytearray(5000))
step()
"""


def test_an_argument_that_the_first_call_uses_up_leaves_the_answer_open(whet: Whet) -> None:
    whet.write("prog.py", ITERATOR)
    told = found(whet("leak", "--json", "--call", "prog.py:step", "--", PYTHON, "prog.py"))
    assert told["verdict"] == "unsure"
    assert any("uses up `batches (map)`" in note for note in told["notes"])


def test_a_call_that_raises_the_second_time_is_told_so(whet: Whet) -> None:
    whet.write("prog.py", RAISES)
    told = found(whet("leak", "--json", "--call", "prog.py:step", "--", PYTHON, "prog.py"))
    assert told["verdict"] == "unsure"
    assert told["notes"] == ["call 2 raises ValueError: only once"]


@pytest.mark.long
def test_a_program_with_a_thread_repeats_the_call_itself(whet: Whet) -> None:
    whet.write("prog.py", THREAD)
    told = found(whet("leak", "--json", "--call", "prog.py:step", "--", PYTHON, "prog.py"))
    assert told["verdict"] == "leak"
    assert told["holders"][0]["name"] == "kept"
    assert any("the thread `poller` runs" in note for note in told["notes"])


def test_what_cannot_be_repeated_is_an_error_with_a_next_step(whet: Whet) -> None:
    whet.write("prog.py", "def step():\n    pass\ndef unused():\n    pass\nstep()\n")
    run = ("--", PYTHON, "prog.py")
    said = whet("leak", "--call", "prog.py:stp", *run)
    assert (said.code, "did you mean `step`?" in said.stderr) == (66, True)
    said = whet("leak", "--call", "prog.py:unused", *run)
    assert (said.code, "never calls `prog.py:unused`" in said.stderr) == (66, True)
    said = whet("leak", "--call", "prog.py:step", "--nth", "9", *run)
    assert (said.code, "is called fewer than 9 times" in said.stderr) == (66, True)
    said = whet("leak", "--loop", "prog.py:2", *run)
    assert (said.code, "line 2 of `prog.py` begins no loop" in said.stderr) == (66, True)
    said = whet("leak", "--loop", "nonsense", *run)
    assert (said.code, "isn't a file and a line" in said.stderr) == (64, True)
    said = whet("leak", "--", "true")
    assert (said.code, "runs no Python" in said.stderr) == (64, True)


@pytest.mark.long
def test_without_a_loop_the_last_call_of_the_script_is_repeated(whet: Whet) -> None:
    whet.write("prog.py", "kept = []\ndef main():\n    kept.append(bytearray(9000))\nmain()\n")
    told = found(whet("leak", "--json", "--", PYTHON, "prog.py"))
    assert (told["verdict"], told["piece"]["function"]) == ("leak", "main")
    assert any("no loop of yours runs 8 times" in note for note in told["notes"])


def test_a_loop_of_a_package_beside_the_program_is_not_the_programs(whet: Whet) -> None:
    whet.write(
        "vendor/registry.py",
        "known = []\nfor number in range(400):\n    known.append(bytes(9000))\n"
        "    for _ in range(2000):\n        pass\n",
    )
    whet.write("vendor/registry-1.0.dist-info/RECORD", "registry.py,sha256=x,1\n")
    whet.write("prog.py", f"import registry\n{(SPECIMENS / 'growing/list_kept.py').read_text()}")
    vendored = f"PYTHONPATH={whet.folder / 'vendor'}"

    told = found(whet("leak", "--json", "--env", vendored, "--", PYTHON, "prog.py"))

    assert told["piece"]["path"].endswith("prog.py")
