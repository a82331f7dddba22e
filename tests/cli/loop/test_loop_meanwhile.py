"""What is saved while the program runs: by the user, by the program, and by whet."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from loop_command import PATIENCE_SECONDS, SLOW, Loop, looping, out_of, save
from whet_command import Whet

pytestmark = pytest.mark.slow

PYTHON = (sys.executable, "main.py")
_RUNS = 3
_QUIET_SECONDS = 0.4
ALL_WAYS = """
import mmap, os, shutil, sqlite3, subprocess, sys, threading
open("log", "a").write("x")
subprocess.run("echo 1 >> by-a-shell; mkdir -p made; echo 1 > made/inside", shell=True, check=True)
thread = threading.Thread(target=lambda: open("by-a-thread", "w").close())
thread.start()
thread.join()
open("part", "w").close()
os.replace("part", "renamed")
shutil.copy(sys.argv[0], "copied")
with sqlite3.connect("base") as base:
    base.execute("create table if not exists t (a)")
with open("mapped", "w+b") as file:
    file.write(b"12")
    file.flush()
    mmap.mmap(file.fileno(), 2)[0] = 50
os.path.islink("link") or os.symlink("log", "link")
os.utime("log")
os.chmod("log", 0o600)
"""

HELD = 'held = os.open(".", os.O_RDONLY)\n'
READ = 'read = os.open("log", os.O_RDONLY)\n'
NAMELESS = 'made = os.dup2(os.open(".", os.O_TMPFILE | os.O_RDWR), 200)\nlink = __import__("ctypes").CDLL(None).linkat\nos.path.exists("linked") and os.unlink("linked")\n'
ROUNDABOUT_WAYS = {
    "up": 'os.makedirs("sub", exist_ok=True)\nopen("sub/../log", "a").write("x")',
    "by the working folder": 'open("/proc/self/cwd/log", "a").write("x")',
    "by the top folder": 'open(f"/proc/self/root{os.getcwd()}/log", "a").write("x")',
    "by a folder": f'{HELD}open(f"/proc/self/fd/{{held}}/log", "a").write("x")',
    "by a folder of the device": f'{HELD}open(f"/dev/fd/{{held}}/log", "a").write("x")',
    "cut": f'{READ}os.truncate(f"/proc/self/fd/{{read}}", 1)',
    "may": f'{READ}os.chmod(f"/dev/fd/{{read}}", 0o600)',
    "what a link leads to": 'os.path.islink("to") or os.symlink("log", "to")\nos.chmod("to", 0o600)',
    "without a name": f'{NAMELESS}link(-100, b"/proc/self/fd/200", -100, b"linked", 0x400)',
    "by a number alone": f'{NAMELESS}link(200, b"", -100, b"linked", 0x1000)',
}


@pytest.fixture
def gate(whet: Whet) -> "Guard":
    """Hold programs up that call `gate()`."""
    return Guard(whet.folder.parent)


class Guard:
    """Lets a test act while a program is at a certain place; the program leaves nothing there."""

    def __init__(self, folder: Path) -> None:
        self._opened = folder / "opened"
        self.text = f"""
def gate():
    import os, time
    open("/proc/self/comm", "w").write("gate")
    while not os.path.exists({str(self._opened)!r}):
        time.sleep(0.001)
"""

    @contextmanager
    def held(self, loop: Loop) -> Iterator[None]:
        """Wait until the program is there; let it on afterwards, and never hold it again."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not any(map(_is_at_gate, loop.processes)):
            assert time.monotonic() < until
            time.sleep(0.001)
        yield
        self._opened.write_text("")


def _is_at_gate(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text() == "gate\n"
    except OSError:
        return False


@pytest.mark.parametrize("reading", ["open('conf.toml').read()", "'not at all'"])
def test_what_is_saved_while_the_program_runs_brings_a_run_when_it_is_over(
    whet: Whet, gate: "Guard", reading: str
) -> None:
    whet.write("conf.toml", "old")
    whet.write("main.py", f"{gate.text}{SLOW}print({reading})\ngate()\n")
    with looping(whet, *PYTHON) as loop:
        with gate.held(loop):
            loop.save("conf.toml", "new")
        first, second = loop.next(), loop.next()

    assert [Path(path).name for path in second["saved"]] == ["conf.toml"]
    if "open" in reading:
        assert [out_of(told, whet) for told in (first, second)] == ["old\n", "new\n"]


def test_what_is_saved_after_the_reset_steps_brings_a_run_when_it_is_over(
    whet: Whet, gate: "Guard"
) -> None:
    whet.write("conf.toml", "old")
    whet.write("main.py", f"{gate.text}{SLOW}print(open('conf.toml').read())\ngate()\n")
    options = ("--verify", "off", "--reset", "echo x > made.txt")
    with looping(whet, *PYTHON, options=options) as loop:
        with gate.held(loop):
            loop.save("conf.toml", "new")
        first, second = loop.next(), loop.next()
        loop.tells_nothing_for(_QUIET_SECONDS)

    assert [Path(path).name for path in second["saved"]] == ["conf.toml"]
    assert [out_of(told, whet) for told in (first, second)] == ["old\n", "new\n"]


def test_what_a_process_writes_that_a_reset_step_has_left_brings_no_run(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(1)\ntime.sleep(0.4)\n")
    server = "(while :; do echo x >> server.log; sleep 0.05; done) > /dev/null 2>&1 &"
    with looping(whet, *PYTHON, options=("--verify", "off", "--reset", server)) as loop:
        loop.next()
        loop.tells_nothing_for(1.5)


def test_whoever_drives_a_loop_hears_of_a_run_that_a_save_has_ended(
    whet: Whet, gate: "Guard"
) -> None:
    whet.write("main.py", f"{gate.text}{SLOW}gate()\n")
    with looping(whet, *PYTHON) as loop:
        with gate.held(loop):
            loop.save("main.py", "print('new')\n")
            told = json.loads(loop.line())
        second = json.loads(loop.line())

    assert [told["event"], second["event"]] == ["overtaken", "run"]
    assert [Path(path).name for path in told["saved"]] == ["main.py"]
    assert told["saved"] == second["saved"]
    ended = json.loads(whet("show", str(told["trial"]), "--json").stdout)
    assert ended["outcome"]["interrupted"]


def test_no_warm_answer_is_called_wrong_for_what_was_saved_meanwhile(
    whet: Whet, gate: "Guard"
) -> None:
    whet.write("conf.toml", "old")
    whet.write("main.py", f"{SLOW}print(1)\n")
    with looping(whet, *PYTHON, options=("--verify", "always")) as loop:
        loop.next()
        loop.save("main.py", f"{SLOW}{gate.text}print(open('conf.toml').read())\ngate()\n")
        with gate.held(loop):
            loop.save("conf.toml", "new")
        told = [json.loads(loop.line()) for _ in range(2)]

    assert [each["event"] for each in told] == ["run", "run"]
    assert told[0]["is_warm"]
    assert [out_of(each, whet) for each in told] == ["old\n", "new\n"]


def test_no_warm_answer_is_called_wrong_for_what_was_saved_elsewhere_meanwhile(
    whet: Whet, gate: "Guard"
) -> None:
    """Nobody tells of files in other folders."""
    data = whet.folder.parent / "conf.toml"
    data.write_text("old")
    whet.write("main.py", f"{SLOW}print(1)\n")
    with looping(whet, *PYTHON, options=("--verify", "always")) as loop:
        loop.next()
        reading = f"import time\nprint(open({str(data)!r}).read())\n{SLOW}"
        loop.save("main.py", f"{SLOW}{gate.text}{reading}gate()\n")
        with gate.held(loop):
            data.write_text("new")
        assert out_of(loop.next(), whet) == "old\n"
        told = loop.next("verification")

    assert told["differs_in"] == []
    conf = whet.folder.parent / "conf.toml"
    assert told["why_not"].startswith(
        f"{conf} has changed, and the program reads it before main.py"
    )


@pytest.mark.long
@pytest.mark.parametrize("when", ["while it ran", "while it was verified"])
def test_no_warm_answer_is_called_wrong_for_what_was_removed(
    whet: Whet, gate: "Guard", when: str
) -> None:
    """Nobody knows that the program had found what it has looked for after its last copy."""
    whet.write("data/one", "")
    text = f"{gate.text}import os, time\ntime.sleep(0.5)\nprint(os.path.isdir('data'))\n"
    whet.write("main.py", text)
    with looping(whet, *PYTHON, options=("--verify", "always")) as loop:
        loop.next()
        if when == "while it ran":
            loop.save("main.py", f"{text}gate()\n")
            with gate.held(loop):
                (whet.folder / "data").rename(whet.folder.parent / "elsewhere")
        else:
            loop.save("main.py", f"{text}print(2)\n")
        assert loop.out().startswith("True\n")
        if when == "while it was verified":
            (whet.folder / "data").rename(whet.folder.parent / "elsewhere")
        told = json.loads(loop.line())

    assert (told["event"], told["differs_in"]) == ("verification", [])
    assert told["why_not"] == "data has changed"


@pytest.mark.parametrize("gone", ["data", "package"])
def test_what_the_program_has_found_and_somebody_removes_brings_a_run(
    whet: Whet, gone: str
) -> None:
    whet.write("data", "old")
    whet.write("package/__init__.py", "")
    whet.write("package/part.py", "x = 1")
    whet.write("main.py", f"import package.part\nopen('data').read()\n{SLOW}print(1)\n")
    with looping(whet, *PYTHON) as loop:
        first = loop.next()
        (whet.folder / gone).rename(whet.folder.parent / "elsewhere")
        second = loop.next()

    assert (first["verdict"], second["verdict"]) == ("good", "bad")


@pytest.mark.long
def test_what_the_program_removes_itself_brings_no_run(whet: Whet) -> None:
    text = f"import os, tempfile\n{SLOW}for name in os.listdir('inbox'):\n    print(open(f'inbox/{{name}}').read())\n    os.remove(f'inbox/{{name}}')\nwith tempfile.NamedTemporaryFile(dir='.') as file:\n    os.stat(file.name)\n{SLOW}"  # fmt: skip
    for number in (1, 2):
        whet.write(f"inbox/{number}", "found")
    whet.write("main.py", f"{text}print(1)\n")
    with looping(whet, *PYTHON, options=("--runs", "3", "--verify", "off")) as loop:
        found = [loop.out()]
        for number in (2, 3):
            loop.save("main.py", f"{text}print({number})\n")
            found.append(loop.out())
        assert loop.process.wait(PATIENCE_SECONDS) == 0

    assert found == ["found\nfound\n1\n", "2\n", "3\n"]


_IN_LONG = [
    pytest.param(f"import os\n{way}\n", id=name, marks=pytest.mark.long)
    for name, way in ROUNDABOUT_WAYS.items()
]


@pytest.mark.long
@pytest.mark.parametrize(
    "ways",
    [
        pytest.param(ALL_WAYS, id="plain"),
        pytest.param("\n".join(["import os", *ROUNDABOUT_WAYS.values(), ""]), id="roundabout"),
        *_IN_LONG,
    ],
)
def test_what_the_program_writes_in_whatever_way_brings_no_run(whet: Whet, ways: str) -> None:
    whet.write("log", "x")
    text = f"{SLOW}{ways}{SLOW}"
    whet.write("main.py", f"{text}print(1)\n")
    with looping(whet, *PYTHON, options=("--runs", "3", "--verify", "off")) as loop:
        found = [loop.out()]
        loop.tells_nothing_for(_QUIET_SECONDS)
        for number in (2, 3):
            loop.save("main.py", f"{text}print({number})\n")
            found.append(loop.out())
        assert loop.process.wait(PATIENCE_SECONDS) == 0

    assert found == ["1\n", "2\n", "3\n"]


def test_a_file_that_comes_and_goes_while_a_run_is_verified_brings_no_run(whet: Whet) -> None:
    text = f"import os\n{SLOW}open('lock', 'w').close()\ntime.sleep(0.3)\nos.unlink('lock')\n"
    whet.write("main.py", f"{text}print(1)\n")
    with looping(whet, *PYTHON, options=("--verify", "always")) as loop:
        loop.next()
        loop.save("main.py", f"{text}print(2)\n")
        told = [json.loads(loop.line())["event"] for _ in range(2)]

    assert told == ["run", "verification"]


def test_what_another_process_may_write_at_the_program_s_wish_brings_no_run(whet: Whet) -> None:
    address = str(whet.folder.parent / "s")
    ask = f"import socket\nline = socket.socket(socket.AF_UNIX)\nline.connect({address!r})\nline.recv(1)\n"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        writing = threading.Thread(target=_write_for_each, args=(server, whet.folder), daemon=True)
        writing.start()
        whet.write("main.py", f"{SLOW}{ask}print(1)\n")
        with looping(whet, *PYTHON, options=("--runs", str(_RUNS))) as loop:
            found = [loop.out()]
            for number in range(2, _RUNS + 1):
                loop.save("main.py", f"{SLOW}{ask}print({number})\n")
                found.append(loop.out())

    assert found == ["1\n", "2\n", "3\n"]


def _write_for_each(server: socket.socket, folder: Path) -> None:
    for _ in range(_RUNS):
        line, _ = server.accept()
        with line:
            (folder / "written").write_text(str(time.time_ns()))
            line.sendall(b".")


@pytest.mark.long
@pytest.mark.parametrize("way", ["> out.json", "| tee out.json >/dev/null", "| cat | tee -a out.json | cat >/dev/null"])  # fmt: skip
def test_whet_s_own_output_is_no_save(whet: Whet, way: str) -> None:
    whet.write("main.py", f"{SLOW}print(1)\n")
    with _kept_by_the_shell(whet, way, runs=3) as loop:
        for number in (1, 2):
            loop.save_after(number, "data")

    assert _saved(loop.out) == [[], ["data"], ["data"]]


@pytest.mark.long
def test_a_program_may_save_data_as_soon_as_it_is_told_of_a_run(whet: Whet) -> None:
    whet.write("data", "0")
    whet.write("main.py", f"{SLOW}print(open('data').read())\n")
    with looping(whet, *PYTHON) as loop:
        loop.next()
        for number in range(12):
            loop.save("data", str(number))
            assert loop.out() == f"{number}\n"


@pytest.mark.long
def test_what_is_written_because_a_run_has_ended_brings_many_runs_and_then_none(
    whet: Whet,
) -> None:
    whet.write("main.py", f"{SLOW}print(1)\n")
    way = '| while read line; do echo "$line" >> out.json; done'
    with _kept_by_the_shell(whet, way, runs=103) as loop:
        loop.save_after(101, "data")
        time.sleep(_QUIET_SECONDS)
        loop.save_after(102, "data")

    saved = _saved(loop.out)
    assert saved == [[], *[["out.json"]] * 100, ["data"], ["data"]]
    notes = [each for each in _told(loop.out) if each["event"] == "note"]
    assert [Path(path).name for note in notes for path in note["files"]] == ["out.json"]


@dataclass
class _Kept:
    """A loop whose output is kept in the folder itself."""

    whet: Whet
    out: Path

    def save_after(self, number: int, name: str) -> None:
        """Save a file once so many runs are told of."""
        until = time.monotonic() + PATIENCE_SECONDS
        while len(_runs(self.out)) < number and time.monotonic() < until:
            time.sleep(0.001)
        save(self.whet, name, str(number))


@contextmanager
def _kept_by_the_shell(whet: Whet, way: str, runs: int) -> Iterator[_Kept]:
    command = f"{sys.executable} -m whet loop --json --runs {runs} -- {' '.join(PYTHON)} {way}"
    process = subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=whet.folder, env={**os.environ, **whet.environment}
    )
    with process:
        yield _Kept(whet, whet.folder / "out.json")
        assert process.wait(PATIENCE_SECONDS) == 0


def _saved(out: Path) -> list[list[str]]:
    return [[Path(path).name for path in run["saved"]] for run in _runs(out)]


def _runs(out: Path) -> list[dict[str, Any]]:
    return [each for each in _told(out) if each["event"] == "run"]


def _told(out: Path) -> list[dict[str, Any]]:
    lines = out.read_text().splitlines() if out.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]
