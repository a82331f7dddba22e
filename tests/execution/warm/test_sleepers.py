"""Threads that sleep go along into a copy, and go on there as they would have."""

import os
from pathlib import Path

import pytest
from workshop import SLOW, Workshop, every_python, python_of

from whet.execution.warm import Start

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="they do on x86-64 alone"),
]

EXECUTOR = """from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(3)
x = list(pool.map(abs, range(-9, 0)))
"""
MONITOR = """import threading
monitor = threading.Thread(target=threading.Event().wait, args=(99,), daemon=True)
monitor.start()
x = 1
"""
LISTENER = """import logging, logging.handlers, queue, sys
q = queue.SimpleQueue()
listener = logging.handlers.QueueListener(q, logging.StreamHandler(sys.stdout))
listener.start()
log = logging.getLogger()
log.addHandler(logging.handlers.QueueHandler(q))
log.warning('first')
x = 1
"""
ARROW = """import pyarrow as pa, pyarrow.dataset as ds
table = pa.table({'a': list(range(5000)), 'b': [n % 5 for n in range(5000)]})
x = ds.dataset(table).to_table(filter=ds.field('b') == 2).num_rows
"""
TIMER = """import threading
timer = threading.Timer(1.0, print, ('tick',))
timer.start()
x = 1
"""
BAR = """import multiprocessing, threading
lock = multiprocessing.RLock()
killed = threading.Event()
monitor = threading.Thread(target=killed.wait, args=(10,), daemon=True)
monitor.start()
lock.acquire()
x = 1
"""
SHARED = """import multiprocessing, mmap
lock, number = multiprocessing.Semaphore(3), mmap.mmap(-1, 5000)
number[4999] = 7
lock.acquire()
x = 1
"""
ARRAY = """import multiprocessing
context = multiprocessing.get_context('fork')
numbers = context.Array('i', [1, 2, 3])
def add(amount):
    with numbers: numbers[0] += amount
child = context.Process(target=add, args=(4,))
child.start(); child.join()
x = numbers[:]
"""
FILE = """import mmap, os, tempfile
f, name = tempfile.mkstemp({})
os.unlink(name)
os.ftruncate(f, 9000)
g = os.dup(f)
memory = mmap.mmap(f, 4000, offset=4096)
memory[0] = 7
os.lseek(f, 2, 0)
x = 1
"""
SHARED_FILE, UNNAMED_FILE = FILE.format("dir='/dev/shm'"), FILE.format("")
QUEUE = """import multiprocessing
q = multiprocessing.Queue()
q.put(3)
x = q.get()
"""
SOCKET = """import multiprocessing, tempfile
from multiprocessing.connection import Client, Listener
here, there = multiprocessing.Pipe()
with tempfile.TemporaryDirectory() as folder:
    def listens():
        with Listener(f'{folder}/socket') as listener:
            there.send(1)
            listener.accept().send('word')
    child = multiprocessing.get_context('fork').Process(target=listens)
    child.start(); here.recv()
    with Client(f'{folder}/socket') as client: x = client.recv()
    child.join()
here.close(); there.close()
"""
PIPE = """import os
r, w = os.pipe()
os.write(w, b'first')
x = 1
"""
NATIVE = """import ctypes, threading
c = ctypes.CDLL(None)
gate = (ctypes.c_char * 64)()
c.sem_init(gate, 0, 0)
thread = ctypes.c_ulong()
wait = ctypes.cast(c.sem_wait, ctypes.c_void_p)
c.pthread_create(ctypes.byref(thread), None, wait, gate)
x = 1
"""

PROGRAMS = {
    "workers of an executor": (EXECUTOR, "print(x, list(pool.map(len, ['a', 'bc'])))\n"),
    "a monitor": (MONITOR, "print(x, monitor.is_alive(), monitor.daemon)\n"),
    "a listener to a queue": (LISTENER, "log.warning('second')\nlistener.stop()\nprint(x)\n"),
    "a pool of C++": (ARROW, "print(x, table.group_by('b').aggregate([('a', 'sum')])['a_sum'])\n"),
    "a timer": (TIMER, "timer.join(0.3)\nprint(x, timer.is_alive())\n"),
    "a progress bar: a monitor and a semaphore": (
        BAR,
        (
            "lock.acquire(); lock.release(); lock.release(); killed.set(); monitor.join()\n"
            "print(x, lock.acquire(False), monitor.is_alive())\n"
        ),
    ),
    "memory and semaphores that children get": (
        SHARED,
        (
            "def child(): lock.acquire(); number[0] = number[4999] + 1; lock.release()\n"
            "c = multiprocessing.Process(target=child)\nc.start(); c.join()\n"
            "print(x, lock.get_value(), number[0], c.exitcode)\n"
        ),
    ),
    "an array that children get": (ARRAY, "add(x[0])\nprint(x, numbers[:], child.exitcode)\n"),
    "two processes that spoke": (SOCKET, "print(x)\n"),
    "what is in a pipe": (PIPE, "os.write(w, b' second')\nprint(x, os.read(r, 99))\n"),
    "a queue that has fed a process": (QUEUE, "q.put(x + 1)\nprint(x, q.get())\n"),
    "a thread of C": (NATIVE, "c.sem_post(gate)\nprint(x, c.pthread_join(thread, None))\n"),
    "who a thread is": (
        f"{EXECUTOR}import threading\nf = pool.submit(threading.get_ident).result()\n",
        (
            "ids = {t.ident for t in threading.enumerate()}\n"
            "numbers = {t.native_id for t in threading.enumerate()}\nimport os\n"
            "print(f in ids, len(ids), numbers == set(map(int, os.listdir('/proc/self/task'))))\n"
        ),
    ),
    "signals that a thread holds back": (
        (
            f"{EXECUTOR}import signal\none = ThreadPoolExecutor(1)\nhold = signal.pthread_sigmask\n"
            "x = one.submit(hold, signal.SIG_BLOCK, [10]).result()\n"
        ),
        "print(one.submit(hold, signal.SIG_BLOCK, []).result(), hold(signal.SIG_BLOCK, []))\n",
    ),
    "what a thread has of its own": (
        (
            f"{EXECUTOR}import threading\nown = threading.local()\n"
            "x = pool.submit(setattr, own, 'name', 5).result()\n"
            "p = ThreadPoolExecutor(1)\np.submit(setattr, own, 'name', 7).result()\n"
        ),
        "print(p.submit(getattr, own, 'name').result(), hasattr(own, 'name'))\n",
    ),
}


def _last_place(workshop: Workshop, past: str, rest: str) -> str:
    text = f"{past}{SLOW}{rest}"
    workshop.edit(text, f"{text}print('more')\n")
    return workshop.starts[-1].place


@pytest.mark.parametrize(("past", "rest"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_threads_that_sleep_go_along(workshop: Workshop, past: str, rest: str) -> None:
    place = _last_place(workshop, past, rest)

    assert int(place.removeprefix("main.py:")) > (past + SLOW).count("\n"), workshop.starts


@pytest.mark.long
@pytest.mark.parametrize(
    "past",
    [BAR, SHARED, QUEUE, PIPE, ARRAY, SHARED_FILE, UNNAMED_FILE],
    ids=["a bar", "memory", "a queue", "a pipe", "an array", "shared memory's file", "a file"],
)
def test_each_copy_has_its_own(workshop: Workshop, past: str) -> None:
    """What one run leaves in shared memory, and in pipes, no other one finds there."""
    takes = {
        BAR: "lock.release(); print(lock.acquire(False), lock._semlock._count())\n",
        SHARED: "lock.acquire(); number[9] += 1; print(lock.get_value(), number[9])\n",
        ARRAY: "child = context.Process(target=add, args=(4,)); child.start(); child.join(); print(*numbers)\n",
        **dict.fromkeys(
            (SHARED_FILE, UNNAMED_FILE),
            (
                "memory[0] += 1; print(os.pread(f, 3, 4096), os.fstat(f).st_nlink, os.lseek(g, 0, 1))\n"
                "os.pwrite(g, bytes([memory[1] + 1]), 4097); print(memory[:3], memory.size())\n"
            ),
        ),
        PIPE: "os.write(w, b'!'); print(os.read(r, 3))\n",
        QUEUE: "q.put(5); print(q.get()); q.put(6)\nwhile q.empty(): pass\n",
    }
    workshop.write({"main.py": f"{past}{SLOW}{takes[past]}"})
    workshop.run()
    for number in range(4):
        workshop.write({"main.py": f"{past}{SLOW}{takes[past]}print({number})\n"})
        workshop.run()

    places = [start.place for start in workshop.starts[1:]]  # later ones where a line takes long
    assert all(int(each.removeprefix("main.py:")) > (past + SLOW).count("\n") for each in places)


@every_python
def test_they_do_in_each_python(workshop: Workshop, minor: int) -> None:
    workshop.python = python_of(minor)
    past, rest = PROGRAMS["workers of an executor"]

    assert _last_place(workshop, past, rest) == f"main.py:{(past + SLOW).count(chr(10)) + 1}"


@pytest.mark.long
def test_ten_edits_give_what_a_cold_run_gives(workshop: Workshop) -> None:
    """A copy of a copy of a copy still has its threads."""
    steps = "".join(f"y{n} = list(pool.map(abs, range(-{n}, 1)))\n{SLOW}" for n in range(5))
    text = f"{EXECUTOR}{SLOW}{steps}"
    workshop.write({"main.py": f"{text}print(x)\n"})
    workshop.run()
    for number in range(10):
        at = f"y{number % 5} = "
        more = text.replace(at, f"print({number})\n{at}")
        workshop.write({"main.py": f"{more}print(x, y4, list(pool.map(abs, [-{number}])))\n"})
        workshop.run()

    assert all(start.place for start in workshop.starts[1:]), workshop.starts


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("def work():\n    q.get()\nimport queue\nq = queue.Queue()\n", "the thread `worker` runs main.py:2"),
        ("def work():\n    time.sleep(9)\nimport time\n", "the thread `worker` runs main.py:2"),
        ("def work():\n    while True: pass\n", "the thread `worker` runs main.py:2"),
        ("import os\nr, w = os.pipe()\nos.write(w, b'x')\ndef work(): os.read(r, 1); os.read(r, 1)\nimport select\n", "the thread `worker` runs main.py:4"),
        ("import threading\nwork = lambda: threading.Event().wait(0.01) or work()\n", "the thread `worker` runs main.py:2"),
    ],
)  # fmt: skip
def test_one_that_does_something_keeps_the_program_cold(
    workshop: Workshop, does: str, why: str
) -> None:
    thread = "import threading\nthreading.Thread(target=work, daemon=True, name='worker').start()\n"
    workshop.write({"main.py": f"{does}{thread}{SLOW}print(1)\n"})
    workshop.run()

    last: Start = workshop.starts[-1]
    assert last.halted == why, last


def test_a_thread_that_takes_a_copy_is_the_first(workshop: Workshop) -> None:
    """Another one reads a file: no copy goes on with it."""
    Path(workshop.folder / "data").write_text("5")
    read = (
        "def read(n):\n    time.sleep(0.06)\n    return open('data').read() + str(n)\nimport time\n"
    )
    past = f"{read}{EXECUTOR}y = list(pool.map(read, range(4)))\n"

    place = _last_place(workshop, past, "print(x, y)\n")

    assert place.startswith("main.py:")
