"""The observer answers every held call at once, whatever the call is about and whoever makes it."""

import ast
import mmap
import os
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whet.host.files import file_times
from whet.host.files.file_times import wait_until_settled
from whet.host.files.marks import (
    UNSURE,
    has_other_entries,
    listing,
    of_file,
    of_link,
    sure,
    with_contents,
)
from whet.host.kernel.seccomp import instructions
from whet.host.kernel.syscalls import ARCHITECTURES, MAGIC_FLAGS, MAGIC_FOLDER, calls, machine

if TYPE_CHECKING:  # the observer has no `typing` to make it with
    from whet.host.process.messages import Observed

SOURCES = str(Path(__file__).resolve().parents[3] / "src")
ALLOW, ASK = 0x7FFF0000, 0x7FC00000


def verdict(number: int, *arguments: int, architecture: int | None = None) -> int:
    """Run the filter as the kernel does."""
    known = ARCHITECTURES[machine()] if architecture is None else architecture
    six = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=iIQ6Q", number, known, 0, *(one & (2**64 - 1) for one in six))
    program, at, held = instructions(), 0, 0
    while True:
        operation, yes, no, value = program[at]
        at += 1
        if operation == 0x06:
            return value
        if operation == 0x20:
            held = int.from_bytes(data[value : value + 4], "little")
        else:
            is_so = held == value if operation == 0x15 else held >= value
            at += yes if is_so else no


def test_each_watched_call_is_held_and_no_other() -> None:
    for number in range(500):
        assert (verdict(number, 3, 1, 10, 0, 1) == ASK) == (number in calls()), number


def test_advice_on_memory_is_held_if_no_fork_is_to_get_it() -> None:
    (number,) = (number for number, call in calls().items() if call[0] == "madvise")

    for advice in range(30):
        held = verdict(number, 4096, 4096, advice) == ASK
        assert held == (advice == mmap.MADV_DONTFORK)


def test_a_call_of_another_architecture_is_held() -> None:
    assert verdict(0, architecture=0x40000003) == ASK  # i386: restart_syscall
    if machine() == "x86_64":
        assert verdict(0x40000000) == ASK  # x32: read


def test_what_is_tagged_as_whets_own_passes() -> None:
    numbers = {call[0]: number for number, call in calls().items()}

    for name in ("openat", "newfstatat", "readlinkat"):
        assert verdict(numbers[name], MAGIC_FOLDER) == ALLOW
    assert verdict(numbers["sendmsg"], 3, 0, MAGIC_FLAGS) == ALLOW
    assert verdict(numbers["sendto"], 3, 0, 0, 0, 0) == ALLOW
    assert verdict(numbers["sendto"], 3, 0, 0, 0, 1 << 40) == ASK


PROBE = """
import os, sys
sys.path.append({sources!r})
from whet.host.process.messages import Freezing
from whet.host.spawner.observer import divide
from whet.host.spawner.watching import Watching
from whet.host.spawner.launch import start
watching = Watching(divide())
watching.begin(Freezing(), b"", os.fsencode(os.getcwd()))
words = [os.fsencode(word) for word in sys.argv[1:]]
command = start(words, dict(os.environb), os.getcwdb(), ((0, 1, 2), -1, None), watching)
_, status = os.waitpid(command.pid, 0)
print(repr((status, watching.refusal, watching.noticed(1, os.getpid()))))
"""


def watched(folder: Path, text: str) -> "tuple[int, Observed]":
    """Run a text of Python watched; return its wait status and what was noticed."""
    command = (sys.executable, "-I", "-S", "-c", PROBE.format(sources=SOURCES))
    read, write = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, write, 1)]
    argv = [*command, sys.executable, "-I", "-S", "-c", text]
    before = Path.cwd()
    os.chdir(folder)
    try:
        pid = os.posix_spawn(sys.executable, argv, os.environ, file_actions=actions)
    finally:
        os.chdir(before)
    os.close(write)
    with os.fdopen(read) as answer:
        said = answer.read().splitlines()
    os.waitpid(pid, 0)
    found: tuple[int, str, Observed] = ast.literal_eval(said[-1])
    status, refusal, observed = found
    assert not refusal
    return status, observed


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import os, _thread\nt = []\ndef f():\n  for i in range(300): os.access('/x', 0)\n  t.append(1)\nfor i in range(8): _thread.start_new_thread(f, ())\nwhile len(t) < 8: pass", id="threads"),
        pytest.param("import os, signal as s\ns.signal(s.SIGALRM, lambda *a: None); s.siginterrupt(s.SIGALRM, False); s.setitimer(s.ITIMER_REAL, .0005, .0005)\nfor i in range(5000): os.stat('/')\ns.setitimer(s.ITIMER_REAL, 0)", id="signals that restart calls"),
        pytest.param("import os\nfor i in range(20):\n  if not (p := os.fork()):\n    while 1: os.access('/x', 0)\n  os.kill(p, 9); os.waitpid(p, 0)", id="a death while a call is held"),
        pytest.param("import os\nfor i in range(5): os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)", id="processes that share memory until they are another program"),
        pytest.param("import os\ntry: os.stat('x' * 9000)\nexcept OSError: pass", id="a path that is too long"),
        pytest.param("import os\nos.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\ntry: os.stat('x')\nexcept OSError: pass", id="a folder that is gone"),
    ],
)  # fmt: skip
def test_a_program_goes_on_whatever_it_does(tmp_path: Path, text: str) -> None:
    assert watched(tmp_path, text)[0] == 0


CODE = "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(bytes.fromhex('b814000000cd80c3'))\nctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("import ctypes; ctypes.CDLL(None).access(1, 0)", "that whet can't inspect", id="a bad address"),
        pytest.param(CODE, "another architecture", id="a call of another architecture", marks=pytest.mark.skipif(machine() != "x86_64", reason="written for x86-64")),
    ],
)  # fmt: skip
def test_what_cannot_be_understood_ends_the_ladder(tmp_path: Path, text: str, why: str) -> None:
    status, observed = watched(tmp_path, text)

    assert status == 0
    assert why in observed[0]


def test_marks_are_of_the_moment_before(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("old")
    settled(tmp_path / "data")
    mark = with_contents(str(tmp_path / "data"), of_file(str(tmp_path / "data")))

    _, observed = watched(tmp_path, "open('data').close(); open('data', 'w').write('newer')")

    assert observed[1][f"{tmp_path}/data"] == mark


@pytest.mark.parametrize(
    "way", ["/proc/self/cwd", "/proc/self/root{cwd}", "/proc/self/fd/{held}", "/dev/fd/{held}"]
)
def test_a_file_is_seen_also_by_way_of_what_a_process_holds(tmp_path: Path, way: str) -> None:
    (tmp_path / "data").write_text("old")
    names = "cwd=os.getcwd(), held=os.open('.', os.O_RDONLY)"
    text = f"import os\nopen({way + '/data'!r}.format({names})).close()"

    _, observed = watched(tmp_path, text)

    assert f"{tmp_path}/data" in observed[1]


def test_a_file_that_may_change_unseen_has_no_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data"
    monkeypatch.setattr(file_times, "_mount_of", lambda _: ("", "unknown"))
    path.write_text("")
    assert sure(of_file(str(path))) == UNSURE
    settled(path)
    assert sure(of_file(str(path))) != UNSURE


def test_a_link_has_a_mark_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    link = tmp_path / "link"
    link.symlink_to("a")
    before = of_link(str(link))
    link.unlink()
    link.symlink_to("./a")

    assert of_link(str(link)) != before
    assert of_file(str(link)) == of_file(str(tmp_path / "a"))


def test_a_listing_is_what_a_program_gets_and_modules_only_those_it_asked_for(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.py").write_text("")
    then = listing(str(tmp_path))
    (tmp_path / "b.py").write_text("")

    assert has_other_entries(str(tmp_path), then, None)
    assert has_other_entries(str(tmp_path), then, {"b"})
    assert not has_other_entries(str(tmp_path), then, {"a", "c"})
    (tmp_path / "b.py").unlink()
    assert not has_other_entries(str(tmp_path), then, None)


def settled(path: Path) -> None:
    """Wait until a change of a file would show."""
    wait_until_settled([path.stat()])


def test_of_many_small_files_not_all_are_read_while_the_program_waits(tmp_path: Path) -> None:
    for number in range(1100):
        (tmp_path / f"{number}").write_text("x")
    settled(tmp_path / "1099")

    _, observed = watched(tmp_path, "[open(str(n)).close() for n in range(1100)]")

    marks = [observed[1][f"{tmp_path}/{number}"] for number in range(1100)]
    with_digest = [mark for mark in marks if isinstance(mark[-1], str)]
    assert 900 < len(with_digest) < 1100
