"""Levels of real processes, files, disks and networks."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from whet.host.levels.allocators import allocators_reading
from whet.host.levels.machine import Network, disk_reading
from whet.host.levels.processes import (
    Usages,
    cpu_reading,
    files_reading,
    memory_reading,
    processes_reading,
)
from whet.host.levels.subjects import below, matching, of_folder, tree_of

HOLDS = """\
import subprocess, sys
held = bytearray(60_000_000)
file = open(sys.argv[1], "w")
child = subprocess.Popen(["sleep", "600"])
print(child.pid, flush=True)
while True: pass
"""


def test_the_levels_of_a_tree_are_those_of_its_processes(tmp_path: Path) -> None:
    program = [sys.executable, "-c", HOLDS, str(tmp_path / "open.txt")]
    marked = {**os.environ, "WHET_TRIAL": "1"}  # else it is a tool of this very process
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, env=marked
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            usages = Usages(below(process.pid))
            first = usages.at(1.0)
            assert {each.pid for each in first} == {process.pid, child}
            assert first[0].pid == process.pid
            assert cpu_reading("cpu", "", first, "").reason == "measuring"
            time.sleep(0.1)
            second = usages.at(2.0)
            assert usages.at(2.0) is second
            assert (second[0].busy_percent or 0) > 1

            (rss, *_) = memory_reading("memory", "", second, "").numbers
            assert 60e6 < rss.value == sum(each.rss_bytes for each in second)
            table = processes_reading("processes", "", second, "").table
            assert [row[0] for row in table[1:]] == [str(process.pid), str(child)]
            files = files_reading("files", "", second, "").table
            assert (str(1), str(tmp_path / "open.txt")) in files

            assert set(of_folder(str(tmp_path))()) == {process.pid, child}
            assert process.pid in matching("held = bytearray", by_name=False)()
            assert process.pid not in matching("held = bytearray", by_name=True)()
            assert os.getpid() not in matching("", by_name=False)()
            assert {process.pid, child} <= set(tree_of(lambda: process.pid)())
        finally:
            os.kill(child, signal.SIGKILL)
            process.kill()
    assert usages.at(3.0) == ()
    assert memory_reading("memory", "", (), "gone").reason == "gone"
    assert tree_of(lambda: 0)() == []


def test_a_pattern_that_is_no_regular_expression_is_searched_as_it_is() -> None:
    assert matching("[never(closed", by_name=False)() == []


def test_one_disk_is_read_and_why_it_cannot_be(tmp_path: Path) -> None:
    reading = disk_reading("disk", str(tmp_path))
    sizes = {each.name: each.value for each in reading.numbers}
    system = os.statvfs(tmp_path)
    assert sizes["disk.free"] + sizes["disk.used"] == system.f_blocks * system.f_frsize
    assert "doesn't exist" in disk_reading("disk", str(tmp_path / "missing")).reason


def test_a_network_is_measured_from_the_second_look_on() -> None:
    network = Network()
    assert network.reading("network").reason == "measuring"
    later = network.reading("network")
    assert later.reason or {each.name for each in later.numbers} == {"network.in", "network.out"}


def test_the_allocators_of_living_processes_count_together(tmp_path: Path) -> None:
    line = "torch.allocated={}\ttorch.reserved={}\n"
    (tmp_path / f"{os.getpid()}.levels").write_text(line.format(1, 2) + line.format(10e6, 5)[:0])
    (tmp_path / f"{os.getppid()}.levels").write_text(line.format(9, 9) + line.format(3, 4))
    (tmp_path / "999999999.levels").write_text(line.format(100, 100))
    reading = allocators_reading("torch", tmp_path)
    assert [each.value for each in reading.numbers] == [4, 6]


def test_figures_that_are_old_say_so(tmp_path: Path) -> None:
    file = tmp_path / f"{os.getpid()}.levels"
    file.write_text("jax.live=2000000\tjax.buffers=3\tjax.compilations=2\tjax.compile_ms=1500\n")
    assert allocators_reading("jax", tmp_path).lines == ("2 compilations, 1.5 s",)
    os.utime(file, (1, 1))
    assert "old: the interpreter is busy" in allocators_reading("jax", tmp_path).reason


def test_a_program_that_has_ended_is_not_said_to_have_never_used_torch(tmp_path: Path) -> None:
    (tmp_path / "999999999.levels").write_text("torch.allocated=5\ttorch.reserved=9\n")
    reading = allocators_reading("torch", tmp_path)
    assert (reading.reason, reading.numbers) == ("no process that used torch runs any more", ())
    assert "has imported jax (yet)" in allocators_reading("jax", tmp_path).reason


def test_a_program_without_torch_is_said_to_have_none(tmp_path: Path) -> None:
    assert "has imported torch (yet)" in allocators_reading("torch", tmp_path).reason
    assert "has imported torch (yet)" in allocators_reading("torch", None).reason
