"""`whet expect --lines`: what each line takes, beside what its comment expects."""

import json
import sys

from whet_command import Whet

SLOW = """\
import time


def load(count):
    rows = []
    for number in range(count):
        rows.append(number)  # expect: 1000 calls
    time.sleep(0.05)  # expect: 10 ms
    return rows


def unused():
    return 1  # expect: 1 s


# expect: < 60 s
def main():
    rows = load(1000)
    big = b"x" * 40_000_000  # expect: 40 MB
    return rows, big


main()
print("done")
"""

THREADS = """\
import threading


def work(barrier):
    barrier.wait()
    return [number for number in range(10)]


barrier = threading.Barrier(3)
threads = [threading.Thread(target=work, args=(barrier,)) for _ in range(3)]
for each in threads:
    each.start()
for each in threads:
    each.join()
"""


def test_each_line_stands_with_what_it_took_and_what_was_expected(whet: Whet) -> None:
    whet.write("slow.py", SLOW)

    said = whet("expect", "--lines", "slow.py", "--", sys.executable, "slow.py")

    assert (said.code, said.stdout) == (0, "done\n")
    lines = said.stderr.splitlines()
    assert "line 7: expected 1000 calls: 1,000 runs, as expected" in lines
    (sleep,) = [each for each in lines if each.startswith("line 8: expected 10 ms: ")]
    assert " a run, not as expected: " in sleep
    assert "line 13: expected 1 s: it never ran" in lines
    assert [each for each in lines if each.startswith("line 17: expected < 60 s: ")]
    assert "line 19: expected 40 MB: +40.0 MB a run, as expected" in lines
    assert "never ran: 13" in lines
    (row,) = [each for each in lines if "time.sleep" in each]
    assert row.split()[:2] == ["8", "1"]
    assert "× more" in row
    told = json.loads(
        whet("expect", "--lines", "slow.py", "--json", "--", sys.executable, "slow.py").stdout
    )
    runs = {each["line"]: each["runs"] for each in told["lines"]}
    assert (runs[7], runs[8], runs[13]) == (1000, 1, 0)


def test_the_table_fits_into_a_narrow_terminal(whet: Whet) -> None:
    whet.write("slow.py", SLOW)

    said = whet(
        "expect", "--lines", "slow.py:load", "--", sys.executable, "slow.py",
        environment={"COLUMNS": "60"},
    )  # fmt: skip

    table = said.stderr.partition("\n\n")[0].splitlines()
    assert max(map(len, table)) <= 60
    assert [line.split()[0] for line in table[1:]] == ["5", "6", "7", "8", "9"]


def test_threads_that_count_are_said_to_wait_for_each_other(whet: Whet) -> None:
    whet.write("threads.py", THREADS)

    said = whet("expect", "--lines", "threads.py", "--", sys.executable, "threads.py")

    (cost,) = [each for each in said.stderr.splitlines() if each.startswith("counting took ")]
    assert cost.endswith(", in 4 threads together, which also wait for each other there")
    assert "the run was longer by that" not in said.stderr
    assert "includes what counting costs that thread" in said.stderr


def test_a_package_run_as_a_module_and_a_failing_program_are_counted_too(whet: Whet) -> None:
    whet.write("pkg/__init__.py", "")
    whet.write("pkg/part.py", "def half(n):\n    return 1 / n\n")
    whet.write("pkg/__main__.py", "from pkg.part import half\nhalf(2)\nhalf(0)\n")

    said = whet("expect", "--lines", "part.py", "--json", "--", sys.executable, "-m", "pkg")

    told = json.loads(said.stdout)
    assert {each["line"]: each["runs"] for each in told["lines"]} == {1: 1, 2: 2}
    assert told["verdict"] == "bad"


def test_wrong_words_are_refused_before_anything_runs(whet: Whet) -> None:
    whet.write("slow.py", SLOW)
    whet.write("bad.py", "x = 1  # expect: soon\n")
    whet.write("broken.py", "x = \n")
    command = ("--", "touch", "ran")

    for words, message in (
        ("slow.py:laod", "did you mean `load`?"),
        ("none.py", "there is no file"),
        ("bad.py", "bad.py:1: can't read `soon`"),
        ("broken.py", "it isn't valid Python"),
    ):
        assert message in whet("expect", "--lines", words, *command).stderr
    assert "needs `--lines FILE.py`" in whet("expect", *command).stderr
    assert not (whet.folder / "ran").exists()


def test_a_file_that_never_ran_is_said_to_be_one(whet: Whet) -> None:
    whet.write("slow.py", SLOW)

    said = whet("expect", "--lines", "slow.py", "--", "true")

    assert "trial 1 never ran `slow.py`" in said.stderr
    assert said.code != 0


def test_a_file_is_read_in_the_encoding_that_it_names(whet: Whet) -> None:
    source = "# -*- coding: latin-1 -*-\nword = 'caf\xe9'  # expect: 1 calls\nprint(len(word))\n"
    (whet.folder / "old.py").write_bytes(source.encode("latin-1"))

    said = whet("expect", "--lines", "old.py", "--", sys.executable, "old.py")

    assert (said.code, said.stdout) == (0, "4\n")
    assert "line 2: expected 1 calls: 1 run, as expected" in said.stderr.splitlines()
