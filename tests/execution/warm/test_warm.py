"""A warm run is what a cold run would be: same exit, same output, same files."""

import pytest
from laboratory import spawners
from workshop import SLOW, Workshop

from whet.host.process.process_tree import children_of

ASKS = """import os.path, pathlib
found = [os.path.exists("x"), os.path.isfile("x"), os.path.isdir("x"), os.path.exists(os.path.abspath("x"))]
found += [pathlib.Path("x").exists(), pathlib.Path("x").is_file(), pathlib.Path("x").is_dir()]
print(found)
"""


def asks(more: str = "") -> str:
    """Return one statement, so that no copy is taken within: it asks for the kind of `x`, and more."""
    return f"exec({ASKS + more!r})\n"


STAT_REPLACED = """import os
stat, sizes = os.stat, []
os.stat = lambda path, **how: (sizes.append(stat(path, **how).st_size), stat(path, **how))[1]
x = os.path.exists("x") and sizes
os.stat = stat
"""

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("files", "edit"),
    [
        pytest.param(
            {"main.py": SLOW + "print('one')\n"},
            {"main.py": SLOW + "print('two')\n"},
            id="a later statement of the script",
        ),
        pytest.param(
            {"main.py": SLOW + "print(open('data').read())\n", "data": "old"},
            {"data": "new"},
            id="a file that is read later",
        ),
        pytest.param(
            {"main.py": SLOW + "import helper\n", "helper.py": "print(1)\n"},
            {"helper.py": "print(2)\n"},
            id="a module that is imported later",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": SLOW + "import helper\n"},
            {"helper.py": "print('now there is one')\n"},
            id="a module that was missing later",
        ),
        pytest.param(
            {"main.py": SLOW + "import os\nprint(os.path.exists('x'), os.listdir('.') != [])\n"},
            {"x": ""},
            id="a look-up later",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": asks("open('x', 'w').write('new')") + f"{SLOW}print(1)\n", "x": "old"},
            {"main.py": asks("open('x', 'w').write('new')") + f"{SLOW}print(2)\n"},
            id="a file of which no more than its kind was asked, and which was written anew",
        ),
        pytest.param(
            {"main.py": f"{asks()}{SLOW}print(1)\n", "x": "old"},
            {"x": "of another size"},
            id="the content of a file of which no more than its kind was asked",
        ),
        pytest.param(
            {"main.py": "import json\n" + SLOW + "print(json.__name__)\n"},
            {".main.py.swp": "an editor's file"},
            id="a file that nobody asked for",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": "x = 1000\n" + SLOW + "y = 1000\nprint(x is y)\n"},
            {"main.py": "x = 1000\n" + SLOW + "z = 1000\nprint(x is z, __doc__)\n"},
            id="a constant that is shared with what ran before",
        ),
        pytest.param(
            {"main.py": '"""Doc."""\n' + SLOW + "'text'\nprint(__doc__)\n"},
            {"main.py": '"""Doc."""\n' + SLOW + "'other'\nprint(__doc__, 1)\n"},
            id="a text that is no docstring",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": "from __future__ import annotations\n" + SLOW + "def f(a: x): ...\n"},
            {"main.py": "from __future__ import annotations\n" + SLOW + "def f(a: y): ...\nprint(f.__annotations__)\n"},
            id="what `from __future__ import` says",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": "print('before', end='')\n" + SLOW + "print('after')\n"},
            {"main.py": "print('before', end='')\n" + SLOW + "print('later')\nimport os; os._exit(3)\n"},
            id="output that is still in a buffer",
        ),
        pytest.param(
            {"main.py": "import sys\nprint('x', flush=True)\nprint('y', file=sys.stderr)\n" + SLOW + "pass\n"},
            {"main.py": "import sys\nprint('x', flush=True)\nprint('y', file=sys.stderr)\n" + SLOW + "1 / 0\n"},
            id="output that was written",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": "import random\nrandom.seed(1)\n" + SLOW + "print(random.random())\n"},
            {"main.py": "import random\nrandom.seed(1)\n" + SLOW + "print(random.random(), 2)\n"},
            id="a seed that was set",
        ),
        pytest.param(
            {"main.py": "f = open('data')\nprint(f.readline())\n" + SLOW + "print(f.read())\n", "data": "a\nb\nc\n"},
            {"main.py": "f = open('data')\nprint(f.readline())\n" + SLOW + "print(f.read(2))\n"},
            id="a file that is open",
        ),
        pytest.param(
            {"main.py": "import atexit\natexit.register(print, 'bye')\n" + SLOW + "raise SystemExit('so')\n"},
            {"main.py": "import atexit\natexit.register(print, 'bye')\n" + SLOW + "raise SystemExit(7)\n"},
            id="the end of the program",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": "from importlib import metadata\nx = metadata.version('pytest')\n" + SLOW + "print(x)\n"},
            {"main.py": "from importlib import metadata\nx = metadata.version('pytest')\n" + SLOW + "print(x, 2)\n"},
            id="a look for a package beside the script",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": SLOW + "def f():\n    raise KeyError(1)\nf()\n"},
            {"main.py": SLOW + "\n\ndef f():\n    raise KeyError(2)\nf()\n"},
            id="lines that moved below",
        ),
        pytest.param(
            {"main.py": SLOW + "f = open('out', 'w')\nf.write('one')\n"},
            {"main.py": SLOW + "f = open('out', 'w')\nf.write('two')\n"},
            id="a file that is never closed",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": "class A:\n    def __del__(self):\n        print('gone')\na = A()\n" + SLOW + "pass\n"},
            {"main.py": "class A:\n    def __del__(self):\n        print('gone')\na = A()\n" + SLOW + "raise SystemExit(3)\n"},
            id="the last words of an object",
        ),
        pytest.param(
            {"main.py": SLOW + "print(__loader__.name, __spec__)\n"},
            {"main.py": SLOW + "print(__loader__.path, __spec__)\n"},
            id="what loaded the script",
         marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_what_the_past_has_not_seen_is_answered_warm(
    workshop: Workshop, files: dict[str, str], edit: dict[str, str | None]
) -> None:
    workshop.write(files)
    workshop.run()
    workshop.run()
    workshop.write(edit)
    workshop.run()
    workshop.run()

    places = [bool(start.place) for start in workshop.starts]
    assert places == [False, True, True, True], workshop.starts


@pytest.mark.parametrize(
    ("files", "edit"),
    [
        pytest.param(
            {"main.py": "print('one')\n" + SLOW}, {"main.py": "print('two')\n" + SLOW},
            id="an earlier statement of the script",
        ),
        pytest.param(
            {"main.py": "import helper\n" + SLOW + "print(helper.X)\n", "helper.py": "X = 1\n"},
            {"helper.py": "X = 2\n"},
            id="a module that was imported",
        ),
        pytest.param(
            {"main.py": "x = open('data').read()\n" + SLOW + "print(x)\n", "data": "old"},
            {"data": "new"},
            id="a file that was read",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": "import os\nx = os.path.exists('x')\n" + SLOW + "print(x)\n"},
            {"x": ""},
            id="a file that was looked up and missing",
        ),
        pytest.param(
            {"main.py": "x = __import__('pathlib').Path('x').is_file()\n" + SLOW + "print(x)\n", "x": ""},
            {"x": None},
            id="a file that was looked up and there",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": asks("x = os.path.getsize('x')") + f"{SLOW}print(x)\n", "x": "old"},
            {"x": "of another size"},
            id="a file of which its kind was asked, and its size",
        ),
        pytest.param(
            {"main.py": f"{asks()}{SLOW}print(found)\n", "x": "old"},
            {"x": None},
            id="a file of which no more than its kind was asked, and which is gone",
        ),
        pytest.param(
            {"main.py": f"exec({STAT_REPLACED!r})\n{SLOW}print(x)\n", "x": "old"},
            {"x": "of another size"},
            id="a file that is looked up by what stands in the place of `os.stat`",
        ),
        pytest.param(
            {"main.py": "import os\nx = sorted(os.listdir('.'))\n" + SLOW + "print(x)\n"},
            {"another": ""},
            id="a folder that was listed",
        ),
        pytest.param(
            {"main.py": "x = sorted(__import__('glob').glob('*.txt'))\n" + SLOW + "print(x)\n", "a.txt": ""},
            {"b.txt": ""},
            id="a pattern that was looked for",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": "import os\nx = [e.stat().st_size for e in os.scandir('.') if e.name == 'x']\n" + SLOW + "print(x)\n", "x": "1"},
            {"x": "123"},
            id="an entry whose size was asked for",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": "x = sorted(d.name for d in __import__('importlib.metadata').metadata.distributions() if d.name == 'ours')\n" + SLOW + "print(x)\n"},
            {"ours-1.0.dist-info/METADATA": "Name: ours\nVersion: 1.0\n"},
            id="a package that was not installed",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": "try:\n    import helper\nexcept ImportError:\n    print('none')\n" + SLOW},
            {"helper.py": ""},
            id="a module that was missing",
         marks=pytest.mark.long),
        pytest.param(
            {"main.py": "import colorsys\n" + SLOW + "print(colorsys.__name__, hasattr(colorsys, 'OURS'))\n"},
            {"colorsys.py": "OURS = 1\n"},
            id="a module that now hides the one that was imported",
        ),
        pytest.param(
            {"main.py": "def f():\n    pass\nx = __import__('inspect').getsource(f)\n" + SLOW + "print(x)\n"},
            {"main.py": "def f():\n    pass\nx = __import__('inspect').getsource(f)\n" + SLOW + "print(x, 1)\n"},
            id="a script that had read itself",
        ),
    ],
)  # fmt: skip
def test_what_the_past_has_seen_is_answered_cold(
    workshop: Workshop, files: dict[str, str], edit: dict[str, str | None]
) -> None:
    workshop.write(files)
    workshop.run()
    workshop.write(edit)
    workshop.run()
    workshop.run()

    assert not workshop.starts[1].place, workshop.starts


@pytest.mark.parametrize(
    "doing",
    [
        pytest.param("open('main.py', 'a').close()", id="a file that was appended to"),
        pytest.param("import os; os.mkdir('made'); os.symlink('made', 'link'); os.unlink('link'); os.rmdir('made')", id="a link that was made", marks=pytest.mark.long),
        pytest.param("import subprocess; p = subprocess.Popen(['sleep', '0.3'])", id="a process that runs", marks=pytest.mark.long),
        pytest.param("import os; os.system('sleep 0.3 &')", id="a process that runs and belongs to nobody"),
        pytest.param("import threading; threading.Thread(target=time.sleep, args=(0.3,)).start()", id="a thread that runs", marks=pytest.mark.long),
        pytest.param("import socket; s = socket.socket()", id="a socket that is open", marks=pytest.mark.long),
        pytest.param("import mmap; f = open('shared', 'w+b'); f.write(bytes(9)); f.flush(); m = mmap.mmap(f.fileno(), 0)", id="memory that is shared"),
        pytest.param("import os; f = os.memfd_create('x')", id="memory that is a file", marks=pytest.mark.long),
        pytest.param("import signal; signal.alarm(100)", id="an alarm that is set"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_along_or_back_is_never_frozen(workshop: Workshop, doing: str) -> None:
    text = f"import time\nexec({doing!r})\n{SLOW}print('end')\n"
    workshop.write({"main.py": text})
    workshop.run()
    workshop.write({"main.py": f"{text}print('more')\n"})
    workshop.run()

    # On a slow machine a copy is taken before it, too.
    assert {start.place for start in workshop.starts} <= {"", "main.py:2"}


@pytest.mark.parametrize("name", ["main.py", "no folder/link"])
def test_a_link_that_cannot_be_made_is_no_change_of_the_machine(
    workshop: Workshop, name: str
) -> None:
    links = f"import ctypes\nctypes.CDLL(None).symlink(b'old', b'{name}')\n"
    workshop.write({"main.py": f"{links}{SLOW}print('end')\n"})
    workshop.run()
    workshop.write({"main.py": f"{links}{SLOW}print('more')\n"})
    workshop.run()

    assert workshop.starts[-1].place, workshop.starts


def test_a_program_may_trace_itself(workshop: Workshop) -> None:
    traces = (
        "import sys\ndef called():\n    return 1\n"
        "def note(frame, event, argument):\n"
        "    if frame.f_code.co_name == 'called':\n        print(event, frame.f_lineno)\n"
        "    return note\n"
    )
    end = "sys.settrace(note)\ncalled()\nsys.settrace(None)\n"
    workshop.write({"main.py": f"{traces}{SLOW}{end}"})
    outcome = workshop.run()
    workshop.write({"main.py": f"{traces}{SLOW}print(2)\n{end}"})
    workshop.run()

    assert outcome.stdout.head(99) == b"call 2\nline 3\nreturn 3\n"
    assert workshop.starts[-1].place


def test_a_syntax_error_is_shown_and_the_snapshots_stay(workshop: Workshop) -> None:
    workshop.write({"main.py": SLOW + "print(1)\n"})
    workshop.run()
    workshop.write({"main.py": SLOW + "print(1\n"})
    workshop.run()
    workshop.write({"main.py": SLOW + "print(2)\n"})
    workshop.run()

    assert [bool(start.place) for start in workshop.starts] == [False, False, True]


def test_there_is_a_copy_before_a_library_imports_a_module_of_the_users(workshop: Workshop) -> None:
    # Nothing inside `except` is a place where the script itself could be resumed.
    slow = SLOW.replace("\n", "; ")
    text = f"try:\n    raise KeyError\nexcept KeyError:\n    {slow}__import__('late')\n"
    workshop.write({"main.py": text, "late.py": "print(1)\n"})
    workshop.run()
    workshop.write({"late.py": "print(2)\n"})
    workshop.run()

    assert workshop.starts[-1].place == "late.py", workshop.starts


def test_a_resumed_run_leaves_deeper_snapshots(workshop: Workshop) -> None:
    workshop.write({"main.py": f"{SLOW}a = 1\n{SLOW}print(a)\n"})
    workshop.run()
    workshop.write({"main.py": f"{SLOW}a = 2\n{SLOW}print(a)\n"})
    workshop.run()
    workshop.write({"main.py": f"{SLOW}a = 2\n{SLOW}print(a, 2)\n"})
    workshop.run()

    assert [start.place for start in workshop.starts] == ["", "main.py:3", "main.py:6"]


def test_a_script_that_is_gone_is_what_python_says_of_it(workshop: Workshop) -> None:
    workshop.write({"main.py": SLOW + "print(1)\n"})
    workshop.run()
    workshop.write({"main.py": None})

    assert workshop.run().exit_code == 2


def test_nothing_of_the_agent_is_left_in_sight(workshop: Workshop) -> None:
    workshop.write({"main.py": "import os, sys\nprint(sorted(globals()), sys.argv, sys.path, sorted(os.environ) , os.getcwd(), 'whet_stage' in sys.modules)\n"})  # fmt: skip

    workshop.run()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import os\nos.stat('nowhere')\n", id="a look-up that fails"),
        pytest.param("import traceback\ntraceback.print_stack()\n", id="the stack"),
        pytest.param("import inspect, os\nprint(inspect.isbuiltin(os.stat))\n", id="a function"),
        pytest.param("import sys\nprint(sorted(sys.modules))\n", id="what is loaded"),
        pytest.param(
            "def f():\n    def g(): pass\n    return g\nprint(f.__code__.co_code, f.__code__.co_consts[1].co_code, f().__code__.co_names)\n",
            id="the code of a function",
        ),
        pytest.param(
            "import sys\nopen('m.py', 'w').write('def f(): return 1')\nfrom m import *\n"
            "del sys.modules['m']\nimport m\nprint(f.__code__.co_code, m.f.__code__.co_code)\n",
            id="the code of a function of a module that was loaded twice",
        ),
        pytest.param(
            "def main():\n    class A:\n        def __del__(self): print('gone')\n    a = A()\n    raise KeyError\nmain()\n",
            id="the last words of a local object",
        ),
        pytest.param(
            "def g():\n    try:\n        yield 1\n    finally:\n        print('closed')\na = g()\nnext(a)\n",
            id="the last words of a generator",
        ),
        pytest.param(
            "open('m.py', 'w').write('def f(:')\nimport m\n", id="a module that is no Python"
        ),
        pytest.param(
            "def main():\n    class A:\n        def f(self): return lambda: 1\n"
            "    async def g(): pass\n    print(A, A.f.__qualname__, A().f(1), g)\nmain()\n",
            id="the qualified names of what a function has made",
        ),
        pytest.param("a = 'x'\nprint(a is 'x')\n", id="what the compiler warns of"),
        pytest.param(
            "import warnings\nprint(warnings.filters, warnings.defaultaction)\n"
            "exec('1 is 1')\nimport m\n",
            id="what filters warnings",
        ),
        pytest.param("return 1\n", id="a script that cannot be compiled"),
        pytest.param(
            "import sys\nclass Loud:\n    def __getattr__(self, name):\n"
            "        print('asked for', name, file=sys.__stdout__)\n"
            "        return getattr(sys.__stdout__, name)\nsys.stdout = Loud()\n",
            id="an output that tells what it is asked for",
        ),
        pytest.param(
            "import gc\ndef f(): pass\nprint([len(each.co_consts) for each in gc.get_referents(f)"
            " if hasattr(each, 'co_consts')])\n",
            id="what the collector knows of a function",
        ),
    ],
)
def test_a_program_sees_nothing_of_whet(workshop: Workshop, text: str) -> None:
    workshop.write({"main.py": text})

    workshop.run()


def test_what_is_in_the_buffer_of_a_file_left_open_is_written(workshop: Workshop) -> None:
    workshop.write({
        "main.py": "import time\n"
        "def f():\n    time.sleep(0.06)\n    return 1\n"
        "x = f()\nout = open('out', 'w')\nout.write('words')\n"
    })  # fmt: skip
    assert workshop.run().exit_code == 0


def test_a_look_up_past_os_is_seen(workshop: Workshop) -> None:
    workshop.write({"main.py": "import posix\nx = posix.stat('d').st_size\n" + SLOW + "print(x)\n", "d": "1"})  # fmt: skip
    workshop.run()
    workshop.write({"d": "longer"})

    workshop.run()


def test_snapshots_end_with_their_executor(workshop: Workshop) -> None:
    workshop.write({"main.py": SLOW + "print(1)\n"})
    workshop.run()
    assert workshop.runs.last.snapshots == 1
    kept = spawners()
    below = [pid for one in kept for pid in children_of(one)]
    assert any(children_of(pid) for pid in below)

    workshop.warm.close()

    assert not any(children_of(pid) for pid in [*kept, *below])


@pytest.mark.parametrize(
    "files",
    [
        pytest.param("f = open('out', 'w')", id="a file that is written"),
        pytest.param("open('out', 'w').close()\nf = open('out', 'a')", id="a file that is appended to", marks=pytest.mark.long),
        pytest.param("f = open('out', 'w+')\nf.write('much more than the rest')\nf.flush()\nf.seek(2)", id="a file that is written in the middle"),
        pytest.param("import os\nf = open('out', 'w')\ng = os.fdopen(os.dup(f.fileno()), 'w')\ng.write('its twin')\ng.flush()", id="a file with two descriptors"),
        pytest.param("f = open('out', 'w')\ng = open('out', 'a')\ng.write('an end')\ng.flush()", id="a file that was opened twice", marks=pytest.mark.long),
        pytest.param("import tempfile\nf = tempfile.TemporaryFile('w+')", id="a file without a name", marks=pytest.mark.long),
        pytest.param("import tempfile\nf = tempfile.NamedTemporaryFile('w+')", id="a temporary file", marks=pytest.mark.long),
        pytest.param("import logging\nlogging.basicConfig(filename='out', filemode='w')\nlogging.error('begins')\nf = open('more', 'w')", id="a log"),
    ],
)  # fmt: skip
def test_a_file_that_is_open_for_writing_holds_what_it_held(workshop: Workshop, files: str) -> None:
    text = f"import time\n{files}\nf.write('one ')\nf.flush()\nf.write('buffered ')\n{SLOW}f.write('two')\n"
    text += "f.flush()\nprint(f.tell(), f.seek(0), f.readable() and f.read())\n"
    workshop.write({"main.py": text})
    workshop.run()
    for end in ("f.write('three')\n", "f.write('four')\n", "f.truncate(3)\n"):
        workshop.write({"main.py": text + end})
        workshop.run()

    assert all(start.place.startswith("main.py") for start in workshop.starts[1:]), workshop.starts


def test_streams_that_are_put_aside_for_a_while_lead_where_they_should(workshop: Workshop) -> None:
    text = (
        "import os, sys, tempfile, time\nprint('before', flush=True)\n"
        "kept, file = os.dup(1), tempfile.TemporaryFile('w+')\nos.dup2(file.fileno(), 1)\n"
        "print('inside', flush=True)\n" + SLOW + "print('later', flush=True)\nos.dup2(kept, 1)\n"
        "os.lseek(file.fileno(), 0, 0)\nprint(os.read(file.fileno(), 99), os.isatty(kept), flush=True)\n"
    )
    workshop.edit(text, text + "print('end')\nos.write(kept, b'kept')\n")
    workshop.write({"main.py": text + "1 / 0\n"})
    workshop.run()

    assert all(start.place for start in workshop.starts[1:]), workshop.starts


def test_a_resumed_run_leaves_copies_of_its_own(workshop: Workshop) -> None:
    text = f"{SLOW}print(open('data').read())\n{SLOW}print('later')\n"
    workshop.write({"main.py": text, "data": "1"})
    workshop.run()
    workshop.write({"data": "2"})
    workshop.run()
    workshop.write({"main.py": text + "print('end')\n"})
    workshop.run()

    assert [start.place for start in workshop.starts[1:]] == ["main.py:3", "main.py:6"]
