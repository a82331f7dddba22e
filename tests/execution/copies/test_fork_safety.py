"""What a copy of a process has not is refused by name; what is let through is as in a cold run."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from workshop import SLOW, Workshop, every_python, python_of

import whet.agent

pytestmark = pytest.mark.slow

SITE = str(Path(whet.agent.__file__).parent / "site")
PROBE = """
import sys
sys.path.insert(0, {site!r})
from whet_stage.forking.fork_safety import begin, blocker
begin()
{doing}
print(blocker(lambda _: False)[0])
"""


def blocker_of(doing: str, folder: Path, stdin: int = subprocess.DEVNULL) -> str:
    """Return why a program could not be frozen after doing something."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(site=SITE, doing=doing)],
        cwd=folder, stdin=stdin, capture_output=True, text=True, check=True, start_new_session=True,
    )  # fmt: skip
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("doing", "reason"),
    [
        ("import threading, time; threading.Thread(target=time.sleep, args=(1,), name='worker', daemon=True).start()", "the thread `worker` runs"),
        ("import _thread, time; _thread.start_new_thread(time.sleep, (1,)); time.sleep(.1)", "another Python thread runs"),
        ("import signal; signal.setitimer(signal.ITIMER_VIRTUAL, 9)", "an alarm is set"),
        ("import ctypes; t = ctypes.c_void_p(); ctypes.CDLL(None).timer_create(1, None, ctypes.byref(t))", "a timer is set"),
        ("import ctypes; ctypes.CDLL(None).timerfd_create(1, 0)", "a timer is set"),
        ("import subprocess; p = subprocess.Popen(['sleep', '1'])", "one of its child processes is running"),
        ("import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [10]); signal.raise_signal(10)", "a signal is blocked"),
        ("import socket; s = socket.socketpair(); import signal; signal.set_wakeup_fd(s[0].fileno(), warn_on_full_buffer=False) if s[0].setblocking(False) is None else 0", "a socket is open"),
        ("import os; os.mkfifo('fifo'); f = os.open('fifo', os.O_RDONLY | os.O_NONBLOCK)", "fifo` is open"),
        ("import select; e = select.epoll()", "an event loop or selector is open"),
        ("import asyncio; l = asyncio.new_event_loop()", "an event loop or selector is open"),
        ("import os; e = os.eventfd(0)", "an eventfd is open"),
        ("import os; f = os.memfd_create('x')", "`/memfd:x (deleted)` is open for writing"),
        ("import ctypes; ctypes.CDLL(None).inotify_init()", "it watches files (inotify)"),
        ("import os; p = os.pidfd_open(os.getpid())", "it holds a process (pidfd)"),
        ("import pty; p = pty.openpty()", "`/dev/ptmx` is open"),
        ("open('x', 'w').close(); import fcntl; f = open('x'); fcntl.flock(f, fcntl.LOCK_SH)", "x` is locked"),
        ("open('x', 'w').close(); import fcntl; f = open('x'); fcntl.lockf(f, fcntl.LOCK_SH)", "x` is locked"),
        ("import mmap; f = open('x', 'w+b'); f.write(bytes(9)); f.flush(); m = mmap.mmap(f.fileno(), 9); f.close()", "shared memory is mapped: "),
        ("import mmap, tempfile; f = tempfile.TemporaryFile(); f.write(bytes(9)); f.flush(); m = mmap.mmap(f.fileno(), 9, access=mmap.ACCESS_READ)", "is open for writing and mapped"),
        ("import ctypes; m = ctypes.create_string_buffer(9); ctypes.CDLL(None).mlock(m, 9)", "memory is locked"),
        ("import multiprocessing.shared_memory as s; m = s.SharedMemory(create=True, size=9); m.unlink()", "one of its child processes is running"),
        ("import multiprocessing; multiprocessing.set_start_method('fork'); p = multiprocessing.Pool(1)", "one of its child processes is running"),
        ("import multiprocessing, time; multiprocessing.set_start_method('fork'); p = multiprocessing.Process(target=time.sleep, args=(1,), daemon=True); p.start()", "one of its child processes is running"),
    ],
)  # fmt: skip
def test_the_reason_is_named(doing: str, reason: str, tmp_path: Path) -> None:
    assert reason in blocker_of(doing, tmp_path)


@pytest.mark.parametrize(
    "doing",
    [
        "import sys; sys.stdin.readline()",
        "import sys; sys.stdin.buffer.read(1)",
        "import sys; sys.stdin.buffer.raw.read(1)",
        "import sys; next(iter(sys.stdin))",
        "open(0).read(1)",
        "input()",
    ],
)
@pytest.mark.parametrize("is_terminal", [False, True])
def test_what_was_read_from_standard_input_is_gone(
    doing: str, *, is_terminal: bool, tmp_path: Path
) -> None:
    ours, theirs = pty.openpty() if is_terminal else reversed(os.pipe())
    os.write(ours, b"a line\n")
    for before in ("", f"{doing}; "):
        reason = blocker_of(f"{before}import sys; sys.stdin.fileno()", tmp_path, stdin=theirs)
        assert reason == ("it has read from standard input" if before else "")
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize(
    "doing",
    [
        "import tty; tty.setraw(0)",
        "import termios; m = termios.tcgetattr(0); m[3] &= ~termios.ECHO; termios.tcsetattr(0, 0, m)",
    ],
)
def test_a_terminal_that_was_changed_is_named(doing: str, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        assert blocker_of("import tty", tmp_path, stdin=theirs) == ""
        changed = blocker_of(doing, tmp_path, stdin=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    assert changed == "the terminal's state was changed"


@pytest.mark.parametrize(
    "doing",
    [
        "pass",
        "import faulthandler; faulthandler.dump_traceback_later(9)",
        "import os; p = os.pipe()",
        "import mmap; m = mmap.mmap(-1, 4096)",
        "import multiprocessing; l = multiprocessing.Lock()",
        "import threading; t = threading.Thread(target=print); t.start(); t.join()",
        "import whet_stage.forking.process as p; e, gone = p.entries, ['99999999']; p.entries = lambda path: gone and [gone.pop()] or e(path)",
        "import asyncio; asyncio.run(asyncio.sleep(0))",
        "import signal; signal.alarm(9); signal.alarm(0)",
        "import subprocess; subprocess.run(['true'])",
        "f = open('x', 'w'); g = open('x', 'a')",
        "import tempfile; f = tempfile.NamedTemporaryFile(); g = tempfile.TemporaryFile()",
        "import os; os.dup(1); os.dup2(os.open(os.devnull, os.O_WRONLY), 2)",
        "f = open('/dev/urandom', 'rb'); g = open('/dev/null', 'w'); h = open('/proc/self/stat')",
        "import concurrent.futures as c\nwith c.ThreadPoolExecutor(2) as p: list(p.map(abs, range(9)))",
        "import mmap; open('x', 'w').write('x'); f = open('x', 'rb'); m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)",
    ],
)  # fmt: skip
def test_what_is_over_or_harmless_hinders_nothing(doing: str, tmp_path: Path) -> None:
    assert blocker_of(doing, tmp_path) == ""


OF_A_PROCESS = [
    pytest.param(
        "import threading, os", "print(threading.main_thread().native_id == os.getpid(), threading.main_thread().ident == threading.get_ident(), threading.get_native_id() == os.getpid(), threading.active_count())",
        id="the number of the main thread",
     marks=pytest.mark.long),
    pytest.param(
        "import os, random, logging\nn = []\nos.register_at_fork(before=lambda: n.append('before'), after_in_parent=lambda: n.append('parent'), after_in_child=lambda: n.append('child'))\nrandom.seed(3)", "print(n, random.random(), os.waitpid(os.fork() or os._exit(len(n)), 0)[1], n)",
        id="handlers of forks",
    ),
    pytest.param(
        "import sys, os", "print(sorted(sys.modules), sorted(map(int, os.listdir('/proc/self/fd'))), open(os.devnull).fileno())",
        id="modules and descriptors",
     marks=pytest.mark.long),
    pytest.param(
        "import os\nf = os.scandir(os.path.dirname(os.__file__))\ng = next(f).name", "print(sorted([g, *(e.name for e in f)]))",
        id="a folder that is being listed",
     marks=pytest.mark.long),
    pytest.param(
        "import os\nf = os.open('.', os.O_RDONLY)", "print(sorted(os.listdir(f)), os.lseek(f, 0, os.SEEK_CUR) > 0)",
        id="a folder that is open",
     marks=pytest.mark.long),
    pytest.param(
        "import signal, os\nsignal.signal(signal.SIGUSR1, lambda *_: print('got it'))\nsignal.pthread_sigmask(signal.SIG_BLOCK, [12])", "os.kill(os.getpid(), signal.SIGUSR1); print(signal.pthread_sigmask(signal.SIG_BLOCK, []))",
        id="signals",
    ),
    pytest.param(
        "import os, resource\nos.umask(0o27)\nresource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))\nos.nice(1)", "print(os.umask(0), resource.getrlimit(resource.RLIMIT_NOFILE), os.nice(0), os.getpgrp() == os.getsid(0) == os.getpid())",
        id="mask, limits, group",
     marks=pytest.mark.long),
    pytest.param(
        "import logging\nlogging.basicConfig()\nlogging.getLogger().handlers[0].acquire()\nlogging._acquireLock() if hasattr(logging, '_acquireLock') else logging._lock.acquire()", "logging.getLogger().handlers[0].release()\nlogging._releaseLock() if hasattr(logging, '_releaseLock') else logging._lock.release()\nlogging.error('x')",
        id="locks that are held",
    ),
    pytest.param(
        "import warnings\nwarnings.simplefilter('error')\nimport threading\nn = len(warnings.filters)", "print(n == len(warnings.filters), warnings.filters[0])",
        id="filters of warnings",
     marks=pytest.mark.long),
    pytest.param(
        "import faulthandler, signal, sys\nfaulthandler.enable()\nfaulthandler.register(signal.SIGUSR2, chain=False)", "import os\nprint(faulthandler.is_enabled(), faulthandler.unregister(signal.SIGUSR2))",
        id="faulthandler",
    ),
    pytest.param(
        "import tempfile, weakref\nclass C: pass\nc = C()\nf = weakref.finalize(c, print, 'finalized')", "del c\ng = weakref.finalize(C, print, 'at exit')",
        id="finalizers",
     marks=pytest.mark.long),
    pytest.param(
        "import os, tempfile\nd = tempfile.TemporaryDirectory()", "print(os.listdir(d.name), os.path.isdir(d.name))",
        id="a temporary folder",
     marks=pytest.mark.long),
    pytest.param(
        "import multiprocessing\np = multiprocessing.get_context('fork').Process(target=print, args=('started',))", "p.start()\np.join()\nprint(p.exitcode)",
        id="a process that has not been started",
     marks=pytest.mark.long),
    pytest.param(
        "import multiprocessing.util\nf = multiprocessing.util.Finalize(None, print, args=('tidied up',), exitpriority=1)", "print('end')",
        id="what multiprocessing does at the end",
     marks=pytest.mark.long),
    pytest.param(
        "import ctypes.util\nx = ctypes.c_int(3)", "import ctypes, _ctypes\nprint(isinstance(x, ctypes._SimpleCData), isinstance(x, _ctypes._SimpleCData))",
        id="ctypes",
    ),
    pytest.param(
        "import asyncio\nprint(asyncio.run(asyncio.sleep(0, 1)))", "print(asyncio.run(asyncio.sleep(0, 2)))",
        id="an event loop before and after",
     marks=pytest.mark.long),
    pytest.param(
        "import threading\nt = threading.Thread(target=print, args=('in a thread',))\nu = threading.Thread(target=print)\nu.start()\nu.join()", "t.start()\nt.join()\nprint(t.is_alive(), u.is_alive(), threading.active_count())",
        id="a thread that has not been started",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("past", "rest"), OF_A_PROCESS)
def test_a_copy_is_what_a_fresh_process_would_be(workshop: Workshop, past: str, rest: str) -> None:
    text = f"{past}\n{SLOW}{rest}\n"
    workshop.edit(text, f"{text}print('more')\n")


@pytest.mark.long
@every_python
@pytest.mark.parametrize(("past", "rest"), OF_A_PROCESS)
def test_a_copy_is_what_a_fresh_process_would_be_of_each_python(
    workshop: Workshop, past: str, rest: str, minor: int
) -> None:
    workshop.python = python_of(minor)
    text = f"{past}\n{SLOW}{rest}\n"
    workshop.edit(text, f"{text}print('more')\n")


@every_python
def test_a_thread_can_be_started_that_had_not_been_before_the_copy(
    workshop: Workshop, minor: int
) -> None:
    """The first releases of Python 3.13 take it for ended in each process that is forked."""
    workshop.python = python_of(minor)
    making = "import threading\nt = threading.Thread(target=print, args=('in a thread',))\n"
    text = f"{making}{SLOW}t.start()\nt.join()\nprint(t.is_alive())\n"
    workshop.edit(text, f"{text}print('more')\n")


@pytest.mark.parametrize(
    "doing",
    [
        pytest.param("import asyncio; l = asyncio.new_event_loop()", id="an event loop", marks=pytest.mark.long),
        pytest.param("import os, signal; signal.pthread_sigmask(signal.SIG_BLOCK, [10]); signal.raise_signal(10)", id="a signal that is blocked", marks=pytest.mark.long),
        pytest.param("import sys; sys.addaudithook(lambda *_: None)", id="a listener to all events", marks=pytest.mark.long),
        pytest.param("import mmap; m = mmap.mmap(-1, 9, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); m.madvise(mmap.MADV_DONTFORK)", id="memory that no fork gets"),
    ],
)  # fmt: skip
def test_what_cannot_be_copied_is_not(workshop: Workshop, doing: str) -> None:
    text = f"exec({doing!r})\n{SLOW}print('end')\n"  # one statement, be the import slow
    workshop.write({"main.py": text})
    workshop.run()
    workshop.write({"main.py": f"{text}print('more')\n"})
    workshop.run()

    assert [start.place for start in workshop.starts] == ["", ""]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("processes", [1, 2])
def test_a_program_that_cannot_fork_runs_on(workshop: Workshop, processes: int) -> None:
    text = f"import os, resource\nresource.setrlimit(resource.RLIMIT_NPROC, ({processes}, {processes}))\nos.setuid(54321)\n{SLOW}print(1)\n"
    workshop.write({"main.py": text})

    assert workshop.run().exit_code == 0


@every_python
def test_every_python_is_copied_unseen(workshop: Workshop, minor: int) -> None:
    workshop.python = python_of(minor)
    text = (
        "import random, sys, threading, os\nrandom.seed(1)\nn = []\n"
        f"os.register_at_fork(before=lambda: n.append(1))\n{SLOW}"
        "print(random.random(), n, threading.main_thread().native_id == os.getpid())\n"
        "print(*sorted(sys.modules))\n"
    )

    workshop.edit(text, f"{text}print('more')\n")


@every_python
@pytest.mark.parametrize("level", [2, pytest.param(3, marks=pytest.mark.long), 9])
def test_every_python_warns_of_no_line_of_whets(workshop: Workshop, minor: int, level: int) -> None:
    workshop.python = python_of(minor)
    text = f"import warnings\n{SLOW}warnings.warn('from here', stacklevel={level})\n"

    outcome = workshop.edit(text, f"{text}print('more')\n")

    said = outcome.stderr.head(999)
    assert said in {b"sys:1: UserWarning: from here\n", b"<sys>:0: UserWarning: from here\n"}


@every_python
@pytest.mark.parametrize(
    "end",
    [
        pytest.param("pass\n", marks=pytest.mark.long),
        "atexit.register(int, 'x')\n",
        pytest.param("raise SystemExit('words')\n", marks=pytest.mark.long),
        "1 / 0\n",
    ],
)
def test_every_python_calls_what_is_to_be_called_at_the_end(
    workshop: Workshop, minor: int, end: str
) -> None:
    workshop.python = python_of(minor)
    text = f"import atexit\natexit.register(print, 'first')\n{SLOW}"

    outcome = workshop.edit(
        f"{text}{end}", f"{text}atexit.register(print, 'second')\nprint('more')\n{end}"
    )

    assert outcome.stdout.head(99) == b"more\nsecond\nfirst\n"


@every_python
def test_every_python_goes_on_with_another_function(workshop: Workshop, minor: int) -> None:
    workshop.python = python_of(minor)
    helper = "def early():\n    return 1\n\n\ndef late():\n    return 2\n"
    workshop.write({"helper.py": helper})
    workshop.write(
        {"main.py": f"import helper\nx = helper.early()\n{SLOW}print(x, helper.late())\n"}
    )
    workshop.run()

    workshop.write({"helper.py": helper.replace("2", "3")})

    assert workshop.run().stdout.head(99) == b"1 3\n"
    assert workshop.starts[-1].place


@every_python
@pytest.mark.parametrize(
    "doing",
    [
        "1 / 0",
        pytest.param("raise SystemExit(3)", marks=pytest.mark.long),
        "print(sys.gettrace() is trace)",
    ],
)
def test_every_python_is_traced_by_its_program_alone(
    workshop: Workshop, minor: int, doing: str
) -> None:
    workshop.python = python_of(minor)
    text = (
        f"import sys\n{SLOW}names = []\n"
        "trace = lambda frame, event, _: names.append((event, frame.f_code.co_name))\n"
        "def called():\n    pass\nsys.settrace(trace)\ncalled()\n"
    )
    workshop.write({"main.py": f"{text}sys.settrace(None)\nprint(names)\n"})
    workshop.run()

    workshop.write({"main.py": f"{text}{doing}\nprint(names)\n"})

    workshop.run()  # compares with a cold run


def test_a_module_that_whet_needs_too_is_the_programs_own(workshop: Workshop) -> None:
    workshop.write({"ast.py": "NAME = 'ast'\n", "enum.py": "NAME = 'mine'\n"})
    text = f"import ast, enum\n{SLOW}print(ast.NAME, enum.NAME)\n"

    assert workshop.edit(text, f"{text}print(1)\n").stdout.head(99) == b"ast mine\n1\n"


def test_a_program_that_another_one_started_is_left_alone(workshop: Workshop) -> None:
    workshop.python = "/bin/sh"
    workshop.write({"main.py": f"{SLOW}print(1)\n"})

    for _ in range(2):
        workshop.run("-c", f"{sys.executable} main.py; echo done")
    assert [start.place for start in workshop.starts] == ["", ""]


SHOWS = "import traceback\ntext = traceback.format_stack()[-1]  # here\n"


def test_a_script_that_shows_a_line_of_itself_has_not_read_itself(workshop: Workshop) -> None:
    text = f"{SHOWS}{SLOW}print(text, traceback.format_stack()[-1])\n"

    workshop.edit(text, f"{text.replace('[-1])', '[-1], 2)')}print('more')\n")


@pytest.mark.parametrize(
    "asks",
    [
        "os.path.exists(__file__)",
        pytest.param("os.path.realpath(__file__).endswith('main.py')", marks=pytest.mark.long),
        "str(pathlib.Path(__file__).resolve())[-1]",
        pytest.param("inspect.getmodule(inspect.currentframe()).__name__", marks=pytest.mark.long),
        "[linecache.getline(__file__, 1), linecache.checkcache(__file__), linecache.checkcache()]",
    ],
)
def test_a_script_that_asks_where_it_is_has_not_seen_what_it_says(
    workshop: Workshop, asks: str
) -> None:
    text = f"import inspect, linecache, os, pathlib\nprint({asks})\n{SLOW}print(1)\n"

    workshop.edit(text, f"{text}print('more')\n")


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        *(
            pytest.param(
                f"import os\nx = {looks}\n{SLOW}print(x)\n", ("print(x", "print('longer', x"),
                id=looks,
                marks=marks,
            )
            for looks, marks in (
                ("os.path.getsize(__file__)", ()),
                ("os.stat('main.py').st_size", pytest.mark.long),
                ("os.lstat(__file__).st_size", pytest.mark.long),
                ("[each.stat().st_size for each in os.scandir('.')]", ()),
            )
        ),
        pytest.param(f"{SHOWS}{SLOW}print(text)\n", ("# here", "# now here"), id="the line that was shown"),
        pytest.param(
            f"{SHOWS}import linecache\nx = linecache.getlines(__file__)\n{SLOW}print(x[-1])\n",
            ("print(x", "print(1, x"), id="lines that were known by then",
         marks=pytest.mark.long),
        pytest.param(
            f"{SHOWS}def f(): pass\nx = __import__('inspect').getsource(f)\n{SLOW}print(x)\n",
            ("print(x", "print(1, x"), id="a function's source that was known by then",
        ),
    ],
)  # fmt: skip
def test_what_a_script_has_shown_or_seen_of_itself_counts(
    workshop: Workshop, text: str, edit: tuple[str, str]
) -> None:
    workshop.write({"main.py": text})
    workshop.run()
    workshop.write({"main.py": text.replace(*edit)})
    workshop.run()

    # What is slow before it has seen itself may have been worth a snapshot of its own.
    lines = text.splitlines()
    seen_at = next((at for at, line in enumerate(lines, 1) if line.startswith("x = ")), 2)
    sound = ["", *(f"main.py:{line}" for line in range(1, seen_at + 1))]
    assert workshop.starts[1].place in sound, workshop.starts


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a `/dev` of its own")
@pytest.mark.parametrize(
    ("library", "reason"),
    [("libcuda.so.1", "a CUDA context exists"), ("libnvidia-ml.so.1", "")],
)
def test_a_cuda_context_hinders_and_a_question_to_the_device_does_not(
    tmp_path: Path, library: str, reason: str
) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    subprocess.run([compiler, "-shared", "-o", tmp_path / library, "-xc", os.devnull], check=True)
    doing = f"import ctypes; ctypes.CDLL({str(tmp_path / library)!r}); f = open('/dev/nvidiactl')"
    script = 'mount -t tmpfs none /dev && touch /dev/null /dev/nvidiactl && exec "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh",
         sys.executable, "-c", PROBE.format(site=SITE, doing=doing)],
        capture_output=True, text=True, check=False, start_new_session=True,
    )  # fmt: skip
    if "mount" in done.stderr:
        pytest.skip("this machine lets nobody mount")

    assert done.stdout.splitlines()[-1:] == [reason], done.stderr


def test_torch_is_told_to_ask_for_devices_without_cuda(workshop: Workshop) -> None:
    workshop.write({"main.py": "import os\nprint(os.environ['PYTORCH_NVML_BASED_CUDA_CHECK'])\n"})

    assert workshop.run().stdout.head(9) == b"1\n"
