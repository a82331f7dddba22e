"""A run that goes on inside a function, or with a new body of one, is what a cold run would be."""

import pytest
from crossed import crossed
from workshop import SLOW, Workshop

pytestmark = pytest.mark.slow

SHARES = """\
import time
def main():
    def up():
        return n
    time.sleep(0.06)
{}
main()
"""
UNSET = {
    "not set yet": "    print({})\n    print(n)\n    n = 1",
    "deleted later": "    n = 1\n    print({})\n    del n\n    print(n)",
    "an exception's name": "    try: 1 / 0\n    except ZeroDivisionError as n: print({})\n    print(n)",
}
EDITS = [
    pytest.param(
        {
            "main.py": (
                "import time\n"
                "def main():\n"
                "    a = 1\n"
                "    time.sleep(0.06)\n"
                "    b = 2\n"
                "    print(a, b)\n"
                "if __name__ == '__main__':\n"
                "    main()\n"
            )
        },
        {
            "main.py": (
                "import time\n"
                "def main():\n"
                "    a = 1\n"
                "    time.sleep(0.06)\n"
                "    b = 3\n"
                "    c = 4\n"
                "    print(a, b, c, sorted(locals()))\n"
                "    1/0\n"
                "if __name__ == '__main__':\n"
                "    main()\n"
            )
        },
        True,
        id="the rest of a function that the script has called",
    ),
    pytest.param(
        {
            "main.py": (
                "import time, sys\n"
                "def inner(x, *, k=2):\n"
                "    y = x\n"
                "    time.sleep(0.06)\n"
                "    return y + k\n"
                "def main(n):\n"
                "    r = inner(n)\n"
                "    print(r)\n"
                "    return 3\n"
                "if __name__ == '__main__':\n"
                "    sys.exit(main(5))\n"
            )
        },
        {
            "main.py": (
                "import time, sys\n"
                "def inner(x, *, k=2):\n"
                "    y = x\n"
                "    time.sleep(0.06)\n"
                "    print('new')\n"
                "    return y + k * 10\n"
                "def main(n):\n"
                "    r = inner(n)\n"
                "    print(r, 'x')\n"
                "    return 4\n"
                "if __name__ == '__main__':\n"
                "    sys.exit(main(5))\n"
            )
        },
        True,
        id="the rest of functions that call each other",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": (
                "import time\n"
                "def main():\n"
                "    n = 0\n"
                "    def up():\n"
                "        nonlocal n\n"
                "        n += 1\n"
                "        return n\n"
                "    up()\n"
                "    time.sleep(0.06)\n"
                "    print(n, up())\n"
                "main()\n"
            )
        },
        {
            "main.py": (
                "import time\n"
                "def main():\n"
                "    n = 0\n"
                "    def up():\n"
                "        nonlocal n\n"
                "        n += 1\n"
                "        return n\n"
                "    up()\n"
                "    time.sleep(0.06)\n"
                "    n += 10\n"
                "    print(n, up(), n)\n"
                "main()\n"
            )
        },
        True,
        id="a variable that inner functions share",
    ),
    *(
        pytest.param(
            {"main.py": SHARES.format(rest.format(1))},
            {"main.py": SHARES.format(rest.format(2))},
            False,  # where the variable is an outer one's Python has another name for that error
            id=f"a variable that inner functions share and that is {state}",
            marks=() if state == "deleted later" else pytest.mark.long,
        )
        for state, rest in UNSET.items()
    ),
    pytest.param(
        {
            "main.py": (
                "import time\n"
                "def main():\n"
                "    for x in (i * i for i in range(4)):\n"
                "        if x == 1:\n"
                "            continue\n"
                "        time.sleep(0.06 if x == 0 else 0)\n"
                "        print(x)\n"
                "        if x == 4: break\n"
                "    else:\n"
                "        print('else')\n"
                "main()\n"
            )
        },
        {
            "main.py": (
                "import time\n"
                "def main():\n"
                "    for x in (i * i for i in range(4)):\n"
                "        if x == 1:\n"
                "            continue\n"
                "        time.sleep(0.06 if x == 0 else 0)\n"
                "        print('new', x)\n"
                "    else:\n"
                "        print('else')\n"
                "    print('end', x)\n"
                "main()\n"
            )
        },
        True,
        id="the first round of a loop, over an iterator that cannot begin again",
    ),
    pytest.param(
        {
            "main.py": (
                "import time\n"
                "def main():\n"
                "    i = 0\n"
                "    while i < 3:\n"
                "        time.sleep(0.03)\n"
                "        i += 1\n"
                "    print(i)\n"
                "main()\n"
            )
        },
        {
            "main.py": (
                "import time\n"
                "def main():\n"
                "    i = 0\n"
                "    while i < 3:\n"
                "        time.sleep(0.03)\n"
                "        i += 1\n"
                "    print(i, 'after')\n"
                "main()\n"
            )
        },
        True,
        id="what follows a loop",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": ("import time\nimport m\ntime.sleep(0.06)\nprint(m.f(1))\n"),
            "m.py": ("def f(x):\n    return x\ndef g():\n    raise ValueError\n"),
        },
        {"m.py": ("def f(x):\n    y = x * 2\n    return y\ndef g():\n    raise ValueError\n")},
        True,
        id="a function of a module that is called later",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": ("import time\nimport m\nm.f(1)\ntime.sleep(0.06)\nprint(m.f(1))\n"),
            "m.py": ("def f(x):\n    return x\n"),
        },
        {"m.py": ("def f(x):\n    return x * 2\n")},
        False,
        id="a function of a module that was called",
    ),
    pytest.param(
        {
            "main.py": ("import time\nimport m\nm.f(1)\ntime.sleep(0.06)\nm.f(0)\n"),
            "m.py": ("import math\ndef f(x):\n    return 1 / x\n"),
        },
        {"m.py": ("import math\n# a comment\n\ndef f(x):\n    return 1 / x\n")},
        True,
        id="lines that moved around what was called",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": (
                "import time\nfrom m import A\na = A()\ntime.sleep(0.06)\nprint(a.late())\n"
            ),
            "m.py": (
                "class A:\n"
                "    def __init__(self):\n"
                "        self.x = 1\n"
                "    def late(self):\n"
                "        return self.x\n"
            ),
        },
        {
            "m.py": (
                "class A:\n"
                "    def __init__(self):\n"
                "        self.x = 1\n"
                "    def late(self):\n"
                "        return self.x + 41\n"
            )
        },
        True,
        id="a method that is called later",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": ("import time\nimport m\ng = m.g()\ntime.sleep(0.06)\nprint(list(g))\n"),
            "m.py": ("def g():\n    yield 1\n"),
        },
        {"m.py": ("def g():\n    yield 2\n")},
        False,
        id="a generator that has been made",
    ),
    pytest.param(
        {"main.py": ("import time\ndef f():\n    return 1\ntime.sleep(0.06)\nprint(f())\n")},
        {
            "main.py": (
                "import time\ndef f():\n    # now\n    return 2\ntime.sleep(0.06)\nprint(f())\n"
            )
        },
        True,
        id="a function of the script that is called later",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {"main.py": ("import time\ndef f(a=1):\n    return a\ntime.sleep(0.06)\nprint(f())\n")},
        {"main.py": ("import time\ndef f(a=2):\n    return a\ntime.sleep(0.06)\nprint(f())\n")},
        False,
        id="a default that was taken",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": (
                "import time\n"
                "x = 1\n"
                "def main():\n"
                "    print(x)\n"
                "    time.sleep(0.06)\n"
                "    print(2)\n"
                "main()\n"
            )
        },
        {
            "main.py": (
                "import time\n"
                "x = 1\n"
                "def main():\n"
                "    print(x)\n"
                "    time.sleep(0.06)\n"
                "    x = 2\n"
                "main()\n"
            )
        },
        False,
        id="a name that would be another variable",
    ),
    pytest.param(
        {
            "main.py": (
                "import time, traceback, inspect\n"
                "def main():\n"
                "    time.sleep(0.06)\n"
                "    traceback.print_stack()\n"
                "    print([f.function for f in inspect.stack()])\n"
                "main()\n"
            )
        },
        {
            "main.py": (
                "import time, traceback, inspect\n"
                "def main():\n"
                "    time.sleep(0.06)\n"
                "    print('more')\n"
                "    traceback.print_stack()\n"
                "    print([f.function for f in inspect.stack()])\n"
                "main()\n"
            )
        },
        True,
        id="what looks at its own stack",
    ),
    pytest.param(
        {
            "main.py": (
                "import time, logging, m\n"
                "logging.basicConfig(format='%(lineno)d %(message)s')\n"
                "m.f()\n"
                "time.sleep(0.06)\n"
                "print('x')\n"
            ),
            "m.py": ("import logging\ndef f():\n    logging.warning('hello')\n"),
        },
        {"m.py": ("import logging\n\n\ndef f():\n    logging.warning('hello')\n")},
        False,
        id="lines that moved after somebody had looked at them",
    ),
    pytest.param(
        {
            "main.py": "import importlib.util, time\n"
            "spec = importlib.util.spec_from_file_location('plugin', 'plug.py')\n"
            "plugin = importlib.util.module_from_spec(spec)\n"
            "spec.loader.exec_module(plugin)\n"
            "time.sleep(0.06)\n"
            "print(plugin.f())\n",
            "plug.py": "def f():\n    return 1\n",
        },
        {"plug.py": "def f():\n    return 2\n"},
        False,
        id="a module that stands nowhere",
    ),
    pytest.param(
        {
            "main.py": "import sys, time\nfrom m import f\ndel sys.modules['m']\n"
            "time.sleep(0.06)\nprint(f())\n",
            "m.py": "def f():\n    return 1\n",
        },
        {"m.py": "def f():\n    return 2\n"},
        False,
        id="a module that was taken away",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": "import time\nfrom m import g\ntime.sleep(0.06)\nprint(g())\n",
            "m.py": "import sys, types\ndef f():\n    return 1\n"
            "other = types.ModuleType('m')\nother.g = f\nsys.modules['m'] = other\n",
        },
        {
            "m.py": "import sys, types\ndef f():\n    return 2\n"
            "other = types.ModuleType('m')\nother.g = f\nsys.modules['m'] = other\n"
        },
        False,
        id="a module that put another one in its place",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": "import inspect, time, m\nx = inspect.isgeneratorfunction(m.f)\n"
            "time.sleep(0.06)\nprint(x, m.f())\n",
            "m.py": "def f():\n    return 1\n",
        },
        {"m.py": "def f():\n    return (yield)\nf.__repr__\nf = lambda: 2\n"},
        False,
        id="more of a module than a body",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": "import inspect, time, m\nx = inspect.isgeneratorfunction(m.f)\n"
            "time.sleep(0.06)\nprint(x, type(m.f()).__name__)\n",
            "m.py": "def f():\n    return 1\n",
        },
        {"m.py": "def f():\n    yield 1\n"},
        False,
        id="a function that becomes a generator",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": "import time\ndef f(slow):\n    if slow: time.sleep(0.06)\n    return 1\n"
            "print([f(0)])\nx = f(1)\nprint(x)\n",
        },
        {
            "main.py": "import time\ndef f(slow):\n    if slow: time.sleep(0.06)\n"
            "    print('here')\n    return 1\nprint([f(0)])\nx = f(1)\nprint(x)\n",
        },
        False,
        id="the rest of a function that has run whole before",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": "import time\ndef f(n):\n    x = [f(n - 1)] if n else []\n"
            "    if n: time.sleep(0.06)\n    return x\ny = f(1)\nprint(y)\n",
        },
        {
            "main.py": "import time\ndef f(n):\n    x = [f(n - 1)] if n else []\n"
            "    if n: time.sleep(0.06)\n    print(n)\n    return x\ny = f(1)\nprint(y)\n",
        },
        False,
        id="the rest of a function that has called itself",
        marks=pytest.mark.long,
    ),
    pytest.param(
        {
            "main.py": "import time\nclass Gone:\n    def __del__(self): print('gone')\n"
            "gone = Gone()\ndef main():\n    time.sleep(0.06)\n    print(1)\n    {}['x']\n"
            "main()\n"
        },
        {
            "main.py": "import time\nclass Gone:\n    def __del__(self): print('gone')\n"
            "gone = Gone()\ndef main():\n    time.sleep(0.06)\n    print(2)\n    {}['x']\n"
            "main()\n"
        },
        True,
        id="the last words of an object in a function that goes on",
    ),
    pytest.param(
        {"main.py": "import time\ntime.sleep(0.06)\nprint(1 in [1])\n"},
        {"main.py": "import time\ntime.sleep(0.06)\nprint(1 is 1)\n"},
        False,
        id="what the compiler warns of before anything runs",
    ),
    pytest.param(
        {
            "main.py": "import time\ntime.sleep(0.06)\nprint(1 is 1)\nprint(2)\n",
        },
        {"main.py": "import time\ntime.sleep(0.06)\nprint(1 is 1)\nprint(3)\n"},
        False,  # the warning has shown a line of the script
        id="what follows a line that the compiler warns of",
        marks=pytest.mark.long,
    ),
]


@pytest.mark.parametrize(("files", "edit", "is_warm"), EDITS)
def test_a_resumed_run_is_the_cold_one(
    workshop: Workshop, files: dict[str, str], edit: dict[str, str], *, is_warm: bool
) -> None:
    workshop.write(files)
    workshop.run()
    workshop.run()
    workshop.write(edit)
    workshop.run()
    workshop.run()

    cold, deepest, edited, _ = (start.place for start in workshop.starts)
    assert not cold
    assert deepest
    # On a slow machine there are snapshots before the one that the edit has spoilt, and the second
    # run may leave a deeper one.
    seconds = [start.saved_seconds for start in workshop.starts]
    is_as_deep = edited == deepest or (bool(edited) and seconds[2] >= seconds[1])
    assert is_as_deep == is_warm, workshop.starts


@crossed(
    end=["raise KeyError(1)", "print(sys._getframe().f_lineno)"],
    first=["one", "a longer word"],
)
def test_lines_that_move_after_another_edit_are_counted_as_they_stand_now(
    workshop: Workshop, end: str, first: str
) -> None:
    pause = "time.sleep(0.06)"
    text = f"import sys, time\ndef main():\n    {pause}\n{{}}    print({{!r}})\n    {pause}\n    {end}\nmain()\n"
    for gap, word in (("", "none"), ("", first), ("\n", first)):
        workshop.write({"main.py": text.format(gap, word)})
        workshop.run()

    assert workshop.starts[-1].place, "not warm: whether lines are counted anew isn't seen"


@pytest.mark.parametrize(
    "decorator",
    [
        "def plain(f): return f\n",
        (
            "import functools\ndef plain(f):\n    @functools.wraps(f)\n    @(\n        lambda g: g\n    )\n"
            "    def inner(x):\n        y = f(x)\n        return y + 5\n    return inner\n"
        ),
    ],
)
def test_a_decorated_function_fails_in_the_line_in_which_it_fails_cold(
    workshop: Workshop, decorator: str
) -> None:
    text = (
        f"{SLOW}{decorator}@plain\n@plain\ndef work(x):\n    time.sleep(0.06)\n    return {{}}\n"
        "print(work(6) + 1)\n"
    )
    work = text.replace("print(work(6) + 1)", "found = work(6)\nprint(found + 1)")
    outcome = workshop.edit(work.format("x * 9"), work.format("None"))

    assert outcome.exit_code == 1


@crossed(
    asked=[
        "co_firstlineno",
        "co_consts[1].co_firstlineno",
        "co_lines and list({}.co_lines())[0][2]",
    ],
    taken=["f", "C().m", "C.m"],
)
def test_where_a_function_stands_is_known_once_its_code_was_taken(
    workshop: Workshop, taken: str, asked: str
) -> None:
    code = f"own.{taken}.__code__"
    own = "def f():\n    return lambda: 1\nclass C:\n    def m(self):\n        def inner(): pass\n"
    workshop.write(
        {
            "own.py": f"x = 1\n{own}",
            "main.py": f"import own\n{SLOW}print({code}.{asked.format(code)})\n{SLOW}print(2)\n",
        }
    )
    workshop.run()
    workshop.write({"own.py": f"x = 1\n\n\n{own}"})
    workshop.run()


@crossed(
    asked={
        "how many": "own.{}.__code__.co_argcount",
        "which kind": "own.{}.__code__.co_flags & 0x20",
        "all": "(lambda code: code.co_argcount)(own.{}.__code__)",
    },
    taken=["f", "C().m"],
)
def test_who_asks_for_a_functions_parameters_knows_neither_its_place_nor_its_body(
    workshop: Workshop, taken: str, asked: str
) -> None:
    own = "def f():\n    return {0}\nclass C:\n    def m(self):\n        return {0}\n"
    look, call = asked.format(taken), f"print(own.{taken}())"
    workshop.write(
        {
            "own.py": f"x = 1\n{own.format(1)}",
            "main.py": f"import own\nprint({look})\n{SLOW}{call}\n",
        }
    )
    workshop.run()
    workshop.write({"own.py": f"x = 1\n\n\n{own.format(2)}"})
    workshop.run()

    assert bool(workshop.starts[-1].place) == ("lambda" not in asked), workshop.starts


def test_a_function_may_be_called_again_while_its_first_call_is_noted(workshop: Workshop) -> None:
    program = (
        "import signal\n"
        "calls = []\n"
        "def again(number, _):\n"
        "    calls.append(number)\n"
        "    if len(calls) == 20:\n"
        "        signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "signal.signal(signal.SIGALRM, again)\n"
        "signal.setitimer(signal.ITIMER_REAL, 5e-5, 5e-5)\n"
        "while len(calls) < 20:\n"
        "    pass\n"
        "print('done')\n"
    )
    workshop.write({"main.py": program})
    outcome = workshop.run()

    assert outcome.stdout.head(100) == b"done\n"
