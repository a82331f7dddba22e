"""What a process that the program forks has run, or read, is part of the program's past."""

import pytest
from workshop import SLOW, Workshop

pytestmark = pytest.mark.slow

PROGRAMS = {
    "a fork": "import os\nif not os.fork():\n    f()\n    os._exit(0)\nos.wait()\n",
    "a process of multiprocessing": (
        "import multiprocessing\np = multiprocessing.get_context('fork').Process(target=f)\n"
        "p.start(); p.join()\n"
    ),
    "a pool": (
        "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(1) as p: p.apply(f)\n"
    ),
    "before another program": (
        "import subprocess\nsubprocess.run(['true'], preexec_fn=f, check=True)\n"
    ),
    "a fork in a function": (
        "import os\ndef work():\n    if os.fork(): return os.wait()\n    f()\n    os._exit(0)\nwork()\n"
    ),
}


@pytest.mark.parametrize("past", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_function_that_it_has_run_is_as_it_was(workshop: Workshop, past: str) -> None:
    text = (
        "def f():\n    print('one', flush=True)\n"
        + past
        + SLOW
        + "def g():\n    return 1\nprint(g())\n"
    )
    workshop.write({"main.py": text})
    workshop.run()
    workshop.write({"main.py": text.replace("return 1", "return 2")})
    workshop.run()
    workshop.write({"main.py": text.replace("one", "two")})
    workshop.run()

    last = f"main.py:{text.count(chr(10)) - 2}"
    assert workshop.starts[1].place == last, workshop.starts
    assert workshop.starts[2].place != last, workshop.starts


def test_a_module_that_it_has_read_is_as_it_was(workshop: Workshop) -> None:
    past = PROGRAMS["a fork"].replace("f()", "import helper")
    workshop.write({"main.py": past + SLOW + "print(2)\n", "helper.py": "print(1, flush=True)\n"})
    workshop.run()
    workshop.write({"helper.py": "print(3, flush=True)\n"})
    workshop.run()

    assert not workshop.starts[1].place.startswith("main.py:7"), workshop.starts


STACK = "import multiprocessing, traceback\ntraceback.format_stack()\n"
CHILD = "p = multiprocessing.get_context('fork').Process(target=f)\np.start(); p.join()\n"


def _places(workshop: Workshop, shows: str) -> list[str]:
    """Edit the last line, a line that the process is at, and one that it is not at, behind it."""
    text = f"{STACK}f = {shows}\n{CHILD}{SLOW}x = 1 # below\nprint(2)\n"
    edits = [("print(2)", "print(3)"), ("p.join()", "p.join() # more"), ("# below", "# under")]
    for now in (text, *(text.replace(*each) for each in edits)):
        workshop.write({"main.py": now})
        workshop.run()
    return [start.place for start in workshop.starts[1:]]


@pytest.mark.long
def test_one_that_formats_a_stack_sees_the_lines_that_it_is_at_alone(workshop: Workshop) -> None:
    last, at, below = _places(workshop, "traceback.print_stack")

    assert last.startswith("main.py:")
    assert int(last[8:]) > 5
    assert not at.startswith("main.py:") or int(at[8:]) < 5
    assert below


@pytest.mark.long
@pytest.mark.parametrize(
    "shows",
    [
        "lambda: print(traceback.linecache.getline(__file__, 8), flush=True)",
        "lambda: print(traceback.linecache.getlines(__file__)[7], flush=True)",
    ],
)
def test_one_that_shows_another_line_sees_the_whole_source(workshop: Workshop, shows: str) -> None:
    assert all(not each or int(each[8:]) < 5 for each in _places(workshop, shows))
