"""Scripts that change the process they run in get the answers of a cold run."""

import pytest
from crossed import crossed
from workshop import SLOW, Workshop, every_python, python_of

pytestmark = pytest.mark.slow

_AGAIN = "import os, sys\nif 'AGAIN' not in os.environ:\n    os.environ['AGAIN'] = '1'\n    os.execv(sys.executable, [sys.executable, *sys.argv])\n"
_FINDER = "import sys, importlib.util, importlib.abc\nclass Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):\n    def find_spec(self, name, path, target=None):\n        print('asked for', name)\n        return importlib.util.spec_from_loader(name, self) if name == 'ours' else None\n    def exec_module(self, module):\n        module.X = 7\nsys.meta_path.insert(0, Finder())\n"


@pytest.mark.parametrize(
    ("past", "rest", "is_warm"),
    [
        pytest.param("import os\nos.chdir('sub')\n", "print(os.getcwd(), open('data').read(), __file__)\n", True, id="another folder"),
        pytest.param("import os\nos.chdir('sub')\n", "os.chdir('..')\nimport helper\nprint(helper.X)\n", True, id="another folder and back", marks=pytest.mark.long),
        pytest.param("import io, sys\nsys.stdout = io.TextIOWrapper(open(1, 'wb', closefd=False))\nprint('before')\n", "print('after')\n", True, id="a buffer around standard output"),
        pytest.param("import sys\nclass Loud:\n    def write(self, text):\n        return sys.__stdout__.write(text.upper())\n    def flush(self):\n        sys.__stdout__.flush()\nsys.stdout = Loud()\nprint('before')\n", "print('after')\n", True, id="standard output of its own", marks=pytest.mark.long),
        pytest.param("import sys, io\nsys.stdout = io.StringIO()\nprint('before')\n", "sys.stderr.write(sys.stdout.getvalue())\n", True, id="standard output that is kept", marks=pytest.mark.long),
        pytest.param("import contextlib, io\nkept = io.StringIO()\nwith contextlib.redirect_stdout(kept):\n    print('before')\n", "print(kept.getvalue())\n", True, id="standard output for a while", marks=pytest.mark.long),
        pytest.param(_FINDER, "import ours\nprint(ours.X)\nimport helper\nprint(helper.X)\n", True, id="an import hook"),
        pytest.param("import builtins\nbefore = builtins.__import__\ndef loud(name, *rest):\n    print('imports', name)\n    return before(name, *rest)\nbuiltins.__import__ = loud\n", "import helper\nprint(helper.X)\n", False, id="an import of its own", marks=pytest.mark.long),
        pytest.param("import sys\nheard = []\nsys.addaudithook(lambda event, _: heard.append(event))\n", "print(heard)\n", False, id="an ear for all events", marks=pytest.mark.long),
        pytest.param("import sys\nheard = []\nsys.addaudithook(lambda event, _: heard.append(event))\nopen('helper.py').close()\n", "print(heard)\n", False, id="an ear and something to hear", marks=pytest.mark.long),
        pytest.param("import sys\nsys.addaudithook(lambda event, _: event.startswith('cpython.') or sys.__stdout__.write(f'{event}\\n'))\nimport colorsys\n", "import atexit\natexit.register(print, 'bye')\nfor n in range(3):\n    print(n)\n", False, id="an ear that speaks to the end"),
        pytest.param("", "import os, sys\nprint('lost')\nos.execv(sys.executable, [sys.executable, '-c', 'print(5)'])\n", True, id="another program at the end", marks=pytest.mark.long),
        pytest.param(_AGAIN, "print(sys.argv, sorted(os.environ.keys() & {'AGAIN', 'WHET_STAGE'}))\n", False, id="itself once more"),
        pytest.param("import atexit, os\nchild = os.fork()\nif child:\n    atexit.register(os.waitpid, child, 0)\n", "if child:\n    os.waitpid(child, 0)\n    atexit.unregister(os.waitpid)\nprint('parent' if child else 'child')\n", False, id="a child that runs on"),
        pytest.param("import os\nchild = os.fork()\nif not child:\n    print('child')\n    raise SystemExit(4)\nstatus = os.waitpid(child, 0)[1]\n", "print(status)\n", True, id="a child that has ended", marks=pytest.mark.long),
        pytest.param("", "import os\nchild = os.fork()\nif not child:\n    print('child')\n    raise SystemExit(4)\nprint(os.waitpid(child, 0)[1])\n", True, id="a child at the end", marks=pytest.mark.long),
        pytest.param("import atexit\natexit.register(print, 'bye')\nprint('before')\n", "import os\nprint('lost')\nos._exit(3)\n", True, id="an end without words"),
        pytest.param("import atexit, sys\natexit.register(print, 'bye')\n", "import threading\nthreading.Thread(target=print, args=('thread',)).start()\nsys.exit('said')\n", True, id="a thread at the end", marks=pytest.mark.long),
        pytest.param("import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n", "import os\nos.kill(os.getpid(), signal.SIGTERM)\n", True, id="a signal to itself", marks=pytest.mark.long),
        pytest.param("import sys\nsys.setrecursionlimit(300)\nsys.argv.append('more')\nsys.path.append('sub')\n", "import inner\nprint(inner.X, sys.argv[1:])\n", True, id="another path", marks=pytest.mark.long),
        pytest.param("import os\nos.close(0)\n", "print(os.open('helper.py', os.O_RDONLY))\n", True, id="a closed stream"),
        pytest.param("import sys\nsys.excepthook = lambda kind, *_: print('hook', kind.__name__)\n", "raise KeyError('x')\n", True, id="a hook for exceptions", marks=pytest.mark.long),
        pytest.param("import sys\nsys.excepthook = lambda *_: 1 / 0\n", "raise KeyError('x')\n", True, id="a hook for exceptions that fails"),
        pytest.param("import sys\nsys.excepthook = None\n", "raise KeyError('x')\n", True, id="no function as a hook for exceptions", marks=pytest.mark.long),
        pytest.param("import sys\ndel sys.excepthook\n", "raise KeyError('x')\n", True, id="no hook for exceptions", marks=pytest.mark.long),
        pytest.param("import sys, traceback\ndef hook(*_):\n    print(sys.exc_info())\n    traceback.print_exc()\n    raise ValueError\nsys.excepthook = hook\n", "raise KeyError('x')\n", True, id="a hook that asks which exception is handled"),
        pytest.param("import sys\ndel sys.stdout\n", "print(1)\n", True, id="no standard output"),
        pytest.param("import sys\ndel sys.stderr\n", "raise SystemExit('why')\n", True, id="no standard error", marks=pytest.mark.long),
        pytest.param("import os\nos.umask(0o27)\nos.environ['A'] = 'b'\n", "os.system('umask; echo $A')\n", True, id="what children inherit", marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_the_answer_is_that_of_a_cold_run(
    workshop: Workshop, past: str, rest: str, *, is_warm: bool
) -> None:
    workshop.write({"helper.py": "X = 1\n", "sub/data": "inside\n", "sub/inner.py": "X = 2\n"})
    workshop.write({"main.py": f"{past}{SLOW}print('other end\\n', end='')\n"})
    workshop.run()
    workshop.write({"main.py": f"{past}{SLOW}{rest}"})
    workshop.run()
    workshop.run()

    assert [bool(start.place) for start in workshop.starts] == [False, is_warm, is_warm]


@crossed(words=[("main.py",), ("-m", "main")], end=["pass", "raise SystemExit('why')", "1 / 0"])
def test_a_stream_of_the_programs_own_is_flushed_as_often_as_cold(
    workshop: Workshop, words: tuple[str, ...], end: str
) -> None:
    head = (
        "import os, sys\nclass Own:\n    def write(self, text): return os.write(1, text.encode())\n"
        "    def flush(self): os.write(1, b'flushed\\n')\n"
    )
    workshop.write({"main.py": f"{head}{SLOW}sys.stdout = Own()\n{end}\n"})

    outcome = workshop.run(*words)

    assert b"flushed" in outcome.stdout.head(1 << 20)


@pytest.mark.long
def test_what_a_thread_imports_stays_imported(workshop: Workshop) -> None:
    """While whet works for the main thread, another one may go on."""
    names = [
        "colorsys", "csv", "difflib", "doctest", "email.message", "fractions", "ftplib", "gzip",
        "html.parser", "http.client", "ipaddress", "json.tool", "lzma", "mailbox", "mimetypes",
        "netrc", "optparse", "pdb", "pickletools", "plistlib", "profile", "pstats", "pyclbr",
        "pydoc", "queue", "quopri", "sched", "secrets", "smtplib", "statistics", "tabnanny",
        "tarfile", "timeit", "unittest.mock", "uuid", "wave", "xml.dom.minidom", "xmlrpc.client",
        "zipfile", "concurrent.futures", "logging.config", "wsgiref.handlers",
    ]  # fmt: skip
    functions = "".join(
        f"def f{n}(x):\n    for each in range(3):\n        x += each\n    return x\nf{n}({n})\n"
        for n in range(60)
    )
    modules = {f"mod{n}.py": "import own\ndef f(): return 1\nf()\n" for n in range(60)}
    imports = "".join(f"import mod{n}\n" for n in range(60))
    workshop.write({
        **modules,
        "own.py": "",
        "main.py": "import importlib, sys, threading\nlost = []\ndef work():\n"
        f"    for name in {names}:\n        module = importlib.import_module(name)\n"
        "        if sys.modules.get(name) is not module: lost.append(name)\n"
        "thread = threading.Thread(target=work)\nsys.setswitchinterval(1e-6)\nthread.start()\n"
        f"{functions}{imports}thread.join()\nprint(lost, 'ast' in sys.modules)\n",
    })  # fmt: skip

    assert workshop.run().exit_code == 0


GARBAGE = """\
import gc, time
class Node:
    def __init__(self): self.me, self.file = self, open("data")
    def __del__(self): {last_words}
gc.collect()
gc.set_threshold({many})
time.sleep(0.06)
Node()
time.sleep(0.06)
"""


@every_python
@pytest.mark.parametrize(
    ("many", "last_words"),
    [
        (50, "print('gone')"),
        pytest.param(50, "pass", marks=pytest.mark.long),
        pytest.param(400, "pass", marks=pytest.mark.long),
    ],
)
def test_garbage_goes_in_no_copy_that_waits(
    workshop: Workshop, minor: int, many: int, last_words: str
) -> None:
    text = GARBAGE.format(many=many, last_words=last_words)
    workshop.python = python_of(minor)
    workshop.write({"data": "1"})

    workshop.edit(*(f"{text}print({edit})\ngc.collect()\nprint('end')\n" for edit in (1, 2)))


@every_python
def test_what_whet_makes_is_nothing_that_the_collector_counts(
    workshop: Workshop, minor: int
) -> None:
    """The program's garbage goes when that count has come to a threshold."""
    text = (
        "import gc, time\ngc.collect()\nbefore = gc.get_count()[0]\ntime.sleep(0.06)\n"
        "made = gc.get_count()[0] - before\nprint(abs(made) < 40 or made, gc.isenabled())\n"
    )
    workshop.python = python_of(minor)
    functions = "".join(f"def f{n}(): return {n}\n" for n in range(40))

    last = workshop.edit(*(f"{functions}{text}print({edit})\n" for edit in (1, 2)))

    assert last.stdout.tail(100) == b"True True\n2\n"
