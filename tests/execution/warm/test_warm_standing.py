"""What stands still on a line of the program when it is frozen: it keeps the code that it had."""

import pytest
from workshop import Workshop

BEGINNING = "import time, traceback\ndef late(x):\n{}    return x\n"
END = "time.sleep(0.06)\nprint(1)\nlate(0)\n"

STANDING = {
    "a generator": "def g():\n    yield 1\n    yield 1 // 0\na = g()\nnext(a)\n",
    "a generator without its function": (
        "def g():\n    yield 1\n    yield 1 // 0\na = g()\nnext(a)\ndel g\n"
    ),
    "a generator of a method": (
        "class C:\n    def g(self):\n        yield 1\n        yield 1 // 0\na = C().g()\nnext(a)\n"
    ),
    "a generator of an inner function": (
        "def f():\n    def g():\n        yield 1\n        yield 1 // 0\n    return g()\n"
        "a = f()\nnext(a)\n"
    ),
    "an expression": "a = (1 // x\n     for x in [1, 0])\nnext(a)\n",
}
FAILED = {
    "failed in a function": (
        "def f():\n    raise ValueError\ntry:\n    f()\nexcept ValueError as error:\n    a = error\n"
    ),
    "failed in the script": "try:\n    raise ValueError\nexcept ValueError as error:\n    a = error\n",
    "failed in two functions": (
        "def f():\n    raise ValueError\ndef g():\n    try:\n        f()\n"
        "    except ValueError as error:\n        return error\na = g()\n"
    ),
    "failed twice": (
        "def f():\n    raise ValueError\ndef g():\n    try:\n        f()\n"
        "    except ValueError as error:\n        return error\na = g()\na = g()\n"
    ),
}
COROUTINE = (
    "class H:\n    def __await__(self):\n        yield 1\n"
    "async def f():\n    await H()\n    1 // 0\na = f()\na.send(None)\n"
)
# The others are in the long run.
OFTEN = {
    "a generator without its function",
    "an expression",
    "failed in two functions",
    "failed twice",
}


@pytest.mark.parametrize(
    ("standing", "end"),
    [
        *(
            pytest.param(text, end, id=name, marks=() if name in OFTEN else pytest.mark.long)
            for texts, end in ((STANDING, "list(a)\n"), (FAILED, "raise a\n"))
            for name, text in texts.items()
        ),
        pytest.param(FAILED["failed twice"], "traceback.print_exception(a)\n", id="shown"),
        pytest.param(COROUTINE, "a.send(None)\n", id="a coroutine"),
    ],
)
def test_what_stands_still_is_in_the_line_in_which_it_is_cold(
    workshop: Workshop, standing: str, end: str
) -> None:
    workshop.write({"main.py": BEGINNING.format("") + standing + END + end})
    workshop.run()
    workshop.write({"main.py": BEGINNING.format("    print(2)\n") + standing + END + end})

    workshop.run()  # the workshop compares it with a cold run


@pytest.mark.parametrize(
    ("standing", "end"),
    [(STANDING["a generator"], "list(a)\n"), (FAILED["failed in a function"], "raise a\n")],
)
def test_what_stands_still_is_where_on_its_line_it_is_cold(
    workshop: Workshop, standing: str, end: str
) -> None:
    moved = standing.replace("1 // ", "1  //  ").replace("f()\nex", "f( )\nex")
    workshop.write({"main.py": BEGINNING.format("") + standing + END + end})
    workshop.run()
    workshop.write({"main.py": BEGINNING.format("") + moved + END + end})

    workshop.run()


def test_a_generator_that_has_ended_keeps_nothing_from_moving(workshop: Workshop) -> None:
    text = (
        "def g():\n    yield 1\n    yield 2\nprint(list(g()))\ndef f():\n    try:\n        1 // 0\n"
    )
    text += "    except ZeroDivisionError:\n        print('caught')\nf()\nf()\n"

    workshop.edit(
        BEGINNING.format("") + text + END + "1 // 0\n",
        BEGINNING.format("    print(2)\n") + text + END + "1 // 0\n",
    )


def test_a_frame_that_an_error_holds_is_the_one_that_runs_on(workshop: Workshop) -> None:
    """Its file is let go of when the frame is: too late for what Python has not written yet."""
    text = (
        "import time\ndef main():\n    try:\n        raise KeyError\n"
        "    except KeyError as error:\n        kept = error\n    time.sleep(0.06)\n"
        "    file = open('out', 'w')\n    file.write('22')\n    print(len(kept.args))\n"
        "    {}\nmain()\n"
    )
    workshop.write({"main.py": text.format("print(1)")})
    workshop.run()
    workshop.write({"main.py": text.format("print(2)")})

    workshop.run()
