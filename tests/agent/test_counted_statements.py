"""Which statements are counted and how often, on each Python that is at hand; the program runs as without."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import whet.agent
from whet.agent.site.whet_lines.numbering import numbered
from whet.host.python.line_counts import read_lines

SITE = Path(whet.agent.__file__).parent / "site"

PROGRAM = '''\
"""All that a function may do."""
from __future__ import annotations
import asyncio
import contextlib
import os
def items(count):
    """Yield."""
    for number in range(count):
        if number == 1:
            continue
        got = yield number
        if got:
            print("got", got)
    yield from range(2)
    return 7
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)
class Table:
    """A class."""
    size: int
    size = 3
    def rows(self):
        global seen
        seen = 0
        while seen < self.size:
            seen += 1
            if seen == 2:
                break
        else:
            print("never")
        return [self.size for _ in range(seen)]
    @staticmethod
    def fails():
        try:
            raise KeyError("a")
        except KeyError as error:
            print("caught", error)
            raise ValueError("b") from error
        finally:
            print("finally")
@contextlib.contextmanager
def opened():
    print("in")
    try:
        yield 1
    finally:
        print("out")
async def wait(n):
    async with asyncio.Lock():
        await asyncio.sleep(0)
    total = 0
    async for each in count(n):
        total += each
    return total
async def count(n):
    for each in range(n):
        await asyncio.sleep(0)
        yield each
def sees():
    x = 1
    return sorted(locals())
def main():
    generator = items(3)
    print(next(generator), generator.send("x"), list(generator))
    unfinished = items(3)
    next(unfinished)
    unfinished.close()
    print(fib(6), Table().rows())
    try:
        Table.fails()
    except ValueError as error:
        print(error, type(error.__cause__).__name__, error.__traceback__.tb_lineno)
    with opened() as one:
        print(one)
    print(asyncio.run(wait(4)), sees())
    for a in range(2):
        for b in range(3):
            if b:
                continue
            print(a, b)
    print([x * x for x in range(3)], (lambda y: y + 1)(1))
    pid = os.fork()
    if pid == 0:
        print("child", flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
if __name__ == "__main__":
    main()
    print(sorted(name for name in globals() if not name.startswith("__")))
'''

TRACED = """\
import collections, json, sys
counts = collections.Counter()
def tracer(frame, event, _):
    if not frame.f_code.co_filename.endswith("program.py"):
        return None
    if event == "line":
        counts[frame.f_lineno] += 1
    return tracer
code = compile(open("program.py").read(), "program.py", "exec")
sys.settrace(tracer)
exec(code, {"__name__": "__main__"})
sys.settrace(None)
json.dump(counts, open("traced.json", "w"))
"""


def counted(
    folder: Path, python: str, text: str, first: int = 1, last: int = 10**9
) -> tuple[str, dict[int, list[float]]]:
    """Run a program with its statements counted; return its output, and the row of each line."""
    (folder / "program.py").write_text(text)
    reports = folder / "reports"
    reports.mkdir()
    nodes = numbered(ast.parse(text))
    probe = {
        "number": 0, "title": "", "kind": "line", "path": str(folder / "program.py"), "module": "",
        "line": 0, "last": 0, "name": "", "condition": "", "after": 0, "every": 1, "actions": [],
    }  # fmt: skip
    lines = {"count": len(nodes), "first": first, "last": last}
    wish = json.dumps({"probes": [probe], "ranks": [], "most_calls": 0, "lines": lines})
    agent = {
        "PYTHONPATH": str(SITE), "WHET_AGENT": str(reports), "WHET_LINES": wish,
        "WHET_PYCACHE": str(folder / "cache"),
    }  # fmt: skip
    done = run(python, "program.py", folder=folder, **agent)
    assert done.stderr == ""
    told = json.loads(read_lines(reports, wish).data)["processes"]
    rows: dict[int, list[float]] = {}
    for process in told:
        for node, row in zip(nodes, process["rows"], strict=True):
            old = rows.get(node.lineno, [0.0] * 4)
            rows[node.lineno] = [a + b for a, b in zip(old, row, strict=True)]
    return done.stdout, rows


def run(python: str, *words: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [python, *words], cwd=folder, env={**kept, **more}, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip


def test_a_counted_program_runs_as_it_would_and_each_line_as_often_as_python_says(
    python: str, tmp_path: Path
) -> None:
    out, rows = counted(tmp_path, python, PROGRAM)

    plain = run(python, "program.py", folder=tmp_path)
    assert out == plain.stdout
    run(python, "-c", TRACED, folder=tmp_path)
    traced = json.loads((tmp_path / "traced.json").read_text())
    lines = PROGRAM.splitlines()
    # What Python comes to more than once in a run: heads of loops, ends of `with`, classes, decorators.
    repeated = ("for ", "while ", "with ", "class ", "@", "async with ", "async for ")
    compared = [
        n for n in rows
        if not lines[n - 1].strip().startswith(repeated) and " for " not in lines[n - 1]
    ]  # fmt: skip
    decorated = {n + 1 for n, line in enumerate(lines, 1) if line.strip()[:1] == "@"}
    hidden = {lines.index(each) + 1 for each in ("    x = 1", "    return sorted(locals())")}
    counts = {line: int(rows[line][0]) for line in sorted({*compared} - decorated - hidden)}
    child = lines.index('        print("child", flush=True)') + 1
    # The child's own, which the tracer's file doesn't hold.
    assert [counts.pop(line) for line in (child - 1, child, child + 1)] == [2, 1, 1]
    assert counts == {line: traced.get(str(line), 0) for line in counts}
    assert all(rows[line][0] == 0 for line in hidden)


SLEEPS = """\
import time
def items():
    for _ in range(3):
        time.sleep(0.02)
        yield 1
def rest():
    time.sleep(0.04)
def slow(n):
    if n:
        slow(n - 1)
    else:
        time.sleep(0.05)
for _ in items():
    time.sleep(0.04)
slow(3)
big = b"x" * 60_000_000
rest(); last = 1
"""


def test_time_goes_to_the_statement_that_takes_it_and_once(tmp_path: Path) -> None:
    _, rows = counted(tmp_path, sys.executable, SLEEPS)

    took = {line: row[1] for line, row in rows.items()}
    assert took[4] >= 0.06
    assert took[14] >= 0.12
    assert took[5] < took[14]  # the generator waits while the loop's body sleeps
    assert took[13] >= 0.06  # the loop's head takes the items
    assert 0.05 <= took[10] <= took[15]  # of the recursion only the outermost call counts
    assert took[15] < 2 * took[12]
    assert rows[16][3] == pytest.approx(60_000_000, rel=0.05)


def test_only_the_lines_that_are_asked_for_are_counted_and_none_takes_their_place(
    tmp_path: Path,
) -> None:
    _, rows = counted(tmp_path, sys.executable, SLEEPS, first=13, last=13)

    assert rows[13][0] == 1
    assert sum(row[0] for row in rows.values()) == 1
