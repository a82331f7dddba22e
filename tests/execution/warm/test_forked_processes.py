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
