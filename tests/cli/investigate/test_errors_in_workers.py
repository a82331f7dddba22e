"""`whet investigate`: what a worker process did is seen where the program fails the same way in one process."""

import json
import sys

from whet_command import Whet

PROGRAM = """
import os
from concurrent.futures import ProcessPoolExecutor


def seconds(text):
    minutes, rest = text.split(":")
    return int(minutes) * 60 + int(rest)


def read(path):
    found = {}
    for line in open(path):
        name, text = line.split()
        try:
            found[name] = seconds(text)
        except ValueError:
            continue
    return found


if __name__ == "__main__":
    known = {}
    with ProcessPoolExecutor(2) as pool:
        for each in pool.map(read, ["a.txt", "b.txt"]):
            known.update(each)
    print(known["third"])
"""


def report_of(whet: Whet, program: str) -> dict[str, object]:
    whet.write("main.py", program)
    whet.write("a.txt", "first 1:20\nsecond 0:50\n")
    whet.write("b.txt", "third 4:07.5\nfourth 2:00\n")
    whet("investigate", "--no-changes", "--", sys.executable, "main.py")
    report: dict[str, object] = json.loads(
        (whet.folder / "whet-report" / "report.json").read_text()
    )["answer"]
    return report


def test_an_error_that_a_worker_swallows_is_named_with_its_record(whet: Whet) -> None:
    cause = report_of(whet, PROGRAM)["cause"]
    assert isinstance(cause, dict)
    assert "`known` has no 'third': main.py:1" in cause["says"]
    assert "b.txt:1" in cause["says"]
    assert "it ran with `one-process`, and failed the same way" in cause["why"]


def test_nothing_is_said_of_one_process_where_no_pool_is_used(whet: Whet) -> None:
    plain = PROGRAM.replace("pool.map", "map").replace(
        "with ProcessPoolExecutor(2) as pool", "if True"
    )
    plain = plain.replace("from concurrent.futures import ProcessPoolExecutor\n", "")
    cause = report_of(whet, plain)["cause"]
    assert isinstance(cause, dict)
    assert "`known` has no 'third': main.py:1" in cause["says"]
    assert "one-process" not in cause["why"]
