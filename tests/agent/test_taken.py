"""What is taken of a semaphore or a queue and not given back is told, once somebody waits for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import whet.agent
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.clues.closer_look import told_in
from whet.evidence.clues.not_given_back import kept_in
from whet.host.trial.instrumented_evidence import read_closer

SITE = Path(whet.agent.__file__).parent / "site"
UNTIL_TOLD = """\
import os, pathlib, threading, time
def give_back(how):
    file = pathlib.Path(os.environ["WHET_AGENT"], f"{os.getpid()}.closer")
    while b'"kept"' not in file.read_bytes():
        time.sleep(0.01)
    how()
"""
SEMAPHORE = """\
free = threading.Semaphore(2)
def ask(words):
    free.acquire()
    if not words:
        return 0
    free.release()
    return len(words)
ask("one")
ask("")
ask("")
threading.Thread(target=give_back, args=(free.release,)).start()
ask("three")
"""
QUEUE = """\
import queue
jobs = queue.Queue()
def work():
    while True:
        job = jobs.get()
        if job == "b":
            continue
        jobs.task_done()
for each in "abc":
    jobs.put(each)
threading.Thread(target=work, daemon=True).start()
threading.Thread(target=give_back, args=(jobs.task_done,)).start()
jobs.join()
"""
TASKS = """\
import asyncio
async def ask(free, words):
    await free.acquire()
    await asyncio.sleep(0)
    if not words:
        return 0
    free.release()
    return len(words)
async def main():
    free = asyncio.Semaphore(1)
    await ask(free, "one")
    await ask(free, "")
    loop = asyncio.get_running_loop()
    how = lambda: loop.call_soon_threadsafe(free.release)
    threading.Thread(target=give_back, args=(how,)).start()
    await ask(free, "two")
asyncio.run(main())
"""
TASK_QUEUE = """\
import asyncio
async def work(jobs):
    while True:
        job = await jobs.get()
        if job == "b":
            continue
        jobs.task_done()
async def main():
    jobs = asyncio.Queue()
    for each in "abc":
        jobs.put_nowait(each)
    worker = asyncio.create_task(work(jobs))
    loop = asyncio.get_running_loop()
    how = lambda: loop.call_soon_threadsafe(jobs.task_done)
    threading.Thread(target=give_back, args=(how,)).start()
    await jobs.join()
    worker.cancel()
asyncio.run(main())
"""
TASK_QUEUE_AT_WORK = """\
import asyncio
async def work(jobs, done):
    while True:
        await jobs.get()
        await done.wait()
        jobs.task_done()
async def main():
    jobs, done = asyncio.Queue(), asyncio.Event()
    jobs.put_nowait(1)
    worker = asyncio.create_task(work(jobs, done))
    asyncio.get_running_loop().call_later(1.0, done.set)
    await jobs.join()
    worker.cancel()
asyncio.run(main())
"""
TASKS_AT_WORK = """\
import asyncio
async def work(free, done):
    async with free:
        await done.wait()
async def main():
    free, done = asyncio.Semaphore(1), asyncio.Event()
    asyncio.get_running_loop().call_later(1.0, done.set)
    await asyncio.gather(*(work(free, done) for _ in range(3)))
asyncio.run(main())
"""
STILL_AT_WORK = """\
import queue
jobs = queue.Queue()
free = threading.Semaphore(1)
done = threading.Event()
def work():
    with free:
        jobs.get()
        done.wait()
        jobs.task_done()
jobs.put(1)
threading.Thread(target=work).start()
threading.Timer(1.0, done.set).start()
jobs.join()
with free:
    print("done")
"""

WRAPPED = """\
import queue
class Jobs:
    def __init__(self):
        self.queue = queue.Queue()
    def take(self):
        return self.queue.get()
    def done(self):
        self.queue.task_done()
def work(jobs, sizes):
    while True:
        job = jobs.take()
        try:
            size = int(job)
        except ValueError:
            sizes.append(0)
            continue
        sizes.append(size)
        jobs.done()
jobs = Jobs()
for each in ["1", "2", "b", "4"]:
    jobs.queue.put(each)
threading.Thread(target=work, args=(jobs, []), daemon=True).start()
threading.Thread(target=give_back, args=(jobs.done,)).start()
jobs.queue.join()
"""
WRAPPED_TWICE = """\
import asyncio
class Inbox:
    def __init__(self):
        self.jobs = asyncio.Queue()
    async def next(self):
        return await self.jobs.get()
class Client:
    def __init__(self, inbox):
        self.inbox = inbox
    async def pull(self):
        found = await self.inbox.next()
        return found
    def finish(self):
        self.inbox.jobs.task_done()
async def work(client):
    while True:
        job = await client.pull()
        await asyncio.sleep(0)
        if job % 3 == 2:
            job += 1
        else:
            client.finish()
async def main():
    inbox = Inbox()
    client = Client(inbox)
    for each in range(4):
        inbox.jobs.put_nowait(each)
    workers = [asyncio.create_task(work(client)) for _ in range(2)]
    loop = asyncio.get_running_loop()
    how = lambda: loop.call_soon_threadsafe(client.finish)
    threading.Thread(target=give_back, args=(how,)).start()
    await inbox.jobs.join()
    for each in workers:
        each.cancel()
asyncio.run(main())
"""
WRAPPED_SEMAPHORE = """\
class Gate:
    def __init__(self):
        self.free = threading.Semaphore(1)
    def enter(self):
        self.free.acquire()
    def leave(self):
        self.free.release()
def ask(gate, words):
    gate.enter()
    if not words:
        return 0
    gate.leave()
    return len(words)
gate = Gate()
ask(gate, "one")
ask(gate, "")
threading.Thread(target=give_back, args=(gate.leave,)).start()
ask(gate, "three")
"""
EACH_IN_A_CALL = """\
import queue
class Jobs(queue.Queue):
    def take(self):
        return self.get()
def handle(jobs):
    job = jobs.take()
    if job == "b":
        return None
    jobs.task_done()
    return job
def work(jobs):
    while True:
        handle(jobs)
jobs = Jobs()
for each in "abc":
    jobs.put(each)
threading.Thread(target=work, args=(jobs,), daemon=True).start()
threading.Thread(target=give_back, args=(jobs.task_done,)).start()
jobs.join()
"""
WRAPPED_AT_WORK = """\
import queue
jobs = queue.Queue()
done = threading.Event()
def take():
    return jobs.get()
def finish():
    jobs.task_done()
def work():
    while True:
        if take() == "last":
            done.wait()
        finish()
for each in ["first", "second", "last"]:
    jobs.put(each)
threading.Thread(target=work, daemon=True).start()
threading.Timer(1.0, done.set).start()
jobs.join()
"""
ALL_AT_ONCE = """\
import queue
jobs = queue.Queue()
def take():
    return jobs.get()
def finish(many):
    for _ in range(many):
        jobs.task_done()
def work():
    while True:
        take(), take(), take()
        finish(3)
def add(many):
    for each in range(many):
        jobs.put(each)
add(5)
threading.Thread(target=work, daemon=True).start()
threading.Timer(1.0, add, args=(1,)).start()
jobs.join()
"""
DONE_BY_ANOTHER = """\
import queue
jobs, found = queue.Queue(), queue.Queue()
slow = threading.Event()
def take():
    return jobs.get()
def work():
    while True:
        found.put(take())
def write():
    while True:
        if found.get() == "last":
            slow.wait()
        jobs.task_done()
for each in ["first", "last"]:
    jobs.put(each)
for each in (work, write):
    threading.Thread(target=each, daemon=True).start()
threading.Timer(1.0, slow.set).start()
jobs.join()
"""
POOL = """\
import queue
class Pool:
    def __init__(self, size):
        self.idle = queue.Queue()
        for number in range(size):
            self.idle.put([number])
    def take(self):
        return self.idle.get()
    def free(self, one):
        self.idle.put(one)
def ask(pool, words):
    one = pool.take()
    if not words:
        return 0
    pool.free(one)
    return len(words)
pool = Pool(2)
for words in ["one", "two", "", ""]:
    ask(pool, words)
threading.Thread(target=give_back, args=(lambda: pool.free([3]),)).start()
ask(pool, "three")
"""
TASK_POOL = """\
import asyncio
class Client:
    def __init__(self):
        self.idle = asyncio.Queue()
        self.idle.put_nowait("connection")
    async def fetch(self, words):
        one = await self.idle.get()
        await asyncio.sleep(0)
        if not words:
            return None
        await self.idle.put(one)
        return len(words)
async def main():
    client = Client()
    for words in ["one", "two", ""]:
        await client.fetch(words)
    loop = asyncio.get_running_loop()
    how = lambda: loop.call_soon_threadsafe(client.idle.put_nowait, "other")
    threading.Thread(target=give_back, args=(how,)).start()
    await client.fetch("three")
asyncio.run(main())
"""
POOL_AT_WORK = """\
import queue
idle, done = queue.Queue(), threading.Event()
def ask(words):
    one = idle.get()
    if words == "slow":
        done.wait()
    idle.put(one)
idle.put("connection")
ask("quick")
threading.Thread(target=ask, args=("slow",)).start()
threading.Timer(1.0, done.set).start()
ask("last")
"""
TRIED_AGAIN = """\
import queue
jobs = queue.Queue()
def work(times):
    job = jobs.get()
    if job == "b" and not times:
        jobs.put(job)
for each in "abc":
    jobs.put(each)
for times in (0, 0, 1, 1):
    work(times)
threading.Timer(1.0, jobs.put, args=("d",)).start()
work(1)
"""


def clues(program: str, folder: Path) -> list[Clue]:
    """Return what is told of a program that the agent has looked at."""
    (folder / "main.py").write_text(UNTIL_TOLD + program)
    (folder / "agent").mkdir()
    variables = {
        "PYTHONPATH": str(SITE), "WHET_AGENT": str(folder / "agent"), "WHET_CLOSER": "",
        "WHET_PYCACHE": str(folder / "cache"),
    }  # fmt: skip
    subprocess.run(
        [sys.executable, "main.py"], cwd=folder, env={**os.environ, **variables}, check=True,
        timeout=60,
    )  # fmt: skip
    told = told_in([read_closer(folder / "agent")])
    found = kept_in(told, Placing(str(folder)), lambda path: Path(path).read_text())
    return [each.clue for each in found]


def line(program: str, part: str) -> int:
    return (UNTIL_TOLD + program).partition(part)[0].count("\n") + 1


def test_a_call_that_leaves_with_a_place_of_a_semaphore_is_named_where_it_left(
    tmp_path: Path,
) -> None:
    (clue,) = clues(SEMAPHORE, tmp_path)
    assert (clue.line, clue.sureness) == (line(SEMAPHORE, "return 0"), Sureness.SEEN)
    assert f"took a place of a semaphore at main.py:{line(SEMAPHORE, 'free.acquire')}" in clue.says


def test_a_call_that_gives_no_place_back_anywhere_may_leave_that_to_others(tmp_path: Path) -> None:
    lent = SEMAPHORE.replace("    free.release()\n", "").replace('ask("one")\n', "")
    (clue, *_) = clues(lent, tmp_path)
    assert clue.sureness is Sureness.POSSIBLE


@pytest.mark.parametrize("program", [QUEUE, TASK_QUEUE], ids=["threads", "tasks"])
def test_an_item_that_was_never_said_to_be_done_is_named(program: str, tmp_path: Path) -> None:
    (clue,) = clues(program, tmp_path)
    assert (clue.line, clue.sureness) == (line(program, "continue"), Sureness.SEEN)
    went = f"went on to the next one at main.py:{line(program, 'continue')} without"
    assert f"at main.py:{line(program, 'jobs.get')} and {went}" in clue.says
    assert "took an item ('b') of a queue" in clue.says


def test_a_task_that_leaves_with_a_place_is_named_where_it_left(tmp_path: Path) -> None:
    (clue,) = clues(TASKS, tmp_path)
    assert (clue.line, clue.sureness) == (line(TASKS, "return 0"), Sureness.SEEN)


@pytest.mark.parametrize(
    "program",
    [STILL_AT_WORK, TASKS_AT_WORK, TASK_QUEUE_AT_WORK],
    ids=["threads", "tasks", "task queue"],
)
def test_who_is_still_at_work_has_kept_nothing(program: str, tmp_path: Path) -> None:
    assert clues(program, tmp_path) == []


@pytest.mark.parametrize(
    ("program", "last", "taken"),
    [
        (WRAPPED, "continue", "self.queue.get"),
        (WRAPPED_TWICE, "job += 1", "self.jobs.get"),
        (WRAPPED_SEMAPHORE, "return 0", "self.free.acquire"),
        (EACH_IN_A_CALL, "return None", "self.get"),
    ],
    ids=["threads", "tasks", "semaphore", "a call for each"],
)
def test_what_a_wrapper_took_is_left_by_the_caller_that_gives_it_back_else(
    program: str, last: str, taken: str, tmp_path: Path
) -> None:
    (clue,) = clues(program, tmp_path)
    assert (clue.line, clue.sureness) == (line(program, last), Sureness.SEEN)
    assert f"` at main.py:{line(program, taken)} and " in clue.says


@pytest.mark.parametrize(
    "program", [WRAPPED_AT_WORK, ALL_AT_ONCE, DONE_BY_ANOTHER], ids=["at work", "three", "another"]
)
def test_what_is_given_back_in_time_or_by_another_is_not_named(
    program: str, tmp_path: Path
) -> None:
    assert clues(program, tmp_path) == []


@pytest.mark.parametrize(
    ("program", "left", "taken"),
    [(POOL, "return 0", "self.idle.get"), (TASK_POOL, "return None", "self.idle.get")],
    ids=["threads", "tasks"],
)
def test_a_call_that_leaves_with_an_item_that_others_put_back_is_named_where_it_left(
    program: str, left: str, taken: str, tmp_path: Path
) -> None:
    (clue,) = clues(program, tmp_path)
    assert clue.line == line(program, left)
    said = (
        f"left at main.py:{line(program, left)} without putting it back, which it did for 2 others"
    )
    assert said in clue.says
    assert f"at main.py:{line(program, taken)} and left" in clue.says
    # Jobs that are tried again are put back, too: a run with the change says more.
    assert clue.sureness is Sureness.POSSIBLE


@pytest.mark.parametrize("program", [POOL_AT_WORK, TRIED_AGAIN], ids=["at work", "tried again"])
def test_what_is_put_back_in_time_or_seldom_put_back_is_not_named(
    program: str, tmp_path: Path
) -> None:
    assert clues(program, tmp_path) == []


def test_who_keeps_all_that_it_takes_comes_last_and_is_not_said_to_have_put_others_back(
    tmp_path: Path,
) -> None:
    night = (
        "class Night:\n    def begin(self):\n        self.parked = pool.take()\nnight = Night()\n"
    )
    program = POOL.replace("pool = Pool(2)\n", f"{night}pool = Pool(3)\nnight.begin()\n")
    program = program.replace('"two", ', '"two", "six", ')
    first, last = clues(program, tmp_path)
    assert "which it did for" in first.says
    assert "`Night.begin` took" in last.says
    said = (
        "without putting it back, which only other calls have done, and another call waits for that"
    )
    assert last.says.endswith(said)
