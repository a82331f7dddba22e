"""Whatever a program has looked at, in whatever language, a snapshot knows of; likewise what it did."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from crossed import crossed
from laboratory import guardians, spawners
from workshop import SLOW, Workshop, outcome_of

from whet.core.trial import ResetStep, Trial
from whet.host.process.process_tree import children_of, descendants_of

pytestmark = pytest.mark.slow

C = "import ctypes; c = ctypes.CDLL(None); c.fopen.restype = P = ctypes.c_void_p\n"


@pytest.mark.parametrize(
    ("looks", "files", "edit"),
    [
        pytest.param(
            f"{C}x = c.access(b'data', 0)", {}, {"data": ""}, id="C: access of what is missing"
        , marks=pytest.mark.long),
        pytest.param(
            f"{C}f = c.fopen(b'data', b'r'); x = c.fgetc(P(f)); c.fclose(P(f))",
            {"data": "a"}, {"data": "b"}, id="C: fopen",
        ),
        pytest.param(
            f"{C}f = c.fopen(b'data', b'r'); x = bool(f) and c.fclose(P(f)) == 0", {}, {"data": "b"}, id="C: a failed fopen"
        , marks=pytest.mark.long),
        pytest.param(
            f"{C}b = ctypes.create_string_buffer(256); c.statx(-100, b'data', 0, 0x7ff, b); x = b.raw[40:48]",
            {"data": "a"}, {"data": "longer"}, id="C: statx",
        ),
        pytest.param(
            "import sqlite3, contextlib\nwith contextlib.closing(sqlite3.connect('file:data?mode=ro', uri=True)) as d:\n"
            "    try: x = d.execute('select * from sqlite_master').fetchall()\n    except Exception as e: x = e",
            {"data": ""}, {"data": "no database, but something"}, id="sqlite3",
         marks=pytest.mark.long),
        pytest.param(
            "import subprocess; x = subprocess.run(['cat', 'data'], capture_output=True).stdout",
            {"data": "a"}, {"data": "b"}, id="a process that was started",
         marks=pytest.mark.long),
        pytest.param(
            "import subprocess; x = subprocess.getoutput('[ -e data ] && echo yes')", {}, {"data": "b"}, id="a shell",
         marks=pytest.mark.long),
        pytest.param(
            "import os\nif not (p := os.fork()): os._exit(open('data').read() == 'b')\nx = os.waitpid(p, 0)[1]",
            {"data": "a"}, {"data": "b"}, id="a process that was forked",
        ),
        pytest.param(
            "import threading; x = []; t = threading.Thread(target=lambda: x.append(open('data').read())); t.start(); t.join()",
            {"data": "a"}, {"data": "b"}, id="a thread",
        ),
        pytest.param(
            "import os; d = os.open('sub', os.O_RDONLY); f = os.open('data', os.O_RDONLY, dir_fd=d); x = os.read(f, 9); os.close(f); os.close(d)",
            {"sub/data": "a"}, {"sub/data": "b"}, id="relative to a folder that is held open",
         marks=pytest.mark.long),
        pytest.param(
            "import os; os.chdir('sub'); x = open('data').read(); os.chdir('..')",
            {"sub/data": "a"}, {"sub/data": "b"}, id="relative to a folder that was entered",
         marks=pytest.mark.long),
        pytest.param(
            "import mmap; f = open('data'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE); x = m[0]; m.close(); f.close()",
            {"data": "a"}, {"data": "b"}, id="a mapping",
        ),
        pytest.param(
            "import importlib.util; x = importlib.util.find_spec('helper') is None", {}, {"helper.py": ""},
            id="a module that was only asked for",
         marks=pytest.mark.long),
        pytest.param(
            "import sys; sys.path.insert(0, 'more')\ntry: import helper\nexcept ImportError: x = 1\nelse: x = 2",
            {}, {"more/helper.py": ""}, id="a path entry that was missing",
        ),
        pytest.param(
            "import sub; x = getattr(sub, 'X', 0)", {"sub/other": ""}, {"sub/__init__.py": "X = 1"},
            id="a namespace package that becomes another one",
         marks=pytest.mark.long),
        pytest.param(
            "import os, other\nif not (p := os.fork()):\n    import colorsys\n    os._exit(hasattr(colorsys, 'OURS'))\nx = os.waitpid(p, 0)[1]",
            {"other.py": ""}, {"colorsys.py": "OURS = 1"}, id="a module that a forked process has found elsewhere",
        ),
        pytest.param(
            "import os, other\nif not (p := os.fork()):\n    try: import helper\n    except ImportError: os._exit(1)\n    os._exit(2)\nx = os.waitpid(p, 0)[1]",
            {"other.py": ""}, {"helper.py": ""}, id="a module that a forked process has not found",
         marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_what_anybody_has_seen_spoils_what_came_after(
    workshop: Workshop, looks: str, files: dict[str, str], edit: dict[str, str | None]
) -> None:
    workshop.write({"main.py": f"exec({looks!r})\n{SLOW}print(x)\n", **files})
    workshop.run()
    workshop.run()
    workshop.write(edit)
    workshop.run()

    assert [bool(start.place) for start in workshop.starts] == [False, True, False], workshop.starts


@crossed(
    looks={
        "read": "x = open('state').read()",
        "sized and read": "os.path.getsize('state'); x = open('state').read()",
        "read and looked up": "x = open('state').read(); os.lstat('state')",
    },
    new={"same": "a", "other": "b"},
    write={
        "in place": "with open('state', 'w') as file: file.write({!r})",
        "by a new file": "with open('new', 'w') as file: file.write({!r})\nos.replace('new', 'state')",
    },
)  # fmt: skip
def test_a_file_that_each_run_writes_as_it_was_spoils_nothing_that_has_only_read_it(
    workshop: Workshop, looks: str, new: str, write: str
) -> None:
    text = f"import os\n{looks}\n{SLOW}{write.format(new)}\nprint(x)\n"
    workshop.write({"main.py": text, "state": "a"})
    outcome_of(workshop)
    workshop.write({"main.py": f"{text}print('more')\n"})

    outcome = outcome_of(workshop)

    assert outcome.stdout.head(9) == f"{new}\nmore\n".encode()
    is_only_read = looks.startswith("x") and "lstat" not in looks
    is_late = new == "a" and is_only_read and "replace" not in write
    assert bool(workshop.starts[-1].place) == is_late, workshop.starts


@pytest.mark.parametrize(
    "write",
    [
        "open('state', 'w').write({!r})",
        "f = open('state', 'r+'); f.write({!r}); f.close()",
        "open('new', 'w').write({!r}); os.replace('new', 'state')",
        "subprocess.run(['sh', '-c', 'printf ' + {!r} + ' > state'])",
    ],
)
def test_a_file_that_is_in_the_end_as_it_was_is_what_it_was_in_between(
    workshop: Workshop, write: str
) -> None:
    text = (
        f"import os, subprocess\nx = open('state').read()\n{write.format('b')}\n{SLOW}"
        f"y = open('state').read()\n{write.format('a')}\nprint(x, y)\n"
    )
    workshop.write({"main.py": text, "state": "a"})
    outcome_of(workshop)
    workshop.write({"main.py": f"{text}print('more')\n"})

    assert outcome_of(workshop).stdout.head(99) == b"a b\nmore\n"


@crossed(
    reads=["", "\ntry: x = open(helper.__file__).read()\nexcept OSError: x = 0"],
    edit={
        "another text": {"lib/site-packages/helper.py": "X = 2"},
        "a package": {
            "lib/site-packages/helper.py": None, "lib/site-packages/helper/__init__.py": "X = 3",
        },
        "another place": {"helper.py": "X = 4"},
    },
)  # fmt: skip
def test_an_edit_of_an_installed_module_spoils_what_came_after(
    workshop: Workshop, reads: str, edit: dict[str, str | None]
) -> None:
    looks = f"import sys; sys.path.append('lib/site-packages'); import helper; x = helper.X{reads}"
    workshop.write({"main.py": f"exec({looks!r})\n{SLOW}print(x)\n", "lib/site-packages/helper.py": "X = 1"})  # fmt: skip
    for _ in range(3):  # the first one makes `__pycache__`
        workshop.run()
    workshop.write(edit)
    workshop.run()

    assert [bool(start.place) for start in workshop.starts[2:]] == [True, False], workshop.starts


def test_a_script_that_becomes_a_link_or_leads_elsewhere_finds_other_modules(
    workshop: Workshop,
) -> None:
    text = f"{SLOW}import mod\nprint(mod.NAME)\n"
    for name in ("here", "one", "two"):
        folder = "" if name == "here" else f"{name}/"
        workshop.write({f"{folder}mod.py": f"NAME = {name!r}\n", f"{folder}main.py": text})
    main = workshop.folder / "main.py"
    for target, said in (("one", "one"), ("two", "two"), ("", "here"), ("one", "one")):
        if target:
            main.unlink()
            main.symlink_to(f"{target}/main.py")
            workshop.write({})
        else:
            workshop.write({"main.py": text})
        assert workshop.run().stdout.head(99) == f"{said}\n".encode()
        workshop.run()
        assert workshop.starts[-1].place, target


@pytest.mark.parametrize(
    "looks",
    [
        "x = open('data').read()", pytest.param("import os; x = os.stat('data').st_size", marks=pytest.mark.long),
        pytest.param("import os; x = os.path.realpath('data')[-1]", marks=pytest.mark.long), "import os; x = os.readlink('link')[-1]",
        "import os; x = os.path.getsize('link/file')", pytest.param("x = open('link/file').read()", marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_a_link_that_is_switched_is_noticed(workshop: Workshop, looks: str) -> None:
    workshop.write({"main.py": f"exec({looks!r})\n{SLOW}print(x)\n", "a": "1", "b": "22", "c/file": "1", "d/file": "22"})  # fmt: skip
    (workshop.folder / "data").symlink_to("a")
    (workshop.folder / "link").symlink_to("c")
    workshop.run()
    for name, target in (("data", "b"), ("link", "d")):
        (workshop.folder / name).unlink()
        (workshop.folder / name).symlink_to(target)
    workshop.run()

    assert [start.place for start in workshop.starts] == ["", ""]


@pytest.mark.parametrize(
    "does",
    [
        pytest.param(f"{C}c.fclose(P(c.fopen(b'helper.py', b'a')))", id="C: a file that was appended to", marks=pytest.mark.long),
        pytest.param(f"{C}c.symlink(b'main.py', b'link')", id="C: a link by name", marks=pytest.mark.long),
        pytest.param(f"{C}c.chmod(b'main.py', 0o600)", id="C: a mode"),
        pytest.param(f"{C}c.system(b'chmod 600 helper.py')", id="C: a shell that changed a mode", marks=pytest.mark.long),
        pytest.param("import subprocess; subprocess.run(['touch', 'main.py'])", id="a process that touched"),
        pytest.param("import os; os.link('main.py', 'out')", id="a link"),
        pytest.param("import os; os.utime('main.py')", id="a time", marks=pytest.mark.long),
        pytest.param("import os; f = os.open('main.py', os.O_RDONLY); os.fchmod(f, 0o600); os.close(f)", id="a mode, by descriptor", marks=pytest.mark.long),
        pytest.param("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', 9)); s.close()", id="a message"),
        pytest.param("import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.close()", id="an address", marks=pytest.mark.long),
        pytest.param(f"{C}import os; os.close(c.syscall(425, 1, ctypes.create_string_buffer(120)))", id="a ring that nobody sees through"),
        pytest.param("import sqlite3; d = sqlite3.connect('data'); d.execute('create table t (x)'); d.close()", id="a database", marks=pytest.mark.long),
        pytest.param("import os; os.mkfifo('pipe'); r = os.open('pipe', os.O_RDONLY | os.O_NONBLOCK); os.close(r); os.unlink('pipe')", id="a pipe with a name"),
    ],
)  # fmt: skip
def test_what_anybody_has_done_to_the_world_ends_the_ladder(workshop: Workshop, does: str) -> None:
    # One statement, after which alone there may be a snapshot.
    text = f"exec({does!r})\n{SLOW}print('end')\n"
    workshop.write({"main.py": text, "helper.py": ""})
    workshop.run()
    workshop.write({"main.py": f"{text}print('more')\n"})
    workshop.run()

    assert [start.place for start in workshop.starts] == ["", ""]
    assert all(start.halted for start in workshop.starts), workshop.starts


@pytest.mark.parametrize(
    "does",
    [
        pytest.param("import subprocess; subprocess.run(['true'])", id="a process that has ended", marks=pytest.mark.long),
        pytest.param("import os; os.waitpid(os.fork() or os._exit(0), 0)", id="a forked process"),
        pytest.param("import os; os.system('true')", id="a shell"),
        pytest.param("import os; os.chdir('sub'); os.chdir('..')", id="a folder that was entered", marks=pytest.mark.long),
        pytest.param("import os; os.makedirs('sub', exist_ok=True)", id="a folder that is there", marks=pytest.mark.long),
        pytest.param("import os; os.environ['A'] = 'b'", id="a variable", marks=pytest.mark.long),
        pytest.param("open('/dev/null', 'w').write('x')", id="nothing", marks=pytest.mark.long),
        pytest.param("import pathlib; pathlib.Path('missing').unlink(missing_ok=True)", id="a file that is not there", marks=pytest.mark.long),
        pytest.param("import helper", id="byte code"),
        pytest.param("import pwd, os; pwd.getpwuid(os.getuid())", id="a user that was looked up", marks=pytest.mark.long),
        pytest.param("import fcntl; f = open('helper.py'); fcntl.flock(f, fcntl.LOCK_EX); f.close()", id="a lock that is open again"),
        pytest.param("import os; os.kill(os.getpid(), 0)", id="a signal to itself", marks=pytest.mark.long),
        pytest.param("import subprocess; p = subprocess.Popen(['sleep', '9']); p.kill(); p.wait()", id="a signal to its child"),
    ],
)  # fmt: skip
def test_what_leaves_no_trace_ends_nothing(workshop: Workshop, does: str) -> None:
    # One statement, after which alone there may be a snapshot.
    text = f"exec({does!r})\n{SLOW}print('end')\n"
    workshop.write({"main.py": text, "sub/file": "", "helper.py": ""})
    workshop.run()
    workshop.write({"main.py": f"{text}print('more')\n"})
    workshop.run()

    assert workshop.starts[1].place, workshop.starts


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("cp fresh data", id="always"),
        pytest.param("cmp -s fresh data || cp fresh data", id="if need be"),
        pytest.param("cp fresh main.py", id="the script"),
    ],
)
def test_what_a_reset_step_changes_counts_as_edited(workshop: Workshop, step: str) -> None:
    text = f"x = open('data').read()\n{SLOW}print(x)\n"
    workshop.write({"main.py": text, "data": "old", "fresh": text})
    trial = Trial(
        command=(sys.executable, "main.py"),
        cwd=str(workshop.folder),
        reset=(ResetStep(command=step, must_succeed=True),),
    )
    for fresh in (text, text, f"# {text}"):
        workshop.write({"fresh": fresh})
        warm = workshop.warm.submit(trial).result()
        workshop.starts.append(workshop.runs.last)
        cold = workshop.cold.submit(trial).result()

        assert warm.stdout.head(1000) == cold.stdout.head(1000)
    places = ["main.py:3" if start.place else "" for start in workshop.starts]
    assert places == ["", "main.py:3", ""], workshop.starts


INNER = """
import sys
sys.path[:0] = {paths!r}
from pathlib import Path
from laboratory import Laboratory
from workshop import SLOW, opened
laboratory = Laboratory(Path({folder!r}))
with opened(laboratory) as inner:
    inner.write({{"main.py": SLOW + "print(1)"}})
    for _ in range(2):
        inner.run()
    print(inner.starts[-1].place, inner.starts[-1].halted)
laboratory.cleanup_journal.discard_all()
"""


def test_whet_inside_whet_runs_cold_and_says_why(workshop: Workshop, tmp_path: Path) -> None:
    here = Path(__file__).resolve()
    folder = tmp_path / "inner"
    folder.mkdir()
    paths = [str(here.parents[1]), str(here.parents[3] / "src")]
    workshop.write({"main.py": INNER.format(paths=paths, folder=str(folder))})

    trial = Trial(command=(sys.executable, "main.py"), cwd=str(workshop.folder))
    outcome = workshop.warm.submit(trial).result()

    said = outcome.stdout.head(1000).decode() + outcome.stderr.head(1000).decode()
    assert said.startswith(" whet can't observe here what programs read: "), said


@pytest.mark.parametrize("who", ["observer", "spawner"])
def test_a_death_of_whoever_answers_is_said_and_nothing_is_left(
    workshop: Workshop, who: str
) -> None:
    workshop.write({"main.py": "print('up', flush=True)\nimport os\nwhile True: os.stat('main.py')\n"})  # fmt: skip
    trial = Trial(command=(sys.executable, "main.py"), cwd=str(workshop.folder))
    while not 0 < len(guardians()) == len(spawners()):
        pass
    before = {*spawners()}
    future = workshop.warm.submit(trial)
    observer, spawner = _both(before)
    os.kill(observer if who == "observer" else spawner, signal.SIGKILL)

    outcome = future.result(30)
    assert outcome.signal == signal.SIGKILL
    assert "whet's process that ran the command was killed" in outcome.notes[0]
    workshop.write({"main.py": "print(1)\n"})
    assert workshop.warm.submit(trial).result().exit_code == 0
    assert not {spawner, observer} & {*descendants_of(os.getpid())}


def _both(before: set[int]) -> tuple[int, int]:
    """Wait until the program runs; return observer and spawner."""
    while True:
        for observer in before:
            for spawner in children_of(observer):
                for program in children_of(spawner):
                    with suppress(OSError):
                        if b"main.py" in Path(f"/proc/{program}/cmdline").read_bytes():
                            return observer, spawner


def test_many_trials_leave_no_descriptor_process_or_listener(workshop: Workshop) -> None:
    workshop.write({"main.py": "pass\n"})
    trial = Trial(command=(sys.executable, "-S", "main.py"), cwd=str(workshop.folder))
    workshop.cold.submit(trial).result()  # its processes have started now, too
    workshop.warm.submit(trial).result()
    before = _counted()
    for _ in range(60):
        workshop.warm.submit(trial).result()

    assert _counted() == before


def _counted() -> list[tuple[str, int]]:
    found = [os.getpid(), *descendants_of(os.getpid())]
    return [
        (Path(f"/proc/{pid}/comm").read_text(), len(list(Path(f"/proc/{pid}/fd").iterdir())))
        for pid in found
    ]
