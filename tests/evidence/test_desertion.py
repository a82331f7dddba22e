"""A call that waits for threads or tasks that have ended: which, where, and of what."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_runs import SITE, line_of

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.hangs.desertion import Desertion
from whet.evidence.provenance.run.recording import read_recording
from whet.evidence.provenance.run.source import Sources
from whet.host.inspect.recorder import ask_for_steps
from whet.host.trial.instrumented_evidence import read_steps


def until_asleep(pid: int) -> None:
    """Wait until the main thread waits: nothing tells that from outside."""
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        os.sched_yield()


def clues(folder: Path, program: str, **files: str) -> list[Clue]:
    """Run a program until it has said that it is about to wait, and does; `name_csv` is `name.csv`."""
    (folder / "main.py").write_text(program)
    for name, text in files.items():
        (folder / ".".join(name.rsplit("_", 1))).write_text(text)
    told = folder / ".told"
    told.mkdir()
    variables = {
        "PYTHONPATH": str(SITE),
        "WHET_AGENT": str(told),
        "WHET_PYCACHE": str(folder / ".cache"),
        "WHET_CLOSER": "steps:||0",
    }
    running = subprocess.Popen(
        [sys.executable, "main.py"], cwd=folder, env={**os.environ, **variables},
        stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert running.stdout is not None
        assert running.stdout.readline()
        until_asleep(running.pid)
        ask_for_steps(running.pid, told)
    finally:
        running.kill()
        running.communicate()
    (steps,) = read_steps(told)
    return Desertion(read_recording(steps.data), Sources(), Placing(str(folder))).clues()


RETURNED = """
import queue, threading

class Pool:
    def __init__(self):
        self.tasks = queue.Queue(2)
        self.bad = []
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(2)]
        for each in self.threads:
            each.start()

    def work(self):
        while True:
            text = self.tasks.get()
            try:
                float(text.split(';')[1])
            except ValueError as error:
                self.bad.append(error)
                return

    def submit(self, text):
        self.tasks.put(text)

pool = Pool()
lines = iter(open('rows.csv'))
for _ in range(2):
    pool.submit(next(lines))
for each in pool.threads:
    each.join()
pool.submit(next(lines))
pool.submit(next(lines))
print('full', flush=True)
pool.submit(next(lines))
"""
ROWS = "first;n/a\nsecond;12,40\nthird;3\nfourth;4\nfifth;5\n"


def test_workers_that_returned_after_an_error_are_why_a_bounded_queue_stays_full(
    tmp_path: Path,
) -> None:
    (clue,) = clues(tmp_path, RETURNED, rows_csv=ROWS)
    assert clue.line == line_of(RETURNED, "                return")
    assert clue.sureness is Sureness.SEEN
    assert "nobody is left that serves `self.tasks`: both calls of `work` have ended" in clue.says
    caught = line_of(RETURNED, "except ValueError")
    assert "(`return`), after ValueError(" in clue.says
    assert f"which main.py:{caught} caught" in clue.says
    assert "first;n/a" in [each.source for each in clue.trail]


BROKEN_OFF = """
import queue, threading

done, results = threading.Event(), queue.Queue()

def load(names):
    for name in names:
        if not name.islower():
            break
        results.put(name)
    else:
        done.set()

def main():
    thread = threading.Thread(target=load, args=(['a', 'B', 'c'],))
    thread.start()
    thread.join()
    print('now', flush=True)
    done.wait()

main()
"""


def test_a_test_that_ended_a_worker_is_told_as_a_possibility(tmp_path: Path) -> None:
    (clue,) = clues(tmp_path, BROKEN_OFF)
    assert clue.line == line_of(BROKEN_OFF, "break")
    assert clue.sureness is Sureness.POSSIBLE
    assert "`main` waits at main.py" in clue.says
    assert "`not name.islower()`" in clue.says


DIED = """
import threading

class Meeting:
    def __init__(self):
        self.turn = threading.Condition()
        self.sizes = {'a': 1}
        self.ready = False

    def prepare(self, name):
        size = self.sizes[name]
        with self.turn:
            self.ready = bool(size)
            self.turn.notify_all()

    def attend(self):
        with self.turn:
            print('now', flush=True)
            while not self.ready:
                self.turn.wait()

threading.excepthook = lambda given: None
meeting = Meeting()
thread = threading.Thread(target=meeting.prepare, args=('b',))
thread.start()
thread.join()
meeting.attend()
"""


def test_a_thread_that_died_before_it_could_notify_is_why_another_waits(tmp_path: Path) -> None:
    (clue,) = clues(tmp_path, DIED)
    assert clue.line == line_of(DIED, "size = self.sizes[name]")
    assert clue.sureness is Sureness.SEEN
    assert "KeyError('b') that nobody caught" in clue.says


TASKS = """
import asyncio

async def work(tasks, seen):
    while True:
        item = await tasks.get()
        try:
            seen.append(int(item))
        except ValueError:
            break
        tasks.task_done()

async def main():
    tasks, seen = asyncio.Queue(), []
    workers = [asyncio.create_task(work(tasks, seen)) for _ in range(2)]
    for item in ['1', 'x', 'y', '4', '5']:
        tasks.put_nowait(item)
    await asyncio.wait(workers)
    print('now', flush=True)
    await tasks.join()

asyncio.run(main())
"""


def test_tasks_that_ended_are_why_a_queue_is_never_done(tmp_path: Path) -> None:
    (clue,) = clues(tmp_path, TASKS)
    assert clue.line == line_of(TASKS, "break")
    assert clue.sureness is Sureness.SEEN
    assert "`main` waits at main.py" in clue.says
    assert "both calls of `work` have ended" in clue.says


BARRIER = """
import threading

gate = threading.Barrier(3)

def part(text):
    try:
        number = int(text)
    except ValueError:
        return None
    gate.wait()
    return number

threads = [threading.Thread(target=part, args=(each,), daemon=True) for each in ('1', 'x')]
for each in threads:
    each.start()
threads[1].join()
print('now', flush=True)
gate.wait()
"""


def test_nothing_is_told_while_one_that_would_serve_may_still_do_so(tmp_path: Path) -> None:
    # The other part still waits at the barrier: it serves whoever comes there.
    assert clues(tmp_path, BARRIER) == []


MONITORED = """
import queue, threading

tasks = queue.Queue()

def watch():
    try:
        int('x')
    except ValueError:
        return tasks.qsize()

def help_out():
    try:
        int(tasks.get())
    except ValueError:
        return

thread = threading.Thread(target=watch)
thread.start()
thread.join()
other = threading.Thread(target=help_out)
other.start()
tasks.put('x')
other.join()
print('now', flush=True)
tasks.get()
"""


def test_those_that_ask_or_take_themselves_are_not_who_would_serve(tmp_path: Path) -> None:
    assert clues(tmp_path, MONITORED) == []


POOLED = """
import asyncio

class Client:
    def __init__(self, free, pages):
        self.free, self.pages = free, pages

    async def fetch(self, path):
        await self.free.acquire()
        page = read(self.pages, path)
        if page is None:
            return ''
        self.free.release()
        return page

def read(pages, path):
    return pages.get(path)

async def poll(client, path, seen):
    page = await client.fetch(path)
    seen.append(page)

async def main():
    client, seen = Client(asyncio.Semaphore(1), {'a': 'one', 'b': 'two'}), []
    for path in ['a', 'b', 'c']:
        await asyncio.create_task(poll(client, path, seen))
    last = asyncio.create_task(poll(client, 'a', seen))
    await asyncio.sleep(0)
    print('now', flush=True)
    await last

asyncio.run(main())
"""


def test_neither_a_pool_nor_the_object_that_waits_at_it_lacks_those_that_used_it_before(
    tmp_path: Path,
) -> None:
    assert clues(tmp_path, POOLED) == []


IN_TURNS = DIED.replace(
    "        size = self.sizes[name]\n        with self.turn:\n",
    "        with self.turn:\n            self.turn.wait(0.01)\n        size = self.sizes[name]\n"
    "        with self.turn:\n",
)


def test_one_that_waited_for_its_turn_before_it_died_would_have_served(tmp_path: Path) -> None:
    (clue,) = clues(tmp_path, IN_TURNS)
    assert "nobody is left that serves `self.turn`" in clue.says


STUCK = (
    RETURNED.replace("self.threads = [", "self.held = threading.Event()\n        self.threads = [")
    .replace(
        "                self.bad.append(error)\n                return",
        "                self.held.wait()",
    )
    .replace("for each in pool.threads:\n    each.join()\n", "while pool.tasks.qsize(): pass\n")
)


def test_workers_that_are_stuck_elsewhere_have_not_ended(tmp_path: Path) -> None:
    assert clues(tmp_path, STUCK, rows_csv=ROWS) == []


EXHAUSTED = """
import queue, threading

tasks = queue.Queue(1)
sums = [0]

def add():
    while sums[0] < 3:
        sums[0] += tasks.get()

thread = threading.Thread(target=add)
thread.start()
for each in range(3):
    tasks.put(each)
thread.join()
tasks.put(3)
print('now', flush=True)
tasks.put(4)
"""


def test_a_worker_that_came_to_its_end_is_told_with_the_test_of_its_loop(tmp_path: Path) -> None:
    (clue,) = clues(tmp_path, EXHAUSTED)
    assert clue.line == line_of(EXHAUSTED, "while")
    assert clue.sureness is Sureness.SEEN
    assert "because `sums[0] < 3` at main.py" in clue.says


CLEANED_UP = """
import queue, threading

tasks, done = queue.Queue(), []

def work():
    while True:
        task = tasks.get()
        try:
            if task is None:
                return
            done.append(task)
        finally:
            tasks.task_done()

thread = threading.Thread(target=work)
thread.start()
tasks.put(1)
tasks.put(None)
thread.join()
tasks.put(2)
print('now', flush=True)
tasks.join()
"""


def test_a_worker_that_returned_is_told_with_the_return_and_not_with_what_ran_on_the_way_out(
    tmp_path: Path,
) -> None:
    (clue,) = clues(tmp_path, CLEANED_UP)
    assert clue.line == line_of(CLEANED_UP, "return")
    assert "because `task is None` at main.py:10 was true" in clue.says
    assert "was false" not in clue.says


def test_a_return_in_a_with_block_is_where_a_worker_ended(tmp_path: Path) -> None:
    program = CLEANED_UP.replace("try:", "with lock:").replace("        finally:\n    ", "    ")
    program = program.replace("done = ", "done, lock = ").replace(", []", ", [], threading.Lock()")
    (clue,) = clues(tmp_path, program)
    assert clue.line == line_of(program, "return")
    assert "because `task is None` at main.py:10 was true" in clue.says


@pytest.mark.long
def test_a_call_is_seen_to_wait_that_was_made_too_often_to_be_followed(tmp_path: Path) -> None:
    program = RETURNED.replace("self.tasks.put(text)", "text and self.tasks.put(text)")
    often = "for _ in range(100_001):\n    pool.submit('')\nprint('full'"
    (clue,) = clues(tmp_path, program.replace("print('full'", often), rows_csv=ROWS)
    assert "`submit` waits" in clue.says
