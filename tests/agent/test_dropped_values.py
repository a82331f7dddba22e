"""What a program drops is told where it is new or tells of trouble; what it does stays as it was."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import whet.agent
from whet.evidence.clues.closer_look import told_in
from whet.evidence.clues.dropped import Drop, Trouble, drops_in
from whet.host.trial.instrumented_evidence import read_closer

SITE = Path(whet.agent.__file__).parent / "site"


def ran(program: str, folder: Path, *, looked: bool) -> "subprocess.CompletedProcess[str]":
    """Run a program with the agent in it."""
    path = folder / "program.py"
    path.write_text(program)
    (folder / "agent").mkdir(exist_ok=True)
    own = {"PYTHONPATH": str(SITE), "WHET_AGENT": str(folder / "agent")}
    asked = {"WHET_CLOSER": ""} if looked else {}
    cache = {"WHET_PYCACHE": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, str(path)], env={**os.environ, **own, **cache, **asked},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def drops(program: str, folder: Path) -> list[Drop]:
    """Return what a program drops that says the same without a look."""
    shutil.rmtree(folder / "agent", ignore_errors=True)
    plain, looked = (ran(program, folder, looked=each) for each in (False, True))
    assert (looked.stdout, looked.stderr) == (plain.stdout, plain.stderr)
    assert looked.returncode == plain.returncode
    return drops_in(told_in([read_closer(folder / "agent")]))


def made_from(program: str, drop: Drop) -> list[str]:
    """Return what the dropped value was made from, in the program's words."""
    assert all(first == last for first, _, last, _ in drop.targets)
    return [program.splitlines()[line - 1][begin:end] for line, begin, _, end in drop.targets]


NEW = {
    "text": ("name = ' a '\nname.strip()\n", 2, "name"),
    "item": ("row = {'n': '1,0'}\nrow['n'].replace(',', '')\n", 2, "row['n']"),
    "attribute": (
        "class A:\n    pass\na = A()\na.day = __import__('datetime').date(2024, 2, 9)\na.day.replace(day=1)\n",
        5, "a.day",
    ),
    "sorted": ("rows = [3, 1]\nsorted(rows)\n", 2, "rows"),
    "path": ("import pathlib\np = pathlib.Path('a.csv')\np.with_suffix('.json')\n", 3, "p"),
    "replace": (
        ("import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    n: int = 1\nc = C()\n"
        "dataclasses.replace(c, n=2)\n"), 6, "c",
    ),
    "later argument": ("import re\nline = 'a b'\nre.sub(' ', '', line)\n", 3, "line"),
    "in a function": ("def f(text):\n    text.upper()\n    return text\nf('a')\n", 2, "text"),
    "chain": ("line = ' A '\nline.strip().lower()\n", 2, "line"),
    "root of a chain": (
        ("class Rows:\n    def first(self):\n        return [self]\n    def more(self):\n        return Rows()\n"
        "rows = Rows()\nrows.first()[0].more()\n"), 7, "rows",
    ),
    "awaited": (
        ("import asyncio\nasync def up(text):\n    return text.upper()\nasync def main():\n    a = 'a'\n"
        "    await up(a)\nasyncio.run(main())\n"), 6, "a",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NEW, ids=str)
def test_a_new_value_that_is_dropped_is_told_with_what_it_was_made_from(
    case: str, tmp_path: Path
) -> None:
    program, line, target = NEW[case]
    (drop,) = drops(program, tmp_path)
    assert (drop.at.number, drop.trouble) == (line, Trouble.NEW)
    assert made_from(program, drop) == [target]


TROUBLE = {
    "run": (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'exit(3)'])\n",
        2, Trouble.STATUS,
    ),
    "what it said": (
        ("import subprocess, sys\ndone = subprocess.run([sys.executable, '-c', 'exit(\"no rows\")'],"
        " capture_output=True)\nprint(done.stdout)\n"), 2, Trouble.STATUS,
    ),
    "output alone": (
        ("import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'exit(2)'],"
        " stdout=-1).stdout)\n"), 2, Trouble.STATUS,
    ),
    "shell": ("import os\nos.system('exit 4')\n", 2, Trouble.STATUS),
    "wait": (
        "import subprocess\np = subprocess.Popen(['false'])\np.wait()\n", 3, Trouble.STATUS,
    ),
    "named tuple": (
        ("from collections import namedtuple\nLoaded = namedtuple('Loaded', 'count missing_keys')\n"
        "def load():\n    return Loaded(2, ['a', 'b'])\nload()\n"), 5, Trouble.FIELDS,
    ),
    "dict": ("def send():\n    return {'sent': 1, 'failed': [('a@b', 550)]}\nsend()\n", 3, Trouble.FIELDS),
    "object": (
        "class Report:\n    def __init__(self):\n        self.errors = ['bad row']\nReport()\n",
        4, Trouble.FIELDS,
    ),
    "future": (
        ("from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(1) as pool:\n"
        "    pool.submit(int, 'x')\n"), 3, Trouble.ERRORS,
    ),
    "map of a pool": (
        ("from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(1) as pool:\n"
        "    pool.map(int, ['1', 'x'])\n"), 3, Trouble.ERRORS,
    ),
    "gather": (
        ("import asyncio\nasync def work(n):\n    return 1 / n\nasync def main():\n"
        "    await asyncio.gather(work(1), work(0), return_exceptions=True)\nasyncio.run(main())\n"),
        5, Trouble.ERRORS,
    ),
    "error": ("def check(n):\n    if n < 0:\n        ValueError('negative')\ncheck(-1)\n", 3, Trouble.ERROR),
    "a variable that nothing reads": (
        ("from concurrent.futures import ThreadPoolExecutor\ndef run():\n    with ThreadPoolExecutor(1) as pool:\n"
        "        kept = pool.submit(int, 'x')\nrun()\n"), 4, Trouble.ERRORS,
    ),
    "two variables that nothing reads": (
        ("from collections import namedtuple\nLoaded = namedtuple('Loaded', 'missing_keys unexpected_keys')\n"
        "def run():\n    missing, unexpected = Loaded(['a'], [])\nrun()\n"), 4, Trouble.FIELDS,
    ),
    "lazy": ("def all_of(rows):\n    for each in rows:\n        yield each\nall_of([1])\n", 4, Trouble.LAZY),
    "map": ("map(print, [1])\n", 1, Trouble.LAZY),
    "lock": (
        "import threading\nlock = threading.Lock()\nif lock.acquire():\n    lock.acquire(timeout=0.01)\n",
        4, Trouble.GAVE_UP,
    ),
    "part of it": (
        "import socket\na, b = socket.socketpair()\na.setblocking(False)\ndata = bytes(10_000_000)\na.send(data)\n",
        5, Trouble.SHORT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TROUBLE, ids=str)
def test_a_dropped_result_that_tells_of_trouble_is_told(case: str, tmp_path: Path) -> None:
    program, line, trouble = TROUBLE[case]
    (drop,) = drops(program, tmp_path)
    assert (drop.at.number, drop.trouble) == (line, trouble)


def test_a_process_is_told_with_the_last_line_of_its_errors(tmp_path: Path) -> None:
    (drop,) = drops(TROUBLE["what it said"][0], tmp_path)
    assert (drop.status, drop.said) == (1, "no rows")


def test_a_process_is_told_with_the_path_that_is_not_there_after_it(tmp_path: Path) -> None:
    name = str(tmp_path / "out.csv")
    for call in (f"subprocess.run(['false', '-o', {name!r}])", f"os.system('false -o {name}')"):
        (drop,) = drops(f"import os, subprocess\n{call}\n", tmp_path)
        assert drop.absent == name
    Path(name).touch()
    (drop,) = drops(f"import os\nos.system('false -o {name}')\n", tmp_path)
    assert drop.absent == ""


INNOCENT = """\
import asyncio, collections, dataclasses, logging, os, pathlib, queue, subprocess, sys, threading
from concurrent.futures import ThreadPoolExecutor

Done = collections.namedtuple("Done", "count missing errors")
rows, seen, box, todo = [[1], [2, 3]], set(), queue.Queue(), collections.deque([[1]])
options, names, lines = {"a": {"b": 1}}, {"a": "x"}, iter(["head", "body"])
rows.append([4])
rows.pop()
rows[0].append(5)
seen.add(1)
seen.discard(2)
box.put([1])
box.get()
todo.popleft()
options.pop("a")
def some():
    global kept
    kept = Done(1, ["a"], [])
    one, two = Done(1, ["a"], [])[:2]
    inner = Done(1, ["a"], [])
    options["done"] = Done(1, ["a"], [])
    new = "a".upper()
    return one, lambda: inner
some()
def each_of(lines):
    for line in lines:
        yield line
started = each_of(["a", "b"])
next(started)
def goes_on():
    return started
goes_on()
lock = threading.Lock()
lock.acquire()
lock.release()
options.setdefault("c", {}).update(d=1)
names.pop("a")
next(lines)
logging.info("%s rows", len(rows))
print("said")
"same".strip()
text = "same"
text.strip()
text.upper
sorted([1, 2])
Done(3, [], {})
os.system("true")
subprocess.run(["true"])
status = subprocess.run(["false"])
if status.returncode:
    print("looked at")
failed = subprocess.run(["false"], capture_output=True)
def told():
    return failed.returncode, failed.stdout
told()
with ThreadPoolExecutor(1) as pool:
    pool.submit(int, "1")
    asked = pool.submit(int, "x")
print(type(asked.exception()))
class Model:
    def __init__(self):
        self.errors = []
    def train(self):
        return self
Model().train()
model = Model()
model.errors.append("known")
model.train()
def passed_on(report):
    return report
passed_on(model)
async def main():
    await asyncio.sleep(0)
    asyncio.get_running_loop()
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
    except* ValueError:
        print("caught")
async def fail():
    raise ValueError
asyncio.run(main())
process = subprocess.Popen(["sleep", "60"])
process.terminate()
process.wait()
pathlib.Path("/").exists()
"""


def test_what_is_dropped_on_purpose_is_not_told(tmp_path: Path) -> None:
    assert drops(INNOCENT, tmp_path) == []


PROPERTY = """\
import gc, inspect, weakref
class Line:
    asked = 0
    @property
    def text(self):
        Line.asked += 1
        return "a b"
    def __getitem__(self, key):
        Line.asked += 1
        return "c d"
    def __eq__(self, other):
        Line.asked += 1
        return True
line = Line()
line.text.upper()
line[0].upper()
class Thing:
    pass
def made():
    thing = Thing()
    kept.append(weakref.ref(thing))
    return thing
kept = []
made()
gc.collect()
print(Line.asked, kept[0]() is None, inspect.stack()[0].function)
def here():
    return inspect.currentframe().f_back.f_lineno
def caller():
    print(here())
    here()
caller()
"""


def test_a_look_runs_no_code_of_the_program_and_keeps_nothing(tmp_path: Path) -> None:
    drops(PROPERTY, tmp_path)


def test_an_error_in_a_test_module_is_still_told_by_pytest_in_its_words(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "def test_it():\n    name = ' a'\n    name.strip()\n    assert name == 'a'\n"
    )
    (tmp_path / "agent").mkdir()
    own = {"PYTHONPATH": str(SITE), "WHET_AGENT": str(tmp_path / "agent"), "WHET_CLOSER": ""}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        env={**os.environ, **own, "WHET_PYCACHE": str(tmp_path / "cache")},
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert "- a" in done.stdout or "?  a" in done.stdout or "' a' == 'a'" in done.stdout
    (drop,) = drops_in(told_in([read_closer(tmp_path / "agent")]))
    assert (drop.at.number, drop.targets) == (3, ((3, 4, 3, 8),))


def test_secrets_in_dropped_results_are_masked(tmp_path: Path) -> None:
    key = "sk-" + "a1B2" * 12
    program = f"class R:\n    def __init__(self):\n        self.errors = ['{key}']\nR()\n"
    ran(program, tmp_path, looked=True)
    told = told_in([read_closer(tmp_path / "agent")])
    assert any(each["kind"] == "dropped" for each in told)
    assert key not in json.dumps(told)
