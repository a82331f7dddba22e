"""`whet compare` counts instructions where the machine can, and page faults on the same path."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from whet_command import Whet

from whet.core.errors import BadUsage
from whet.host.kernel.counters import INSTRUCTIONS, PAGE_FAULTS, why_not_counted

PYTHON = sys.executable
FORBID = Path(__file__).parents[1] / "forbidden_call.py"
PERF_EVENT_OPEN = "298"
TOUCHES = """\
import mmap, subprocess, sys, threading

def touch(count):
    # Small pages, one fault each: a huge page would be one fault for 512 of them.
    held = mmap.mmap(-1, count * 4096)
    held.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(count):
        held[page * 4096] = 1

count, how = int(sys.argv[1]), sys.argv[2]
if how == "child" and len(sys.argv) == 3:
    subprocess.run([sys.executable, __file__, str(count), "child", "itself"], check=True)
elif how == "thread":
    thread = threading.Thread(target=touch, args=(count,))
    thread.start()
    thread.join()
else:
    touch(count)
"""

counts_pages = pytest.mark.skipif(
    bool(why_not_counted(PAGE_FAULTS)), reason=f"page faults: {why_not_counted(PAGE_FAULTS)}"
)


def compared(whet: Whet, *words: str) -> Any:
    """Return what whet has found, as JSON."""
    said = whet("compare", "--json", *words)
    assert said.stdout, said.stderr
    return json.loads(said.stdout)


def quantity(answer: Any, name: str) -> Any:
    return next(each for each in answer["quantities"] if each["name"] == name)


@counts_pages
@pytest.mark.parametrize("how", ["itself", "thread", "child"])
def test_what_the_kernel_counts_of_a_program_and_all_that_it_starts_decides(
    whet: Whet, how: str
) -> None:
    whet.write("touches.py", TOUCHES)
    answer = compared(
        whet, "--by", PAGE_FAULTS,
        f"{PYTHON} touches.py 1000 {how}", f"{PYTHON} touches.py 9000 {how}",
    )  # fmt: skip

    assert (answer["ruling"], answer["decided_by"], answer["pairs"]) == (
        "different", PAGE_FAULTS, 7,
    )  # fmt: skip
    assert answer["answer"].startswith("B needs ")
    assert " more page faults than A" in answer["answer"]
    counted = quantity(answer, PAGE_FAULTS)
    assert counted["b"] - counted["a"] == pytest.approx(8000, rel=0.02)


@counts_pages
def test_counting_starts_with_the_program_and_not_with_whet(whet: Whet) -> None:
    """What `perf stat` counts of the same program, if it is there, is what whet counts."""
    perf = shutil.which("perf")
    if perf is None:
        pytest.skip("perf is not installed")
    whet.write("touches.py", TOUCHES)
    command = ["/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]
    told = subprocess.run(
        [perf, "stat", "-x", ",", "-e", "page-faults:u", "--", *command],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    faults = int(told.stderr.split(",")[0])
    word = f"/bin/sh -c '{command[-1]}'"
    counted = quantity(compared(whet, "--by", PAGE_FAULTS, "--runs", "7", word, word), PAGE_FAULTS)

    assert counted["a"] == pytest.approx(faults, abs=10)


@counts_pages
def test_a_pattern_for_the_same_name_goes_before_the_kernels_number(whet: Whet) -> None:
    whet.write("says.py", "print('faults', 7)\n")
    answer = compared(
        whet, "--measure", f"{PAGE_FAULTS}=faults (.*)", f"{PYTHON} says.py", f"{PYTHON} says.py x"
    )

    assert quantity(answer, PAGE_FAULTS)["a"] == 7


@pytest.mark.skipif(
    bool(why_not_counted(INSTRUCTIONS)), reason=f"instructions: {why_not_counted(INSTRUCTIONS)}"
)
def test_instructions_are_compared_without_being_asked_for_and_do_not_decide(whet: Whet) -> None:
    whet.write("works.py", "import sys\nx = sum(i * i for i in range(int(sys.argv[1])))\n")
    answer = compared(whet, f"{PYTHON} works.py 200000", f"{PYTHON} works.py 600000")

    counted = quantity(answer, INSTRUCTIONS)
    assert not counted["decides"]
    assert counted["effect"]["low"] > 0


@pytest.mark.skipif(not why_not_counted(INSTRUCTIONS), reason="this machine counts instructions")
def test_a_machine_that_counts_no_instructions_says_so_only_if_asked(whet: Whet) -> None:
    arms = (f"{PYTHON} -c 0", f"{PYTHON} -c 00")
    assert "instructions" not in whet("compare", "--runs", "7", *arms).stdout

    asked = whet("compare", "--runs", "7", "--by", "wall", "--measure", INSTRUCTIONS, *arms)
    assert asked.code == 0, asked.stderr
    assert f"instructions: {why_not_counted(INSTRUCTIONS)}" in asked.stdout

    refused = whet("compare", "--by", INSTRUCTIONS, *arms)
    assert refused.code == BadUsage.exit_code
    assert f"`instructions` should decide, but {why_not_counted(INSTRUCTIONS)}" in refused.stderr


@counts_pages
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the call's number is that of x86_64")
def test_a_container_that_forbids_to_count_is_said_only_if_asked(whet: Whet) -> None:
    def inside(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PYTHON, str(FORBID), PERF_EVENT_OPEN, "EPERM", PYTHON, "-m", "whet", "compare",
             "--runs", "7", *words, f"{PYTHON} -c 0", f"{PYTHON} -c 00"],
            cwd=whet.folder, env={**os.environ, **whet.environment}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    plain = inside()
    assert (plain.returncode, "instructions" in plain.stdout) == (0, False), plain.stderr
    refused = inside("--by", PAGE_FAULTS)
    assert refused.returncode == BadUsage.exit_code
    why = "`page_faults` should decide, but the system forbids to count them"
    assert (
        f"{why} (perf_event_open: Operation not permitted; perf_event_paranoid is "
        in refused.stderr
    )


def test_a_run_counts_nothing(whet: Whet) -> None:
    whet("run", "--", PYTHON, "-c", "0")
    shown = json.loads(whet("show", "--json", "1").stdout)

    assert INSTRUCTIONS not in json.dumps(shown)
    assert PAGE_FAULTS not in json.dumps(shown)
