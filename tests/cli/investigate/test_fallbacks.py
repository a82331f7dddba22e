"""`whet investigate`: an error that was dropped is the cause where the bad value came instead of it."""

import json
import sys

import pytest
from whet_command import Whet

DROPPED = """\
def rate(text):
    try:
        return float(text)
    except Exception:
        return 1.0


def price(net, text):
    return net * rate(text)


found = price(10, "1,2")
assert found == 12, found
"""
OTHER = DROPPED.replace("found = price(10", 'rate("x")\nfound = price(9').replace('"1,2"', '"1.2"')
MADE_ANEW = """\
kept = {}


def double(number):
    return number * 3


def doubled(number):
    try:
        return kept[number]
    except Exception:
        return double(number)


found = doubled(2)
assert found == 4, found
"""

GIVEN_UP = """\
import queue

answers = queue.Queue()


def answer(seconds):
    try:
        return answers.get(timeout=seconds)
    except queue.Empty:
        waited = seconds * 1000
        raise RuntimeError(f"no answer after {waited} ms") from None


answer(0.1)
"""


def cause(whet: Whet, text: str) -> dict[str, object] | None:
    whet.write("main.py", text)
    whet("investigate", "--no-changes", "--", sys.executable, "main.py")
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    found: dict[str, object] | None = report["answer"]["cause"]
    return found


def test_an_error_that_was_dropped_is_the_cause_where_what_came_instead_is_bad(whet: Whet) -> None:
    found = cause(whet, DROPPED)
    assert found is not None
    assert (found["line"], found["sureness"]) == (3, "seen")
    assert "caught and dropped at main.py:4" in str(found["says"])


def test_an_error_that_ended_a_process_unheard_is_the_cause_of_what_lacks_its_work(
    whet: Whet,
) -> None:
    whet.write(
        "worker.py", "import sys\nout, text = sys.argv[1:]\nopen(out, 'w').write(str(int(text)))\n"
    )
    ran = "for n, text in enumerate(['1', '2,5']):\n    out = f'part-{n}.txt'\n    command = [sys.executable, 'worker.py', out, text]\n    subprocess.run(command, stderr=subprocess.DEVNULL)\n    total += int(open(out).read())\n"
    found = cause(whet, f"import subprocess, sys\ntotal = 0\n{ran}")
    assert found is not None
    assert (found["line"], found["sureness"]) == (3, "seen")
    assert "another process of the program ended with ValueError" in str(found["says"])


def test_what_a_handler_calls_may_be_what_is_wrong(whet: Whet) -> None:
    assert cause(whet, MADE_ANEW) is None


@pytest.mark.long
def test_it_is_only_possible_where_the_bad_value_came_another_way(whet: Whet) -> None:
    assert cause(whet, OTHER) is None


def test_that_nothing_came_in_time_does_not_say_why(whet: Whet) -> None:
    assert cause(whet, GIVEN_UP) is None
    said = (whet.folder / "whet-report" / "report.md").read_text()
    assert "the value that failed comes from what the program did instead" not in said
