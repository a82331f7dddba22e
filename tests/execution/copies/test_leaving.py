"""A warm run's result comes when the program has done all, not when its memory is gone."""

import ctypes
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from workshop import SLOW, Workshop, outcome_of

from whet.core.limits import Limits

_SEIZE, _CONTINUE = 0x4206, 7  # linux/ptrace.h
_TRACES_EXIT, _EXIT_STOP = 1 << 6, 6 << 16 | 5 << 8 | 0x7F
_WALL = 0x40000000  # sys/wait.h

_MEETS = """
with open('met', 'w') as file:
    file.write(str(os.getpid()))
with open('go') as file:
    file.read()
"""


class Held:
    """Stops a process where it begins to end, before the kernel takes its memory apart."""

    def __init__(self) -> None:
        self.pid = 0
        self.has_stopped = threading.Event()
        self.may_end = threading.Event()

    def hold(self, folder: Path) -> None:
        """Meet the program, and hold it at its end; one thread does all of that."""
        trace = ctypes.CDLL(None, use_errno=True).ptrace
        trace.argtypes = [ctypes.c_long] * 4
        self.pid = int((folder / "met").read_text())
        assert trace(_SEIZE, self.pid, 0, _TRACES_EXIT) == 0, os.strerror(ctypes.get_errno())
        (folder / "go").write_text("")
        # Before that it may be told that what it has forked for a copy is gone.
        while (status := os.waitpid(self.pid, _WALL)[1]) != _EXIT_STOP and os.WIFSTOPPED(status):
            trace(_CONTINUE, self.pid, 0, os.WSTOPSIG(status))
        if status == _EXIT_STOP:
            self.has_stopped.set()
            self.may_end.wait()
            trace(_CONTINUE, self.pid, 0, 0)
            os.waitpid(self.pid, _WALL)


@contextmanager
def held(workshop: Workshop) -> Iterator[Held]:
    """Hold the next run at its end until this is left."""
    held = Held()
    thread = threading.Thread(target=held.hold, args=(workshop.folder,))
    thread.start()
    try:
        yield held
    finally:
        held.may_end.set()
        thread.join()


def begun(workshop: Workshop, text: str) -> None:
    """Leave snapshots of a script with an end of its own, and give it another one."""
    os.mkfifo(workshop.folder / "met")
    os.mkfifo(workshop.folder / "go")
    workshop.write({"main.py": f"import os, sys\n{SLOW}print('first')\n"})
    outcome_of(workshop)
    workshop.write({"main.py": f"import os, sys\n{SLOW}{_MEETS}{text}"})


@pytest.mark.parametrize(("end", "code"), [("print('done')\n", 0), ("sys.exit(7)\n", 7)])
def test_the_result_is_there_before_the_memory_is_gone(
    workshop: Workshop, end: str, code: int
) -> None:
    begun(workshop, f"held = bytearray(50_000_000)\n{end}")
    with held(workshop) as process:
        outcome = outcome_of(workshop)

        assert process.has_stopped.wait(20)
        assert Path(f"/proc/{process.pid}").exists()
    assert workshop.starts[-1].place
    assert outcome.exit_code == code
    assert [(each.pid, each.exit_code) for each in outcome.processes] == [(process.pid, code)]
    assert outcome.peak_rss_bytes > 50_000_000
    assert outcome.cpu_seconds > 0


def test_no_run_begins_before_the_last_one_is_gone(workshop: Workshop) -> None:
    begun(workshop, "print('done')\n")
    with held(workshop) as process:
        outcome_of(workshop)
        asks = (
            f"try:\n    os.kill({process.pid}, 0)\nexcept ProcessLookupError:\n    print('gone')\n"
        )
        workshop.write({"main.py": f"import os, sys\n{SLOW}{asks}"})
        future = workshop.warm.submit(workshop.trial())
        with pytest.raises(TimeoutError):
            future.result(timeout=0.3)

    assert future.result().stdout.head(100) == b"gone\n"
    assert workshop.runs.last.place


def test_what_has_ended_between_two_runs_is_not_seen_any_more(workshop: Workshop) -> None:
    begun(workshop, "print('done')\n")
    with held(workshop) as process:
        outcome_of(workshop)

        assert Path(f"/proc/{process.pid}").exists()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{process.pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.parametrize(
    "end",
    [
        "import subprocess\nsubprocess.Popen(['sleep', '1000'])\n",
        "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\n",
        "if os.fork() == 0:\n    if os.fork() == 0:\n        os.execvp('sleep', ['sleep', '1000'])\n    os._exit(0)\nos.wait()\n",
    ],
)
def test_a_process_that_is_left_behind_is_ended_and_told_of(workshop: Workshop, end: str) -> None:
    workshop.write({"main.py": f"import os\n{SLOW}print('first')\n"})
    outcome_of(workshop)
    workshop.write({"main.py": f"import os\n{SLOW}{end}"})
    outcome = outcome_of(workshop)

    assert workshop.starts[-1].place
    left = [each for each in outcome.processes if each.was_left_behind]
    assert [each.signal for each in left] == [9]
    assert not Path(f"/proc/{left[0].pid}").exists()


@pytest.mark.parametrize(
    "takes",
    [
        "import fcntl\nfile = open('lock', 'w')\nfcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n",
        pytest.param(
            "import fcntl\nfile = open('lock', 'w')\nfcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n",
            marks=pytest.mark.long,
        ),
        "import socket\nlistener = socket.socket()\nlistener.bind(('127.0.0.1', {port}))\nlistener.listen()\n",
        pytest.param(
            "import socket\nlistener = socket.socket(socket.AF_UNIX)\nlistener.bind('\\0whet-{port}')\n",
            marks=pytest.mark.long,
        ),
    ],
)
def test_what_a_run_has_taken_is_free_for_the_next_one(workshop: Workshop, takes: str) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    ballast = "held = bytearray(50_000_000)\n"  # so that its end takes some time
    begin = f"import os\n{ballast}{SLOW}"
    workshop.write({"main.py": f"{begin}print('first')\n"})
    outcome_of(workshop)
    for number in range(8):
        text = takes.replace("{port}", str(port))
        workshop.write({"main.py": f"{begin}{text}print({number})\n"})
        outcome = outcome_of(workshop)

        assert workshop.starts[-1].place
        assert outcome.stdout.head(100) == b"%d\n" % number, outcome.stderr.head(1000)


@pytest.mark.parametrize("mode", ["r", "w"])
def test_a_copy_does_not_hold_the_lock_that_the_program_takes_after_it(
    workshop: Workshop, mode: str
) -> None:
    """Processes that have a file from one `open` share its lock: the last of them gives it back."""
    opens = f"import fcntl\nfile = open('lock', {mode!r})\n{SLOW}"
    takes = "fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
    if mode != "w":
        workshop.write({"lock": ""})
    for number in range(3):
        workshop.write({"main.py": f"{opens}{takes}print({number})\n"})
        outcome = outcome_of(workshop)

        assert outcome.stdout.head(100) == b"%d\n" % number, outcome.stderr.head(1000)
    assert workshop.starts[-1].place


_THREAD = """
import ctypes
libc = ctypes.CDLL(None)
meaning = (ctypes.c_char * 64)()
started = libc.pthread_create(
    ctypes.byref(ctypes.c_void_p()), None, ctypes.cast(libc.NAME, ctypes.c_void_p), meaning
)
while open(f'/proc/self/task/{max(os.listdir("/proc/self/task"), key=int)}/wchan').read() == '0':
    pass
"""


def test_a_native_thread_that_waits_for_this_one_alone_is_not_waited_for(
    workshop: Workshop,
) -> None:
    begun(workshop, _THREAD.replace("NAME", "sem_wait"))
    with held(workshop) as process:
        outcome = outcome_of(workshop)

        assert process.has_stopped.wait(20)
    assert outcome.exit_code == 0, outcome.stderr.head(1000)


def test_the_end_of_a_native_thread_that_may_go_on_is_waited_for(workshop: Workshop) -> None:
    begun(workshop, _THREAD.replace("NAME", "pause"))
    with held(workshop) as process:
        future = workshop.warm.submit(workshop.trial())

        assert process.has_stopped.wait(20)
        with pytest.raises(TimeoutError):
            future.result(timeout=0.3)
    assert future.result().exit_code == 0, future.result().stderr.head(1000)


_NEEDS_ITS_FILE = """
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static int file;
static void *work(void *none) {
    for (struct timespec step = {0, 10000};; nanosleep(&step, 0)) {
        char byte;
        if (pread(file, &byte, 1, 0) < 0) _exit(42);
    }
}
int begin(int number) { pthread_t thread; file = number; return pthread_create(&thread, 0, work, 0); }
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_no_native_thread_finds_its_files_closed(workshop: Workshop, tmp_path: Path) -> None:
    library = tmp_path / "needs.so"
    command = ["cc", "-shared", "-fPIC", "-xc", "-", "-pthread", "-o", str(library)]
    subprocess.run(command, input=_NEEDS_ITS_FILE.encode(), check=True)
    begins = (
        f"import ctypes\nctypes.CDLL({str(library)!r}).begin(os.open('main.py', os.O_RDONLY))\n"
    )
    # There is a while between the closing of its file and the end.
    more = "for _ in range(200):\n    os.dup(0)\n"
    begin = f"import os\n{SLOW}"
    workshop.edit(f"{begin}print('first')\n", f"{begin}{begins}{more}")


@pytest.mark.parametrize(
    "end",
    [
        "os.times = lambda: 1 / 0\n",
        pytest.param("time.process_time = lambda: 1 / 0\n", marks=pytest.mark.long),
        pytest.param("time.process_time = lambda: 'long'\n", marks=pytest.mark.long),
        "def end(code):\n    os.write(1, b'never')\nos._exit = end\n",
        "sys.addaudithook(lambda name, _: name.startswith('socket') and os.write(1, name.encode()))\n",
        pytest.param(
            "import warnings\nwarnings.simplefilter('always')\nwarnings.showwarning = lambda *_: os.mknod('warned')\n",
            marks=pytest.mark.long,
        ),
        "sys.stdout.close()\n",
    ],
)
def test_nothing_of_the_program_s_is_called_or_told(workshop: Workshop, end: str) -> None:
    begin = f"import os, sys, time\n{SLOW}"
    workshop.edit(f"{begin}print('first')\n", f"{begin}{end}")


def test_a_child_that_would_not_say_that_it_ends_is_ended_and_told_of(workshop: Workshop) -> None:
    begun(
        workshop,
        "import ctypes\n"
        "clone = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]\n"
        "if ctypes.CDLL(None).syscall(clone, 0, 0, 0, 0, 0) == 0:\n"
        "    os.execvp('sleep', ['sleep', '1000'])\n",
    )
    with held(workshop) as process:
        future = workshop.warm.submit(workshop.trial())

        assert process.has_stopped.wait(20)
        with pytest.raises(TimeoutError):
            future.result(timeout=0.3)
    outcome = future.result()
    left = [each for each in outcome.processes if each.was_left_behind]
    assert [each.signal for each in left] == [9]
    assert not Path(f"/proc/{left[0].pid}").exists()


def test_a_time_limit_holds_while_files_are_being_closed(workshop: Workshop) -> None:
    lingers = (
        "import socket, struct\n"
        "listener = socket.create_server(('127.0.0.1', 0))\n"
        "line = socket.create_connection(listener.getsockname())\n"
        "other, _ = listener.accept()\n"
        "line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 100))\n"
        "line.setblocking(False)\n"
        "try:\n    while True:\n        line.send(bytes(65536))\n"
        "except BlockingIOError:\n    pass\n"
        "for each in line, other, listener:\n    os.dup(each.fileno())\n"
    )
    workshop.limits = Limits(wall_seconds=1)
    workshop.write({"main.py": f"import os\n{SLOW}print('first')\n"})
    outcome_of(workshop)
    workshop.write({"main.py": f"import os\n{SLOW}{lingers}"})
    outcome = outcome_of(workshop)

    assert outcome.timed_out
    assert outcome.wall_seconds < 5
