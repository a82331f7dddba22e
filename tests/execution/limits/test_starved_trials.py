"""Limits around real programs: each holds, is named when the program dies of it, and is gone after."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest
from laboratory import Laboratory, specimen
from starving import GROWS, MEBIBYTE, MEMORY_WAYS, groups_left, need, only, python, said, starve

from whet.core.errors import LimitNotEnforced
from whet.core.failure import FailureKind
from whet.core.limits import Limits
from whet.core.trial import Trial
from whet.evidence.signature.limit_met import unnamed_limits
from whet.host.kernel.control_groups import own_group
from whet.host.limits.enforcer import Enforcer, Plain
from whet.host.limits.groups.groups_v1 import GroupsV1
from whet.host.limits.processors import Affinity
from whet.host.process.process_identity import ProcessIdentity


@pytest.fixture(params=MEMORY_WAYS, ids=lambda way: way.way)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Enforcer:
    """One way to limit memory, the only one there is in this test."""
    chosen: Enforcer = request.param
    need(chosen, "memory", Limits(memory_bytes=64 * MEBIBYTE))
    only(monkeypatch, "memory", chosen)
    return chosen


# ---- memory ----


def test_a_program_that_needs_too_much_memory_is_killed_and_the_limit_is_named(
    laboratory: Laboratory, way: Enforcer
) -> None:
    script = laboratory.work / "train.py"
    script.write_text(GROWS)
    outcome = starve(
        laboratory, sys.executable, str(script), limits=Limits(memory_bytes=64 * MEBIBYTE)
    )

    assert outcome.signal == signal.SIGKILL
    assert outcome.limited_by == (f"memory 64 MiB by {way.way.replace('watch', 'a watch')}",)
    assert outcome.failed_by is FailureKind.OUT_OF_MEMORY
    (met,) = outcome.limits_met
    assert (met.name, met.limit, met.was_killed) == ("memory", 64 * MEBIBYTE, True)
    assert re.match(
        r"killed by the memory limit: \d+\.\d\d of 64\.00 MiB, largest process \S+ \(pid \d+\)",
        said(outcome),
    )


def test_the_last_python_line_is_named(laboratory: Laboratory, way: Enforcer) -> None:
    if way.way == "cgroup v2":
        pytest.skip("the kernel kills there at once, and nobody has looked before")
    script = laboratory.work / "train.py"
    script.write_text(GROWS)
    outcome = starve(
        laboratory, sys.executable, str(script), limits=Limits(memory_bytes=64 * MEBIBYTE)
    )
    assert said(outcome).endswith(", last Python line train.py:4")


def test_memory_of_all_processes_counts_together(laboratory: Laboratory, way: Enforcer) -> None:
    program = """
import os, signal
for _ in range(3):
    if os.fork() == 0:
        held = []
        while len(held) < 30:  # each by itself would be well within the limit
            try:
                held.append(b"1" * 1_000_000)
            except MemoryError:
                continue
        signal.pause()
signal.pause()
"""
    outcome = starve(laboratory, *python(program), limits=Limits(memory_bytes=64 * MEBIBYTE))
    assert [met.name for met in outcome.limits_met] == ["memory"], way
    assert outcome.signal == signal.SIGKILL


def test_a_program_that_needs_little_is_left_alone(laboratory: Laboratory, way: Enforcer) -> None:
    outcome = starve(
        laboratory, *python("print('well')"), limits=Limits(memory_bytes=64 * MEBIBYTE)
    )
    assert (outcome.exit_code, outcome.limits_met) == (0, ()), way
    assert outcome.failure is None


def test_one_that_ignores_signals_and_leaves_children_is_ended_whole(
    laboratory: Laboratory, way: Enforcer
) -> None:
    program = """
import os, signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(1, b"%d" % os.getpid())
        signal.pause()
    os._exit(0)
os.wait()
held = []
while True:
    held.append(b"1" * 1_000_000)
"""
    outcome = starve(laboratory, *python(program), limits=Limits(memory_bytes=64 * MEBIBYTE))
    assert [met.name for met in outcome.limits_met] == ["memory"], way
    daemon = int(outcome.stdout.tail(20))
    assert ProcessIdentity.of(daemon) is None


def test_only_whet_s_own_trial_is_killed(laboratory: Laboratory, way: Enforcer) -> None:
    trial = Trial(
        command=python(GROWS), cwd=str(laboratory.work), limits=Limits(memory_bytes=32 * MEBIBYTE)
    )
    with laboratory.make() as executor:
        for _ in range(2):  # the slot, its spawner and this process live on
            assert executor.submit(trial).result().limits_met[0].was_killed, way
    assert groups_left() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can leave a group")
def test_a_program_that_leaves_its_group_is_put_back(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Limits(memory_bytes=64 * MEBIBYTE)
    need(GroupsV1(), "memory", limits)
    only(monkeypatch, "memory", GroupsV1())
    group = own_group("memory")
    program = f"""
import os
with open("{group}/cgroup.procs", "w") as file:
    file.write(str(os.getpid()))
while "whet-" not in open("/proc/self/cgroup").read():
    pass
{GROWS}
"""
    outcome = starve(laboratory, *python(program), limits=limits)
    assert [met.name for met in outcome.limits_met] == ["memory"]


def test_a_limit_in_a_limit_holds(laboratory: Laboratory, way: Enforcer) -> None:
    """Two whets, one in the other: the inner program dies of the inner limit, the outer one lives."""
    inner = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from pathlib import Path
from laboratory import Laboratory
from starving import GROWS, python, starve
from whet.core.limits import Limits
folder = Path({str(laboratory.work)!r}, "inner")
folder.mkdir()
outcome = starve(Laboratory(folder), *python(GROWS), limits=Limits(memory_bytes=32 << 20))
print([met.name for met in outcome.limits_met], outcome.limits_met[0].limit >> 20)
"""
    outcome = starve(laboratory, *python(inner), limits=Limits(memory_bytes=400 * MEBIBYTE))
    assert outcome.stdout.tail(100) == b"['memory'] 32\n", (way, outcome.stderr.tail(2000))


def test_control_groups_of_version_1_refuse_a_soft_limit(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "memory-high", GroupsV1())
    with pytest.raises(LimitNotEnforced, match="version 1 has no limit that slows a program down"):
        starve(laboratory, "true", limits=Limits(memory_high_bytes=64 * MEBIBYTE))


def test_the_ways_that_were_tried_are_named_with_what_they_lack(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "cpus", Affinity())
    with pytest.raises(LimitNotEnforced, match=r"`--cpus` here \(processor affinity: .* not 0\.5"):
        starve(laboratory, "true", limits=Limits(cpus=0.5))


# ---- files, processes, processors, sizes, time ----


def test_a_program_that_opens_too_many_files_meets_the_limit(laboratory: Laboratory) -> None:
    program = "import os\nfor _ in range(100): os.open('/dev/null', 0)"
    outcome = starve(laboratory, *python(program), limits=Limits(files=64))
    assert said(outcome).endswith("Too many open files: '/dev/null'; met the limit `--files 64`")


def test_the_limit_of_files_is_exact(laboratory: Laboratory) -> None:
    program = """
import os
try:
    while True:
        last = os.dup(0)
except OSError:
    print(last + 1)
"""
    isolated = (sys.executable, "-I", "-S", "-c", program)
    assert starve(laboratory, *isolated, limits=Limits(files=40)).stdout.tail(9) == b"40\n"


@pytest.fixture
def pids(monkeypatch: pytest.MonkeyPatch) -> Enforcer:
    """A way to limit processes."""
    for each in MEMORY_WAYS[:2]:
        if not each.blocker("processes", Limits(processes=20)):
            only(monkeypatch, "processes", each)
            return each
    pytest.skip("no control group for processes may be made here")


@pytest.mark.usefixtures("pids")
def test_a_program_that_forks_too_often_meets_the_limit(laboratory: Laboratory) -> None:
    program = """
import os, signal
for _ in range(1000):
    if os.fork() == 0:
        signal.pause()
"""
    outcome = starve(laboratory, *python(program), limits=Limits(processes=20))
    assert [met.name for met in outcome.limits_met] == ["processes"]
    assert said(outcome).endswith("met the limit `--processes 20`")
    assert len(outcome.processes) == 20


@pytest.mark.usefixtures("pids")
def test_a_program_that_starts_too_many_threads_meets_the_limit(laboratory: Laboratory) -> None:
    program = """
import threading
stop = threading.Event()
try:
    for _ in range(50):
        threading.Thread(target=stop.wait).start()
finally:
    stop.set()
"""
    outcome = starve(laboratory, *python(program), limits=Limits(processes=20))
    assert "can't start new thread; met the limit `--processes 20`" in said(outcome)


@pytest.mark.usefixtures("pids")
def test_a_program_that_gets_by_with_fewer_threads_is_told_to_have_met_the_limit(
    laboratory: Laboratory,
) -> None:
    program = """
import threading
stop = threading.Event()
try:
    for _ in range(50):
        threading.Thread(target=stop.wait).start()
except RuntimeError:
    pass
stop.set()
"""
    outcome = starve(laboratory, *python(program), limits=Limits(processes=20))
    assert outcome.failure is None
    assert "met the limit `--processes 20`" in unnamed_limits(outcome)[0]


@pytest.mark.usefixtures("pids")
def test_a_thousand_forks_at_once_are_held_and_ended(laboratory: Laboratory) -> None:
    limits = Limits(processes=30, wall_seconds=1)
    outcome = starve(laboratory, *specimen("wild.py", 4), limits=limits)
    assert len(outcome.processes) >= 1


def test_a_program_gets_as_many_processors_as_it_may_use(laboratory: Laboratory) -> None:
    program = "import os; print(len(os.sched_getaffinity(0)))"
    outcome = starve(laboratory, *python(program), limits=Limits(cpus=1))
    assert outcome.stdout.tail(9) == b"1\n"


def test_half_a_processor_is_half_a_processor(laboratory: Laboratory) -> None:
    limits = Limits(cpus=0.2)
    need(GroupsV1(), "cpus", limits)
    program = "import time\nwhile time.process_time() < 0.2: pass"
    outcome = starve(laboratory, *python(program), limits=limits)
    assert outcome.wall_seconds > 0.2 / 0.2 - 0.2  # a period of the kernel less


@pytest.mark.parametrize(
    ("program", "limits", "words"),
    [
        (
            "open('f', 'wb').write(bytes(100_000))",
            Limits(file_size_bytes=5000),
            "file-size 4.88 KiB",
        ),
        ("bytearray(1 << 30)", Limits(address_space_bytes=300 << 20), "address-space 300 MiB"),
        ("import signal\nwhile True: pass", Limits(cpu_seconds=1), "cpu-seconds 1"),
    ],
    ids=["file size", "address space", "CPU time"],
)
def test_each_resource_limit_is_named(
    laboratory: Laboratory, program: str, limits: Limits, words: str
) -> None:
    outcome = starve(laboratory, *python(program), limits=limits)
    assert said(outcome).endswith(f"; met the limit `--{words}`")


def test_a_program_without_python_s_manners_dies_of_the_size_of_its_file(
    laboratory: Laboratory,
) -> None:
    command = ("head", "-c", "100000", "/dev/zero")
    shell = ("sh", "-c", f"exec {' '.join(command)} > big")
    outcome = starve(laboratory, *shell, limits=Limits(file_size_bytes=8192))
    assert outcome.signal == signal.SIGXFSZ
    assert said(outcome).endswith("met the limit `--file-size 8 KiB`")
    assert (laboratory.work / "big").stat().st_size == 8192


def test_a_stack_that_overflows_meets_the_limit(laboratory: Laboratory) -> None:
    program = """
import ctypes, threading
here = ctypes.c_char()
place = ctypes.addressof(here)
for line in open("/proc/self/maps"):
    if line.rstrip().endswith("[stack]"):
        top = int(line.split()[0].split("-")[1], 16)
for at in range(top - 4096, top - (4 << 20), -4096):
    ctypes.memset(at, 0, 0)
    ctypes.string_at(at, 1)
"""
    outcome = starve(laboratory, *python(program), limits=Limits(stack_bytes=1 << 20))
    assert said(outcome).endswith("met the limit `--stack 1 MiB`")


# ---- what does not hold is not believed ----


class _Pretender:
    """A way that says it limits files, and does nothing."""

    way = "pretence"

    def blocker(self, _name: str, _limits: Limits, /) -> str:
        return ""

    def prepare(self, _names: object, limits: Limits, _cleanup_journal: object, /) -> Plain:
        assert limits.files is not None
        return Plain(way=self.way, probes=(("files", limits.files),))


def test_nothing_is_run_under_a_limit_that_a_probe_gets_past(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "files", _Pretender())
    with pytest.raises(LimitNotEnforced, match="`--files` has no effect here"):
        starve(laboratory, "touch", "was_run", limits=Limits(files=100))
    assert not (laboratory.work / "was_run").exists()


# ---- the record of what was used ----


def test_what_a_trial_uses_is_recorded(laboratory: Laboratory) -> None:
    program = """
import os, sys, time
held = bytearray(b"1" * 50_000_000)
files = [open("/dev/null") for _ in range(30)]
began = time.process_time()
while time.process_time() - began < 0.3: pass
"""
    use = starve(laboratory, *python(program), limits=Limits()).resources
    assert use is not None
    assert max(use.memory_bytes) > 50_000_000
    assert max(use.files) > 30
    assert max(use.cpu_seconds) > 0.1
    assert list(use.seconds) == sorted(use.seconds)
    assert use.largest[0].peak_bytes > 50_000_000


def test_a_program_that_reads_more_than_it_has_memory_for_meets_the_limit(
    laboratory: Laboratory, way: Enforcer
) -> None:
    big = laboratory.work / "big"
    with big.open("wb") as file:
        file.truncate(300 * MEBIBYTE)  # a hole: nothing is on the disk
    # In the page cache of who runs the tests: the kernel would take pages of it from the trial, again
    # and again, before it gives up.
    with big.open("rb") as file:
        while file.read(MEBIBYTE):
            pass
    outcome = starve(
        laboratory, *python("open('big', 'rb').read()"), limits=Limits(memory_bytes=64 * MEBIBYTE)
    )
    assert [met.name for met in outcome.limits_met] == ["memory"], way
    assert outcome.failure is not None
    assert outcome.failure.limit == "memory"
