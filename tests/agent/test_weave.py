"""Calls that are put into a module change nothing that the program does, says or raises."""

import ast
import builtins
import contextlib
import io
import traceback
from collections.abc import Callable
from types import FrameType

import pytest

from whet.agent.site.whet_probe.instrument import Mark, Wanted, bind, weave

PROGRAM = '''\
"""Doc."""
from __future__ import annotations
import contextlib, functools, asyncio


def plain(a, *rest, b=2, **more):
    """Doc of plain."""
    total = sum(
        rest,
        a,
    )
    return total + b

def nothing(): pass

def early(x):
    if x:
        return
    x = 1

def steps(n):
    for i in range(n):
        yield i
    return "done"

async def later(x):
    await asyncio.sleep(0)
    return x + 1

class Thing:
    """Doc of Thing."""
    def __init__(self): self.rate = 1
    @property
    def twice(self): return self.rate * 2
    @staticmethod
    def fixed(): return (lambda q: q)(3)
    def up(self):
        count = 0
        def inner():
            nonlocal count
            count += 1
            return count
        return inner() + inner()

def fails(x):
    try:
        int(x)
    except ValueError as error:
        raise RuntimeError("no") from error
    finally:
        x = 3

def deep(n):
    return deep(n - 1) if n else 1 / 0

def swallowed():
    with contextlib.suppress(KeyError):
        raise KeyError("quiet")
    try: deep(2)
    except ZeroDivisionError: return "caught"

def passed_on():
    try:
        deep(1)
    except ZeroDivisionError:
        raise

def matched(x):
    match x:
        case {"a": y}: return y
        case [1, *_]: return "one"
        case _: return None
'''

CALLS = [
    "plain(1, 2, 3, c=4)", "nothing()", "early(1)", "early(0)", "list(steps(3))",
    "asyncio.run(later(4))", "Thing().twice", "Thing.fixed()", "Thing().up()", "fails('x')",
    "deep(3)", "swallowed()", "passed_on()", "matched({'a': 5})", "matched([1, 2])", "matched(3)",
    "plain.__doc__", "Thing.__doc__", "plain.__defaults__, plain.__kwdefaults__", "plain()",
    "functools.reduce(lambda a, b: a + b, steps(4))",
]  # fmt: skip

ANY_ERROR = (Exception,)
evaluate, execute = vars(builtins)["eval"], vars(builtins)["exec"]


def everything(met: Callable[[str, FrameType, tuple[object, ...]], None]) -> object:
    """Return the program's code with marks wherever there can be one."""
    tree = ast.parse(PROGRAM, "program.py")
    wanted = Wanted()
    wanted.raises = True
    wanted.lines = {line: [line] for line in range(1, PROGRAM.count("\n") + 1)}
    wanted.calls = wanted.returns = wanted.traced = lambda _name: [0]
    weave(tree, wanted)
    code = compile(tree, "program.py", "exec", dont_inherit=True)
    return bind(code, lambda text: Mark(lambda frame, value: met(text, frame, value)))


def result(space: dict[str, object], call: str) -> str:
    """Return what a call comes to, its traceback with all lines of the program included."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            value = repr(evaluate(call, space))
        except ANY_ERROR as error:
            shown = traceback.TracebackException.from_exception(error).format()
            value = "".join(line for line in shown if "instrument.py" not in line)
    return value + said.getvalue()


@pytest.mark.parametrize("call", CALLS)
def test_a_woven_program_does_and_raises_what_the_program_does(call: str) -> None:
    plain: dict[str, object] = {}
    execute(compile(PROGRAM, "program.py", "exec"), plain)
    woven: dict[str, object] = {}
    execute(everything(lambda *_: None), woven)

    assert result(woven, call) == result(plain, call)


def test_each_line_with_a_statement_is_met_once_for_each_time() -> None:
    met: list[str] = []
    space: dict[str, object] = {}
    execute(everything(lambda text, *_: met.append(text)), space)
    met.clear()

    evaluate("early(0), plain(1)", space)

    assert [text for text in met if text.startswith("line:")] == [
        "line:17", "line:19", "line:7", "line:8", "line:12",
    ]  # fmt: skip


def test_an_error_is_told_of_once_where_it_first_is_in_the_program_s_own_code() -> None:
    told: list[tuple[str, str]] = []
    space: dict[str, object] = {}

    def met(text: str, frame: FrameType, _value: tuple[object, ...]) -> None:
        if text.startswith("raised:"):
            told.append((frame.f_code.co_name, text))

    execute(everything(met), space)
    evaluate("swallowed()", space)

    # `loading.py` leaves out those that a mark further in has seen: each function sees it here.
    assert [name for name, _ in told][:2] == ["swallowed", "deep"]


def test_a_mark_can_be_pickled_and_then_does_nothing() -> None:
    import pickle

    mark = pickle.loads(pickle.dumps(Mark(lambda *_: None)))

    assert (mark(), mark(3)) == (None, 3)
