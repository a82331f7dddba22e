"""A trial of a search that runs on from a frozen copy comes out as one that runs from its start."""

import math
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from laboratory import Laboratory, fifo
from workshop import every_python, python_of

from whet.core.limits import Limits
from whet.core.outcome import Outcome
from whet.core.trial import PayloadBinding, ResetStep, Trial
from whet.core.verdict import Verdict
from whet.execution.cold import ColdExecutor
from whet.execution.warm_search import WarmSearch
from whet.host.files.file_times import wait_until_settled
from whet.host.process.process_tree import children_of, descendants_of
from whet.workbench.shrink.shrink_search import last_that

pytestmark = pytest.mark.slow

PAYLOADS = ("good", "bad", "worse", "", "bad")


def _verdict(outcome: Outcome) -> Verdict:
    return Verdict.GOOD if outcome.failure is None else Verdict.BAD


@dataclass
class Search:
    """A program, and both ways to run it on one payload after the other."""

    laboratory: Laboratory
    folder: Path
    warm: ColdExecutor
    cold: ColdExecutor
    search: WarmSearch
    trial: Trial
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def write(self, text: str, name: str = "main.py", *, mode: int = 0o644) -> None:
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(mode)
        # What is as young as a run may have been saved after the run had read it.
        wait_until_settled([(self.folder / name).stat()])

    def on(self, payload: str) -> Trial:
        digest = self.laboratory.hold(payload.encode())
        return self.trial.with_payload(digest, len(self.trial.payloads) - 1)

    def run(self, *payloads: str) -> list[Outcome]:
        """Run warm, then cold, and compare."""
        outcomes = [self.warm.submit(self.on(payload)).result(30) for payload in payloads]
        for payload, outcome in zip(payloads, outcomes, strict=True):
            expected = self.cold.submit(self.on(payload)).result(30)
            assert _facts(outcome) == _facts(expected), payload
        return outcomes


def _facts(outcome: Outcome) -> tuple[object, ...]:
    return (
        outcome.exit_code,
        outcome.signal,
        outcome.timed_out,
        outcome.stdout.head(1 << 20),
        outcome.signature,
        dict(outcome.measurements),
    )


@pytest.fixture
def search(laboratory: Laboratory) -> Iterator[Search]:
    folder = laboratory.folder / "project"
    folder.mkdir()
    runs = WarmSearch(
        laboratory.cleanup_journal,
        judge=_verdict,
        most_lost_seconds=math.inf,
        look_seconds=math.inf,
    )

    payload = PayloadBinding(argument=2, text="data", name="data.txt", digest="")
    trial = Trial(command=(sys.executable, "main.py", "data"), cwd=str(folder), payloads=(payload,))
    with laboratory.executor(runs, laboratory.jobs) as warm, laboratory.executor(None) as cold:
        yield Search(laboratory, folder, warm, cold, runs, trial)


READS = "assert 'bad' not in open(sys.argv[1]).read(), 'bad'\nprint('fine')\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"import sys\n{READS}", id="at once"),
        pytest.param("import sys, os\n" + "x = os.path.getsize(sys.argv[1])\nprint(x)\n" + READS, id="after its size was asked for", marks=pytest.mark.long),
        pytest.param("import sys, pathlib\np = pathlib.Path(sys.argv[1]).resolve()\nprint(p.name)\n" + READS, id="after its path was resolved"),
        pytest.param("import sys, os\nx = os.listdir(os.path.dirname(sys.argv[1]))\nprint(x)\n" + READS, id="after its folder was listed", marks=pytest.mark.long),
        pytest.param("import sys, glob\nprint(len(glob.glob(os.path.dirname(sys.argv[1]) + '/*')) if (os := __import__('os')) else 0)\n" + READS, id="after it was looked for", marks=pytest.mark.long),
        pytest.param("import sys\ndef main():\n    " + READS.replace("\n", "\n    ") + "\nmain()\n", id="in a function", marks=pytest.mark.long),
        pytest.param("import sys, os\nf = os.open(sys.argv[1], os.O_RDONLY)\nassert b'bad' not in os.read(f, 99)\n", id="through a descriptor"),
        pytest.param("import sys, os\nopen('log', 'w').write('begun')\n" + READS, id="after a file was written"),
        pytest.param("import sys\nprint('before')\nsys.stderr.write('x')\n" + READS, id="after some output", marks=pytest.mark.long),
        pytest.param("import sys, random\nrandom.seed(1)\n" + READS + "print(random.random())\n", id="after a seed was set", marks=pytest.mark.long),
        pytest.param("import sys, mmap, os\nd = os.open(sys.argv[1], os.O_RDWR)\ns = os.fstat(d).st_size\nm = mmap.mmap(d, s) if s else b''\nassert m[:3] != b'bad'\n", id="through a mapping"),
        pytest.param("import sys, os\nos.stat(sys.argv[1])\n" + READS + "open(sys.argv[1], 'a').write('more')\n", id="that it writes to", marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_each_candidate_is_a_fork_from_before_the_first_sight_of_it(
    search: Search, text: str
) -> None:
    search.write(text)

    outcomes = search.run(*PAYLOADS, "good", "bad", "fine")

    # The first leaves the copy, and the first of each verdict is run from the start too.
    assert [bool(outcome.resumed_from) for outcome in outcomes[3:]] == [True] * 5
    assert search.search.reasons == ()


def test_a_module_that_is_run_reads_it_too(search: Search) -> None:
    search.write(f"import sys\n{READS}", "tool.py")
    search.trial = replace(
        search.trial,
        command=(sys.executable, "-m", "tool", "data"),
        payloads=(replace(search.trial.payloads[0], argument=3),),
    )

    assert search.run(*PAYLOADS)[-1].resumed_from, search.search.reasons


def test_a_script_named_by_its_first_line_is_a_python_program(search: Search) -> None:
    search.write(f"#!{sys.executable}\nimport sys\n{READS}", "tool", mode=0o755)
    search.trial = replace(
        search.trial,
        command=("./tool", "data"),
        payloads=(replace(search.trial.payloads[0], argument=1),),
    )

    assert search.run(*PAYLOADS)[-1].resumed_from


SHIM = """#!/usr/bin/env bash
set -e
program="${{0##*/}}"
export ROOT={folder}
exec "{folder}/manager" exec "$program" "$@"
"""
MANAGER = """#!/usr/bin/env bash
shift 2
PATH="$ROOT/bin:$PATH"
exec "$ROOT/bin/python" "$@"
"""


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("./python", "main.py", "data"), id="a shim of a version manager"),
        pytest.param(("sh", "-c", "date > stamp; umask 077; exec {} main.py $0", "data"), id="a shell that becomes it"),
        pytest.param(("env", "A=1", "{}", "main.py", "data"), id="env"),
        pytest.param(("nice", "-n", "1", "{}", "main.py", "data"), id="nice"),
    ],
)  # fmt: skip
def test_what_becomes_python_runs_on_as_python_does(
    search: Search, command: tuple[str, ...]
) -> None:
    shim = SHIM.format(folder=search.folder)
    inner = f'#!/bin/sh\nexec {sys.executable} "$@"\n'
    (search.folder / "bin").mkdir()
    for name, text in (("python", shim), ("manager", MANAGER), ("bin/python", inner)):
        search.write(text, name, mode=0o755)
    search.write(f"import os, sys\nprint(os.environ.get('ROOT'), os.umask(0))\n{READS}")
    words = tuple(word.format(sys.executable) for word in command)
    payload = replace(search.trial.payloads[0], argument=len(words) - 1)
    search.trial = replace(search.trial, command=words, payloads=(payload,))

    outcomes = search.run(*PAYLOADS, "good", "bad", "fine")

    assert [bool(outcome.resumed_from) for outcome in outcomes[3:]] == [True] * 5
    assert search.search.reasons == ()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        pytest.param(("sh", "-c", "echo first; {} main.py $0; echo last", "data"), "`sh` starts Python as a separate process", id="a shell around it"),
        pytest.param(("sh", "-c", "exec {} main.py $0 > out", "data"), "its standard output was redirected before Python began", id="a shell that puts its output elsewhere"),
        pytest.param(("sh", "-c", "exec 3< main.py; exec {} main.py $0", "data"), "its descriptor 3 was", id="a shell that opens a file for it"),
        pytest.param(("sh", "-c", "cat $0 > /dev/null; exec {} main.py $0", "data"), "reads data.txt early", id="a shell that reads it"),
        pytest.param(("grep", "-c", "good", "", "data"), "a Python that whet can follow", id="no Python at all"),
        pytest.param(("{}", "-I", "main.py", "data"), "whet can follow", id="a Python without the agent"),
    ],
)  # fmt: skip
def test_what_gives_no_snapshot_runs_from_its_start(
    search: Search, command: tuple[str, ...], why: str
) -> None:
    search.write(f"import sys\n{READS}")
    words = tuple(word.format(sys.executable) for word in command if word)
    last = len(words) - 1
    search.trial = replace(
        search.trial, command=words, payloads=(replace(search.trial.payloads[0], argument=last),)
    )

    outcomes = search.run(*PAYLOADS)

    # Where the machine is so busy that the start took long, there is one from before.
    assert {outcome.resumed_from for outcome in outcomes} <= {"", "main.py:1", "main.py:2"}
    assert why in search.search.reasons[0]


FOPEN = """\
import ctypes, sys
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
def text_of(name):
    file = ctypes.c_void_p(libc.fopen(name, b"r"))
    text = ctypes.create_string_buffer(100)
    libc.fread(text, 1, 99, file)
    return text.value
"""
OPENS_AT = 5  # the line of `fopen`, above


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("assert b'bad' not in text_of(sys.argv[1].encode())\n", id="it alone"),
        pytest.param("is_bad = b'bad' in text_of(sys.argv[1].encode())\nopen(sys.argv[1]).read()\nassert not is_bad\n", id="it and then Python", marks=pytest.mark.long),
        pytest.param("import time\ntime.sleep(0.06)\nimport json\nassert b'bad' not in text_of(sys.argv[1].encode())\n", id="it after a slow stretch"),
        pytest.param("text_of(b'main.py')\nassert b'bad' not in text_of(sys.argv[1].encode())\n", id="it after another file", marks=pytest.mark.long),
        pytest.param("for name in ('main.py', sys.argv[1]):\n    text = text_of(name.encode())\nassert b'bad' not in text\n", id="it in a loop over files"),
    ],
)  # fmt: skip
def test_what_native_code_sees_is_frozen_just_before_its_call(search: Search, text: str) -> None:
    search.write(f"{FOPEN}{text}print(sys.gettrace(), sys._getframe().f_trace)\n")

    outcomes = search.run(*PAYLOADS, "good", "bad", "fine")

    assert [outcome.resumed_from for outcome in outcomes[-3:]] == [f"main.py:{OPENS_AT}"] * 3
    assert search.search.reasons == ()


def test_a_slow_first_trial_leaves_no_snapshot_that_passes_for_a_later_one(search: Search) -> None:
    awaits = f"import time\ntime.sleep(max(0.06, {time.time() + 0.8} - time.time()))\n"
    search.write(
        f"{FOPEN}{awaits}import json\nassert b'bad' not in text_of(sys.argv[1].encode())\n"
    )

    outcomes = search.run(*PAYLOADS, "good", "bad", "fine")

    # That of the first trial lies before the place, however many seconds it took to get there.
    assert {outcome.resumed_from for outcome in outcomes[-3:]} == {f"main.py:{OPENS_AT}"}


@pytest.mark.long
@every_python
def test_every_python_is_right_where_native_code_sees_the_payload_first(
    search: Search, minor: int
) -> None:
    search.write(f"{FOPEN}assert b'bad' not in text_of(sys.argv[1].encode())\n")
    search.trial = replace(search.trial, command=(python_of(minor), *search.trial.command[1:]))

    outcomes = search.run(*PAYLOADS, "good", "bad", "fine")

    places = [f"main.py:{line}" for line in range(1, OPENS_AT + 1)]
    # An older Python isn't frozen there; where it has been slow before, it resumes from that line.
    expected = places[-1:] if minor > 10 else ["", *places[:-1]]
    assert {outcome.resumed_from for outcome in outcomes[-3:]} <= {*expected}


def test_where_native_code_reads_elsewhere_each_time_the_answers_are_right(search: Search) -> None:
    ways = "\n".join(f"def way{n}(name): return text_of(name)" for n in range(9))
    search.write("", "count")
    search.write(
        f"{FOPEN}{ways}\nimport os\nturn = os.path.getsize('count')\n"
        "open('count', 'a').write('.')\n"
        "assert b'bad' not in globals()[f'way{turn % 9}'](sys.argv[1].encode())\n"
    )

    outcomes = [search.warm.submit(search.on(payload)).result(30) for payload in PAYLOADS]

    assert [outcome.exit_code for outcome in outcomes] == [0, 1, 0, 0, 1]


def test_a_child_that_sees_the_payload_first_counts_as_the_program(search: Search) -> None:
    search.write(
        "import subprocess, sys\n"
        "is_bad = subprocess.run(['grep', '-q', 'bad', sys.argv[1]]).returncode == 0\n"
        "open(sys.argv[1]).read()\nassert not is_bad\n"
    )

    outcomes = search.run(*PAYLOADS)

    assert outcomes[-1].resumed_from == "subprocess.Popen"
    assert not search.search.distrusted


def test_a_payload_that_is_the_main_script_is_read_anew(search: Search) -> None:
    search.trial = replace(
        search.trial,
        command=(sys.executable, "data"),
        payloads=(replace(search.trial.payloads[0], argument=1),),
    )
    outcomes = search.run("print(1)", "1 / 0", "print(2)", "print(2)\n2 / 0", "import this")

    assert outcomes[-1].resumed_from, search.search.reasons  # from before Python opens it


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("sys.path.insert(0, sys.argv[1].rpartition('/')[0])\nimport data\n", id="on the path"),
        pytest.param("import importlib.util as u\ns = u.spec_from_file_location('data', sys.argv[1])\ns.loader.exec_module(u.module_from_spec(s))\n", id="by its file"),
        pytest.param("import runpy\nrunpy.run_path(sys.argv[1])\n", id="as a script"),
    ],
)  # fmt: skip
def test_a_payload_that_is_a_module_of_the_program_is_loaded_anew(
    search: Search, text: str
) -> None:
    search.write(f"import sys\n{text}open(sys.argv[1]).read()\n")
    search.trial = replace(
        search.trial, payloads=(replace(search.trial.payloads[0], name="data.py"),)
    )

    outcomes = search.run("print(1)", "1 / 0", "print(2)", "print(2)\n2 / 0", "import this")

    assert outcomes[-1].resumed_from, search.search.reasons


def test_a_failure_that_depends_on_the_time_since_the_start_is_found_out(search: Search) -> None:
    search.write(
        "import sys, time\nstart = time.perf_counter()\ntime.sleep(0.05)\n"
        "open(sys.argv[1]).read()\nassert time.perf_counter() - start > 0.4, 'early'\n"
    )
    search.run("one")
    time.sleep(0.5)  # what was measured goes on while the copy is frozen

    search.run("two")

    assert search.search.distrusted


def test_a_message_that_lists_a_set_ends_no_frozen_copies(search: Search) -> None:
    search.write(
        "import sys\nnames = set('alpha beta gamma delta epsilon'.split())\n"
        "open(sys.argv[1]).read()\nraise ValueError('unknown: ' + ', '.join(names))\n"
    )
    search.trial = replace(search.trial, environment={"PYTHONHASHSEED": "random"})

    for payload in "abcd":
        search.warm.submit(search.on(payload)).result(30)

    assert (search.search.distrusted, search.search.warm_runs) == ("", 2)


@pytest.mark.parametrize(
    ("doing", "why"),
    [
        pytest.param("import threading; threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()", "the thread `Thread-1 (sleep)` runs, before data.txt is read", id="a thread"),
        pytest.param("import signal; signal.alarm(100)", "an alarm is set, before data.txt is read", id="an alarm"),
    ],
)  # fmt: skip
def test_what_hinders_the_snapshot_is_named(search: Search, doing: str, why: str) -> None:
    search.write(f"import sys, time\n{doing}\n{READS}")

    outcomes = search.run(*PAYLOADS)

    # Where the machine is so busy that the start took long, there is one from before.
    assert {outcome.resumed_from for outcome in outcomes} <= {"", "main.py:1", "main.py:2"}
    assert why in search.search.reasons[0]


def test_before_what_hinders_it_an_earlier_snapshot_serves(search: Search) -> None:
    search.write(
        "import sys, time\ntime.sleep(0.06)\nimport json\n"
        f"import signal; signal.alarm(100)\n{READS}"
    )

    assert search.run(*PAYLOADS)[-1].resumed_from in {"main.py:3", "main.py:4"}


@pytest.mark.parametrize(
    "doing",
    [
        pytest.param("import socket; s = socket.socket()", id="a socket"),
        pytest.param("open('log', 'a').write('begun')", id="a file that is added to"),
        pytest.param("log = open('log', 'w')", id="a file that stays open"),
    ],
)  # fmt: skip
def test_before_what_may_not_be_put_back_there_is_a_snapshot(search: Search, doing: str) -> None:
    search.write("", "log")
    search.write(f"import sys\n{doing}\n{READS}")

    assert search.run(*PAYLOADS)[-1].resumed_from, search.search.reasons


def test_what_the_program_sets_for_itself_ends_nothing(search: Search) -> None:
    search.write(
        "import os, sys\nos.environ['HERE'] = 'x'\nos.makedirs('made', exist_ok=True)\n"
        f"open('made/log', 'w').write('begun')\n{READS}"
    )

    outcomes = search.run(*PAYLOADS, "good", "bad")

    assert outcomes[-1].resumed_from.endswith("data.txt"), search.search.reasons


@pytest.mark.long
def test_an_edit_of_the_program_starts_anew(search: Search) -> None:
    search.write(f"import sys\n{READS}")
    search.run(*PAYLOADS)
    search.write(f"import sys\nprint('edited')\n{READS}")

    outcomes = search.run("good", "bad", "fine", "worse")

    assert not outcomes[0].resumed_from
    assert outcomes[-1].resumed_from


def test_what_a_reset_step_changes_is_never_missed(search: Search) -> None:
    search.write(f"import sys\nprint(open('mode').read())\n{READS}")
    search.write("0", "mode")
    step = ResetStep(command="n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) > count")
    change = ResetStep(command="[ $(cat count) -lt 8 ] || echo later > mode")
    search.trial = replace(search.trial, reset=(step, change))

    outcomes = [search.warm.submit(search.on(payload)).result(30) for payload in "abcdefghij"]

    says = [outcome.stdout.head(99) for outcome in outcomes]
    count = int((search.folder / "count").read_text())
    assert count > len(outcomes)
    assert says[-1] == b"later\n\nfine\n"
    assert all(outcome.resumed_from or outcome.exit_code == 0 for outcome in outcomes)
    # From the run in which the step changed it on, no answer shows what was there before.
    changed = says.index(b"later\n\nfine\n")
    assert set(says[changed:]) == {b"later\n\nfine\n"}


@pytest.mark.long
def test_the_time_until_the_snapshot_counts_against_the_limit(search: Search) -> None:
    search.write(
        "import sys, time\ntime.sleep(0.5)\nif 'bad' in open(sys.argv[1]).read():\n"
        "    time.sleep(1.0)\n"
    )
    search.trial = replace(search.trial, limits=Limits(wall_seconds=1.2))

    outcomes = search.run("good", "good", "good", "bad", "bad")

    assert outcomes[-1].resumed_from
    assert [outcome.timed_out for outcome in outcomes] == [False, False, False, True, True]


def test_trials_of_a_search_with_a_deadline_go_on_from_one_copy(search: Search) -> None:
    search.write("import sys\n" + READS)
    found: list[Outcome] = []
    for seconds in (30.0, 29.5, 29.0, 28.5, 28.0):  # each has what time is left
        search.trial = replace(search.trial, limits=Limits(wall_seconds=seconds))
        found += search.run("good")

    assert found[-1].resumed_from
    assert found[-2].resumed_from


@pytest.mark.long
def test_a_hang_has_the_stack_that_it_has_from_the_start(search: Search) -> None:
    search.write(
        "import sys, time\ndef wait_for_ever():\n    time.sleep(100)\n"
        "if 'bad' in open(sys.argv[1]).read():\n    wait_for_ever()\n"
    )
    search.trial = replace(search.trial, limits=Limits(wall_seconds=0.7))

    outcomes = search.run("good", "good", "good", "bad", "bad")

    assert outcomes[-1].resumed_from
    assert outcomes[-1].stacks[0][-1].function == "wait_for_ever"


def test_processes_that_a_resumed_run_leaves_behind_end_with_it(search: Search) -> None:
    with fifo(search.folder) as held:
        search.write(
            "import sys, os, subprocess\nopen(sys.argv[1]).read()\n"
            f"subprocess.Popen(['sh', '-c', 'exec 9>{held.path}; sleep 1000'], "
            "start_new_session=True)\n"
            f"open({str(held.path)!r}, 'w').write('up')\n"
        )
        outcomes = [search.warm.submit(search.on(payload)).result(30) for payload in "abc"]
        held.wait_until_all_are_dead()

    assert outcomes[-1].resumed_from


def test_each_slot_has_copies_of_its_own(laboratory: Laboratory, search: Search) -> None:
    runs = WarmSearch(
        laboratory.cleanup_journal,
        judge=_verdict,
        most_lost_seconds=math.inf,
        look_seconds=math.inf,
    )
    search.write(f"import sys\n{READS}")
    with laboratory.executor(runs, 3) as executor:
        texts = [f"{'bad' if number % 3 == 0 else 'good'} {number}" for number in range(60)]
        futures = [executor.submit(search.on(text)) for text in texts]
        wait(futures, 60)
    codes = [future.result().exit_code for future in futures]

    assert codes == [1 if number % 3 == 0 else 0 for number in range(60)]
    assert runs.warm_runs >= 60 - 3 * 4
    assert runs.reasons == ()


def test_the_frozen_copies_end_with_the_executor(search: Search) -> None:
    search.write(f"import sys\n{READS}")
    search.run("one", "two")
    before = descendants_of(os.getpid())
    assert len(before) > 2

    search.warm.close()
    search.cold.close()

    assert not descendants_of(os.getpid())


def test_a_frozen_copy_that_was_killed_is_replaced_and_told(search: Search) -> None:
    search.write(f"import sys\n{READS}")
    search.run("one", "two", "three")
    assert not search.search.reasons
    spawners = descendants_of(os.getpid())
    copies = [pid for pid in spawners if _is_program(pid)]
    assert copies
    for pid in copies:
        with suppress(ProcessLookupError):  # who is ready for the next trial ends with its copy
            os.kill(pid, signal.SIGKILL)

    outcomes = search.run("one", "two", "bad", "three")

    assert outcomes[-1].resumed_from
    assert search.search.reasons == (
        "a frozen copy was killed, for example because memory ran out, or crashed; whet made another",
    )


def test_what_is_made_ready_for_the_next_trial_belongs_to_none(search: Search) -> None:
    search.write(f"import sys\n{READS}")
    search.run("one", "two", "three")
    snapshot, ready = (pid for pid in descendants_of(os.getpid()) if _is_program(pid))

    outcomes = search.run("four", "five")
    for pid in descendants_of(os.getpid()):
        if _is_program(pid) and pid != snapshot:
            os.kill(pid, signal.SIGKILL)
    outcomes += search.run("six", "seven")

    assert outcomes[0].processes[0].pid == ready
    assert [len(outcome.processes) for outcome in outcomes] == [1] * 4


def _is_program(pid: int) -> bool:
    try:
        return b"main.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return False


def test_a_spawner_that_was_killed_is_replaced(search: Search) -> None:
    search.write(f"import sys\n{READS}")
    search.run("one", "two", "three")
    for pid in children_of(os.getpid()):
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    outcomes = search.run("one", "two", "bad", "three", "bad")

    assert not outcomes[0].resumed_from
    assert outcomes[-1].resumed_from


def test_a_child_of_the_program_is_never_taken_for_it(search: Search) -> None:
    search.write(f"import sys\n{READS}", "child.py")
    search.write(
        "import subprocess, sys\nprint('before', flush=True)\n"
        "subprocess.run([sys.executable, 'child.py', sys.argv[1]])\nprint('after')\n"
    )
    search.trial = replace(
        search.trial,
        command=(sys.executable, "-I", "main.py", "data"),
        payloads=(replace(search.trial.payloads[0], argument=3),),
    )

    outcomes = search.run(*PAYLOADS)

    assert not any(outcome.resumed_from for outcome in outcomes)


def test_standard_input_goes_on_where_the_copy_was_taken(search: Search) -> None:
    search.write(f"import os, sys\nprint(os.read(0, 3))\n{READS}print(os.read(0, 9))\n")
    search.trial = replace(search.trial, stdin=search.laboratory.hold(b"abcdef"))

    outcomes = search.run("good", "bad", "good", "good")

    assert outcomes[-1].resumed_from
    assert outcomes[-1].stdout.head(99) == b"b'abc'\nfine\nb'def'\n"


def test_a_resumed_run_finds_no_trace_of_those_before(search: Search) -> None:
    search.write(
        f"import sys\n{READS}import os\nfor name in ('resource', 'importlib'):\n"
        "    print(name, name in sys.modules)\n"
        "print(len(os.listdir('/proc/self/fd')), len(os.listdir('/proc/self/task')))\n"
        "try:\n    os.wait()\nexcept ChildProcessError:\n    print('no child')\n"
    )

    outcomes = search.run("good", "good", "good", "good", "good")

    assert outcomes[-1].resumed_from


@pytest.mark.long
def test_its_time_and_memory_are_its_own(search: Search) -> None:
    search.write(
        "import sys, time\nhere = bytearray(1 << 20)\n"
        "large = bytearray(len(open(sys.argv[1]).read()) << 20)\n"
        "end = time.process_time() + 0.2\nwhile time.process_time() < end:\n    pass\n"
    )
    outcomes = search.run("x", "x", "x" * 100, "x" * 100)

    assert outcomes[-1].resumed_from
    assert outcomes[-1].peak_rss_bytes > 100 << 20
    assert 0.1 < outcomes[-1].cpu_seconds < 2
    assert outcomes[-1].wall_seconds >= 0.1


@pytest.mark.parametrize("good", range(9))
def test_halving_back_finds_the_last_step_that_holds(good: int) -> None:
    asked: list[int] = []

    def holds(step: int) -> bool:
        asked.append(step)
        return step <= good

    assert last_that(holds, 9) == good
    assert len(asked) <= 4


def test_a_trial_that_is_given_up_takes_no_frozen_copy_along(search: Search) -> None:
    search.write(f"import sys, time\n{READS}time.sleep(0.05)\n")
    search.run("good", "fine")
    for number in range(120):
        future = search.warm.submit(search.on(f"{number}"))
        if number % 2:  # as soon as it is begun: it is still of the copy's process group
            wait([future], 0.0005 * (number % 16))
        future.cancel()

    assert search.run("good", "fine", "other")[-1].resumed_from
    assert search.search.reasons == ()


def test_a_first_trial_that_is_given_up_proves_nothing(search: Search) -> None:
    waits = search.folder / "waits"
    os.mkfifo(waits)
    search.write(f"import sys\nopen('waits').read()\n{READS}")
    future = search.warm.submit(search.on("good"))
    writer = _opened(waits)  # the program is there, and has not seen the payload
    future.cancel()
    wait([future], 30)
    os.close(writer)
    search.write(f"import sys\n{READS}")

    assert search.run(*PAYLOADS)[-1].resumed_from, search.search.reasons


def _opened(path: Path) -> int:
    """Open a FIFO to write as soon as somebody reads it."""
    while True:
        with suppress(OSError):
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.001)


@pytest.mark.parametrize("size", [3, 3_000_000])
def test_a_payload_that_is_not_varied_may_be_seen_first(search: Search, size: int) -> None:
    fixed = PayloadBinding(
        argument=3, text="fixed", name="fixed.txt", digest=search.laboratory.hold(b"x" * size)
    )
    search.trial = replace(
        search.trial,
        command=(*search.trial.command, "fixed"),
        payloads=(search.trial.payloads[0], fixed),
    )
    search.write(f"import sys\nprint(len(open(sys.argv[2]).read()))\n{READS}")

    outcomes = [
        search.warm.submit(search.trial.with_payload(search.laboratory.hold(each), 0)).result(30)
        for each in (b"good", b"bad", b"good", b"bad", b"worse", b"fine", b"bad")
    ]

    assert [bool(each.resumed_from) for each in outcomes[3:]] == [True] * 4
    assert [each.exit_code for each in outcomes] == [0, 1, 0, 1, 0, 0, 1]
    assert search.search.reasons == ()


@pytest.mark.parametrize("how", ["w", "r+", "a"])
def test_a_payload_that_a_run_has_written_to_is_itself_again_for_the_next_one(
    search: Search, how: str
) -> None:
    fixed = PayloadBinding(
        argument=3, text="fixed", name="fixed.txt", digest=search.laboratory.hold(b"123")
    )
    search.trial = replace(
        search.trial,
        command=(*search.trial.command, "fixed"),
        payloads=(search.trial.payloads[0], fixed),
    )
    search.write(
        f"import sys\n{READS}print(open(sys.argv[2]).read())\n"
        f"with open(sys.argv[2], '{how}') as file: file.write('456')\n"
    )

    for payload in (b"1", b"2", b"3", b"4"):
        digest = search.laboratory.hold(payload)
        outcome = search.warm.submit(search.trial.with_payload(digest, 0)).result(30)

        assert outcome.stdout.head(99) == b"fine\n123\n"
