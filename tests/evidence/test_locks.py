"""Locks that several calls or objects each make for themselves: with one for all, the program passes."""

import builtins
import sys
from pathlib import Path

import pytest
from recorded_runs import line_of, recorded

from whet.evidence.experiments.changes import text_with
from whet.workbench.investigate.experiments.locks import lock_changes

COUNTED = """
import asyncio
import threading

counts = {'a': 0, 'b': 0}
table = {}

async def raised(key):
    before = counts[key]
    await asyncio.sleep(0)
    counts[key] = before + 1

"""
DONE = """
async def main():
    await asyncio.gather(*(add(key) for key in 'aabab'))
asyncio.run(main())
assert counts == {'a': 3, 'b': 2}, counts
"""
WRONG = {
    "a lock for each call": """
async def add(key):
    async with asyncio.Lock():  # here
        await raised(key)
""",
    "a name for it": """
async def add(key):
    lock = asyncio.Lock()  # here
    await lock.acquire()
    await raised(key)
    lock.release()
""",
    "a table that keeps none": """
def lock_for(key):
    lock = table.get(key)
    if lock is None:
        lock = asyncio.Lock()  # here
    return lock
async def add(key):
    async with lock_for(key):
        await raised(key)
""",
    "a lock for each object": """
class Adding:
    def __init__(self, key):
        self.key = key
        self.lock = asyncio.Lock()  # here
    async def run(self):
        async with self.lock:
            await raised(self.key)
async def add(key):
    await Adding(key).run()
""",
    "threads": """
both = threading.Barrier(2)
def raise_it():
    with threading.Lock():  # here
        before = counts['a']
        try:
            both.wait(0.2)
        except threading.BrokenBarrierError:
            pass
        counts['a'] = before + 1
async def add(key):
    if key == 'b':
        return await raised(key)
    if counts['a'] == 0:
        counts['a'] = 1
        threads = [threading.Thread(target=raise_it) for _ in 'ab']
        for each in threads:
            each.start()
        for each in threads:
            each.join()
both_locks = asyncio.Semaphore(1)
raised_alone = raised
async def raised(key):
    async with both_locks:
        await raised_alone(key)
""",
}
RIGHT = {
    "a table that keeps them": """
def lock_for(key):
    if key not in table:
        table[key] = asyncio.Lock()
    return table[key]
async def add(key):
    async with lock_for(key):
        await raised('a')
""",
    "one lock, and another cause": """
lock = asyncio.Lock()
async def add(key):
    async with lock:
        await raised(key)
    counts['a'] += key == 'b'
""",
    "a lock for each call, and another cause": """
async def add(key):
    async with asyncio.Lock():
        counts[key] += 2
""",
    "a lock for each object that guards what is its own": """
class Adding:
    def __init__(self, key):
        self.key, self.lock = key, asyncio.Lock()
    async def run(self):
        async with self.lock:
            self.key += 'a'
async def add(key):
    await Adding(key).run()
    await raised(key)
""",
}


def passing(program: str, folder: Path) -> set[tuple[int, str]]:
    """Return the lines and words of the changes with which a program passes."""
    (folder / "main.py").write_text(program)
    recording, _ = recorded(folder, said="AssertionError")
    found = set[tuple[int, str]]()
    for path, change in lock_changes([str(folder / "main.py")], recording):
        try:
            for text in (text_with(program, change), change.turned):
                assert text.count("\n") == program.count("\n")
                sys.__dict__.pop("whet_kept", None)
                exec(compile(text, path, "exec"), {"__name__": "__main__"})
        except AssertionError:
            continue
        found.add((change.line, f"{change.what}: {change.instead}"))
    return found


@pytest.mark.parametrize("kind", WRONG)
def test_a_lock_that_nothing_else_can_wait_for_is_named_where_it_is_made(
    kind: str, tmp_path: Path
) -> None:
    program = COUNTED + WRONG[kind] + DONE
    ((line, says),) = passing(program, tmp_path)
    assert line == line_of(program, "# here")
    assert "have each made a lock of their own" in says


@pytest.mark.parametrize("kind", RIGHT)
def test_locks_that_are_shared_or_guard_nothing_of_others_are_no_cause(
    kind: str, tmp_path: Path
) -> None:
    assert passing(COUNTED + RIGHT[kind] + DONE, tmp_path) == set()


def test_what_turns_the_order_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "main.py").write_text(COUNTED + WRONG["a lock for each call"] + DONE)
    ((_, change),) = lock_changes([str(tmp_path / "main.py")], None)
    for name in ("whet_kept", "whet_late"):
        sys.__dict__.pop(name, None)
    calls: list[str] = []
    make = exec

    def counted(text: str, space: dict[str, object]) -> None:
        calls.append(text)
        make(text, space)

    monkeypatch.setattr(builtins, "exec", counted)
    make(compile(change.turned, "main.py", "exec"), {"__name__": "__main__"})
    assert len(calls) == 1


SEVERAL = """
import threading
class Adding:
    def __init__(self):
        self.lock = threading.Lock()
    def run(self):
        with self.lock:
            pass
made = [Adding(), Adding()]
threads = [threading.Thread(target=each.run) for each in made + made[:NUMBER]]
for each in threads:
    each.start()
    each.join()
assert not threads
"""


@pytest.mark.parametrize("number", [0, 1])
def test_a_lock_that_several_threads_have_taken_says_less(number: int, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(SEVERAL.replace("NUMBER", f"{number}"))
    recording, _ = recorded(tmp_path, said="AssertionError")
    ((_, change),) = lock_changes([str(tmp_path / "main.py")], recording)
    assert change.is_telling is (number == 0)


@pytest.mark.parametrize(
    "more", ["", "    def end(self):\n        with self.lock:\n            pass\n"]
)
def test_a_lock_that_several_places_take_says_less_of_a_run_that_was_not_recorded(
    more: str, tmp_path: Path
) -> None:
    (tmp_path / "main.py").write_text(SEVERAL.replace("made = [", f"{more}made = ["))
    ((_, change),) = lock_changes([str(tmp_path / "main.py")], None)
    assert change.is_telling is (not more)


def test_a_lock_that_was_made_once_is_not_tried(tmp_path: Path) -> None:
    program = "import threading\ndef make():\n    return threading.Lock()\nlock = make()\nassert lock.locked()\n"
    (tmp_path / "main.py").write_text(program)
    recording, _ = recorded(tmp_path, said="AssertionError")
    assert lock_changes([str(tmp_path / "main.py")], recording) == []
