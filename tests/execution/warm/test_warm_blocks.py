"""A program that stands in `with` and `try` statements is continued there, and leaves them as it would."""

import pytest
from workshop import SLOW, Workshop, every_python, python_of

pytestmark = pytest.mark.slow

MANAGERS = """
import contextlib, sys

def depth():
    frame, count = DEPTH, 0
    while frame is not None: frame, count = frame.f_back, count + 1
    return count

class Manager:
    def __init__(self, name, swallows=False): self.name, self.swallows = name, swallows
    def __enter__(self):
        print("enter", self.name, depth())
        return self
    def __exit__(self, kind, error, trace):
        lines = []
        while trace is not None:
            lines.append((trace.tb_lineno, trace.tb_frame.f_code.co_name))
            trace = trace.tb_next
        print("exit", self.name, kind, error, lines, depth(), sys.exc_info()[0])
        return self.swallows
    def __del__(self): print("gone", self.name)

@contextlib.contextmanager
def made(name):
    print("begin", name)
    try:
        yield name
    except KeyError as error:
        print("caught", repr(error), repr(error.__context__))
    finally:
        print("end", name, depth())

def fail(error):
    try: raise error
    finally: del error  # no circle: when garbage goes is a matter of chance
"""

PAUSE = "time.sleep(0.06)"

BODIES = {
    "one manager": f"""
with Manager("a") as a:
    {PAUSE}
    print(a.name, LATE)
print("after")
""",
    "several managers": f"""
with Manager("a") as a, made("b") as b, Manager("c"):
    {PAUSE}
    print(a.name, b, LATE)
""",
    "a manager in a manager": f"""
with Manager("a"):
    x = 1
    with made("b") as (b):
        {PAUSE}
        x += LATE
    {PAUSE}
    print(x)
""",
    "an error that a manager gets": f"""
try:
    with Manager("a"), Manager("b"):
        {PAUSE}
        fail(KeyError(LATE))
except KeyError as error:
    print("handled", error, error.__traceback__.tb_lineno)
""",
    "an error that a manager swallows": f"""
with Manager("a"):
    with Manager("b", swallows=True), made("c"):
        {PAUSE}
        fail(ValueError(LATE))
    print("after")
""",
    "an error in the end of a manager": f"""
class Fails(Manager):
    def __exit__(self, *error): fail(RuntimeError("in the end"))
try:
    with Fails("a"):
        {PAUSE}
        1 / (LATE - LATE)
except RuntimeError as error:
    print(error, repr(error.__context__), error.__traceback__.tb_lineno)
""",
    "an error that nobody handles": f"""
with Manager("a"):
    try:
        {PAUSE}
        fail(ValueError(LATE))
    finally:
        print("finally")
""",
    "a loop in a manager": f"""
with Manager("a"):
    for n in range(4):
        {PAUSE}
        with made(n):
            if n == 2: break
    else:
        print("else")
    print(LATE)
""",
    "a manager in a loop": f"""
for n in range(3):
    with Manager(n):
        {PAUSE}
        if n == 1: continue
        print(n)
{PAUSE}
print(LATE)
""",
    "any error handled": f"""
try:
    {PAUSE}
    fail(SystemExit(LATE))
except:
    print("any", sys.exc_info()[1])
""",
    "handlers that are looked up": f"""
def errors(): print("asked"); return KeyError, ValueError
try:
    {PAUSE}
    fail(ValueError(LATE))
except errors() as error:
    print("handled", error)
""",
    "what is done at last": f"""
try:
    {PAUSE}
    print(LATE)
finally:
    print("finally", sys.exc_info())
print("after")
""",
    "what is done if nothing failed": f"""
try:
    {PAUSE}
except ValueError:
    print("never")
else:
    {PAUSE}
    print("else", LATE)
    try:
        fail(ValueError("not handled above"))
    except ValueError as error:
        print(error)
finally:
    print("finally")
""",
    "standard managers": f"""
import decimal, io, tempfile, threading, warnings
lock = threading.Lock()
with lock, decimal.localcontext() as c, warnings.catch_warnings(record=True) as w:
    c.prec = 5
    with tempfile.TemporaryDirectory() as folder, open(folder + "/a", "w") as file:
        file.write("x")
        with contextlib.redirect_stdout(io.StringIO()) as told, contextlib.suppress(KeyError):
            {PAUSE}
            warnings.warn("w")
            print("told")
            fail(KeyError(LATE))
        {PAUSE}
        print(file.closed, told.getvalue(), len(w), decimal.Decimal(1) / 3, lock.locked())
print(file.closed, lock.locked(), decimal.getcontext().prec, __import__("os").path.exists(folder))
""",
    "an exit stack": f"""
with contextlib.ExitStack() as stack:
    stack.enter_context(Manager("a"))
    stack.callback(print, "called back")
    {PAUSE}
    print(LATE)
""",
    "managers whose methods are looked up otherwise": f"""
class Static:
    @staticmethod
    def __enter__(): print("enter"); return 7
    @classmethod
    def __exit__(cls, *error): print("exit", cls.__name__, error)
class Callable_:
    def __call__(self, *error): print("called", len(error))
class Given:
    __enter__ = __exit__ = Callable_()
with Static() as s:
    print(s)
with Given():
    pass
with Manager("a"):
    {PAUSE}
    print(LATE)
""",
}  # fmt: skip

BODIES |= {
    f"{loop.partition(' ')[0]} and what is done after its last round": f"""
n = 0
{loop}
    n += 1
    print(n)
else:
    {PAUSE}
    print("else", LATE)
print("after")
"""
    for loop in ("for _ in range(2):", "while n < 2:")
}
BODIES["what a closure keeps until it has run"] = f"""
class Kept:
    def __del__(self): print("gone")
def function():
    with contextlib.nullcontext(Kept()) as kept:
        inner = lambda: kept
        {PAUSE}
        x = 1
function()
print("after")
def outer():
    kept = Kept()
    def inner():
        {PAUSE}
        return kept is None
    return inner
f = outer()
f()
del f
{PAUSE}
print("after", LATE)
"""
BODIES["what a tracer sees"] = f"""
def tracer(frame, event, _):
    seen.append((event, frame.f_lineno))
    return tracer
seen = []
def function():
    sys.settrace(tracer)
    sys._getframe().f_trace = tracer
    try:
        raise OSError(LATE)
    except (
        ValueError,
        OSError,
    ):
        pass
    finally:
        global Q
        Q = 3
    try:
        raise OSError
    except:
        x = 1
    sys.settrace(None)
    print(seen)
{PAUSE}
function()
"""

IN_FUNCTION = "    "


def program(body: str, late: str, *, is_function: bool, sees_frames: bool = True) -> str:
    body = body.replace("LATE", late)
    if is_function:
        lines = "".join(f"{IN_FUNCTION}{line}\n" for line in body.strip("\n").splitlines())
        body = f"def main(argument=3):\n{lines}    return 5\nprint(main())\n"
    frame = "sys._getframe()" if sees_frames else "None"  # who looks at frames may see lines
    return f"import time\n{MANAGERS.replace('DEPTH', frame)}{SLOW}{body}"


@pytest.mark.parametrize("is_function", [False, True], ids=["module", "function"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_run_that_continues_in_a_block_is_the_cold_one(
    workshop: Workshop, body: str, *, is_function: bool
) -> None:
    # On a busy machine, a copy may cost more than a short pause: then a longer one has to do.
    for seconds in (0.06, 0.6):
        slow = body.replace("sleep(0.06)", f"sleep({seconds})")
        first, second = (
            f"PAUSE = {seconds}\n{program(slow, late, is_function=is_function)}"
            for late in ("1", "1 + 1")
        )
        workshop.edit(first, second)
        line = next(each for each in slow.splitlines() if "time.sleep" in each)
        begins = first.splitlines().index((IN_FUNCTION if is_function else "") + line)
        if int(workshop.starts[-1].place.rpartition(":")[2] or 0) > begins:
            return
    pytest.fail(f"it doesn't resume behind the pause: {workshop.starts}")


@pytest.mark.long
@every_python
def test_on_every_python_a_run_continues_in_blocks(workshop: Workshop, minor: int) -> None:
    workshop.python = python_of(minor)
    names = (
        "several managers",
        "an error that a manager swallows",
        "what is done if nothing failed",
    )
    bodies = "".join(BODIES[name].replace("LATE", "1") for name in names)
    first, second = (
        program(bodies + BODIES["standard managers"], late, is_function=True, sees_frames=False)
        for late in "12"
    )

    workshop.edit(first, second)


HEAD = f"""
with Manager("a") as a, made("b"):
    {PAUSE}
    try:
        {PAUSE}
        print(1)
    except ValueError:
        print("never")
    else:
        print("else")
    finally:
        print("finally")
print("after")
"""


@pytest.mark.parametrize(
    ("before", "after", "is_late"),
    [
        ('print("never")', 'print("never, now")', True),
        ("except ValueError:", "except (ValueError, KeyError) as error:", True),
        ('    else:\n        print("else")\n', "", True),
        ('print("finally")', 'print("at last")', True),
        ('print("after")', 'print("thereafter")', True),
        ('    finally:\n        print("f', '    finally:\n        x = 3\n        print("f', True),
        ('Manager("a")', 'Manager("other")', False),
        (' as a, made("b")', ", made('b')", False),
    ],
)
def test_what_of_a_block_has_not_run_yet_may_change(
    workshop: Workshop, before: str, after: str, *, is_late: bool
) -> None:
    text = program(HEAD, "", is_function=False, sees_frames=False)
    workshop.write({"main.py": text})
    workshop.run()
    workshop.write({"main.py": text.replace(before, after)})
    workshop.run()
    begins = text.splitlines().index('with Manager("a") as a, made("b"):') + 1

    place = workshop.starts[-1].place
    assert (int(place.rpartition(":")[2] or 0) > begins) == is_late, workshop.starts


def test_a_checkpoint_in_a_manager_in_a_later_round_is_continued_from(workshop: Workshop) -> None:
    body = (
        "with Manager('a'):\n    for n in range(4):\n        try:\n            with Manager(n):\n"
        "                time.sleep(0.06)\n                whet.checkpoint(f'step {n}')\n"
        "        finally:\n            print('finally', n)\n    print(LATE)\n"
    )
    first, second = (
        program(body, late, is_function=True).replace("import time", "import time, whet", 1)
        for late in ("1", "2")
    )

    workshop.edit(first, second)

    assert workshop.starts[-1].place == "step 3", workshop.starts
