"""`whet grow`: the smallest number that fails, checked, and the law of what each number costs."""

import json
import sys
from typing import Any

import pytest
from whet_command import Whet

from whet.core.errors import INCOMPLETE, USAGE

FAILS = """
import sys
n = int(sys.argv[1])
assert not {condition}, "too many"
"""


def grown(whet: Whet, dimension: str, *command: str, options: tuple[str, ...] = ()) -> Any:
    """Return what whet has found of one dimension."""
    said = whet("grow", "--json", "--dimension", dimension, *options, "--", *command)
    assert said.stdout, said.stderr
    (answer,) = json.loads(said.stdout)["dimensions"]
    return answer


def failing(whet: Whet, condition: str, span: str, *options: str) -> Any:
    """Grow a program that fails on a condition."""
    whet.write("grows.py", FAILS.format(condition=condition))
    return grown(whet, f"n={span}", sys.executable, "grows.py", "{n}", options=options)


def test_the_smallest_number_that_fails_is_found_with_its_line(whet: Whet) -> None:
    answer = failing(whet, "n > 12", "1..64")

    assert (answer["smallest"], answer["largest_below"]) == (13, 12)
    assert answer["is_monotone"]
    assert answer["failure"] == "AssertionError: too many"
    assert "grows.py 13 <" in answer["line"]
    assert answer["line_trial"]


def test_a_number_that_fails_from_the_start_is_said_to(whet: Whet) -> None:
    whet.write("grows.py", FAILS.format(condition="n"))
    said = whet("grow", "-d", "n=4..8", "--", sys.executable, "grows.py", "{n}")

    assert said.code == 0
    assert "n = 4 is the smallest that fails: it fails from the first number on" in said.stdout


def test_what_passes_above_the_answer_is_said(whet: Whet) -> None:
    answer = failing(whet, "n % 4 == 3", "3..8")

    assert answer["smallest"] == 3
    assert 4 in answer["exceptions"]
    assert not answer["is_monotone"]


@pytest.mark.long
def test_another_failure_is_not_the_one_that_is_sought(whet: Whet) -> None:
    whet.write(
        "grows.py",
        "import sys\nn = int(sys.argv[1])\nif 10 < n < 14: raise KeyError(n)\nassert n < 14\n",
    )
    command = (sys.executable, "grows.py", "{n}")
    said = whet("grow", "-d", "n=1..16", "--", *command)

    assert "n = 14 is the smallest that fails" in said.stdout
    assert "another failure with 12 and 13: KeyError: 12" in said.stdout


@pytest.mark.long
def test_without_a_failure_the_law_of_the_memory_is_found(whet: Whet) -> None:
    whet.write("grows.py", "import sys\nx = bytearray(b'x') * (int(sys.argv[1]) << 20)\n")
    options = ("--predict", "1000000")
    answer = grown(whet, "n=1..64", sys.executable, "grows.py", "{n}", options=options)

    assert answer["smallest"] is None
    assert answer["stopped"] == "no_failure"
    law = answer["laws"]["memory"]
    assert "n" in {law["shape"], *law["or"]}
    assert law["exponent"]["best"] == pytest.approx(1, abs=0.15)
    (prediction,) = answer["predictions"]
    assert prediction["memory"]["best"] == pytest.approx(1000000 << 20, rel=0.5)


@pytest.mark.long
def test_a_variable_grows(whet: Whet) -> None:
    whet.write("grows.py", "import os\nassert int(os.environ['SIZE']) < 5\n")
    answer = grown(whet, "env:SIZE=1..8", sys.executable, "grows.py")

    assert answer["smallest"] == 5
    assert "SIZE=5" in answer["line"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "text", "key", "read"),
    [
        ("c.json", '{"model": {"layers": [1, 2]}}', "model.layers.1", "json.loads(t)['model']['layers'][1]"),
        ("c.toml", "[model]\nlayers = 1", "model.layers", "tomllib.loads(t)['model']['layers']"),
        ("c.ini", "[model]\nlayers = 1", "model.layers", "t.split()[-1]"),
    ],
)  # fmt: skip
def test_a_key_of_a_configuration_grows(
    whet: Whet, name: str, text: str, key: str, read: str
) -> None:
    whet.write(name, text)
    whet.write(
        "grows.py",
        f"import json, sys, tomllib\nt = open(sys.argv[1]).read()\nassert int({read}) < 3\n",
    )
    answer = grown(whet, f"{name}:{key}=1..4", sys.executable, "grows.py", name)

    assert answer["smallest"] == 3
    assert (whet.folder / name).read_text() == text
    again = whet("again", str(answer["measured"][2]["trial"]))
    assert again.code == 1, again.stderr


@pytest.mark.long
def test_two_dimensions_grow_one_after_the_other(whet: Whet) -> None:
    whet.write("grows.py", "import sys\na, b = map(int, sys.argv[1:])\nassert a < 3 and b < 4\n")
    words = ("--dimension", "a=1..4", "--dimension", "b=2..4")
    said = whet("grow", "--json", *words, "--", sys.executable, "grows.py", "{a}", "{b}")

    answers = json.loads(said.stdout)["dimensions"]
    assert [each["smallest"] for each in answers] == [3, 4]
    assert "grows.py 3 2 <" in answers[0]["line"]
    assert "grows.py 1 4 <" in answers[1]["line"]


@pytest.mark.long
@pytest.mark.parametrize(
    "step", ["seq {n} > data.txt", f"{sys.executable} -m whet make text --lines {{n}} --words 1 -o data.txt"]
)  # fmt: skip
def test_a_step_before_the_command_makes_what_grows(whet: Whet, step: str) -> None:
    whet.write("grows.py", "assert len(open('data.txt').read().split()) < 3\n")
    options = ("--reset", step)
    answer = grown(whet, "n=1..4", sys.executable, "grows.py", options=options)

    assert answer["smallest"] == 3


@pytest.mark.long
def test_a_failure_that_comes_sometimes_is_repeated(whet: Whet) -> None:
    count = whet.folder.parent / "count"
    count.write_text("")
    program = f"""
import sys
with open({str(count)!r}, "r+") as file:
    seen = len(file.read())
    file.write(".")
assert int(sys.argv[1]) < 3 or seen % 2
"""
    whet.write("grows.py", program)
    said = whet("grow", "-d", "n=1..4", "--", sys.executable, "grows.py", "{n}")

    assert "it fails only sometimes" in said.stderr
    assert "n = 3 is the smallest that fails" in said.stdout


@pytest.mark.long
def test_a_second_search_is_answered_from_the_first(whet: Whet) -> None:
    count = whet.folder.parent / "count"
    program = f"import sys\nopen({str(count)!r}, 'a').write(sys.argv[1] + ' ')\n"
    whet.write("grows.py", program + "assert int(sys.argv[1]) < 3\n")
    command = ("grow", "-d", "n=1..64", "--", sys.executable, "grows.py", "{n}")
    first = whet(*command)
    ran_first = count.read_text().split()
    second = whet(*command)
    ran_second = count.read_text().split()[len(ran_first) :]

    assert first.stdout.splitlines()[0].split("(")[0] == second.stdout.splitlines()[0].split("(")[0]
    assert "4" in ran_first
    assert "4" not in ran_second


@pytest.mark.long
def test_nothing_is_said_of_numbers_that_were_not_tried(whet: Whet) -> None:
    whet.write("grows.py", FAILS.format(condition="n == 700"))
    said = whet("grow", "-d", "n=1..1024", "--", sys.executable, "grows.py", "{n}")

    assert "n: none of the 13 numbers tried from 1 to 1,024 fails" in said.stdout


def test_a_command_that_cannot_be_run_is_an_error(whet: Whet) -> None:
    said = whet("grow", "-d", "n=1..1024", "--", "no-such-program", "{n}")

    assert said.code == 66
    assert "`no-such-program` is not a program" in said.stderr
    assert "n = 2" not in said.stdout + said.stderr


def test_the_budget_ends_it_with_what_is_known(whet: Whet) -> None:
    whet.write("grows.py", "import sys\nwhile int(sys.argv[1]) > 2: pass\n")
    command = (sys.executable, "grows.py", "{n}")
    said = whet("grow", "--budget", "2s", "-d", "n=1..64", "--", *command)

    assert said.code == INCOMPLETE
    assert "no number from 1 to 2 fails" in said.stdout
    assert "the time budget is used up" in said.stdout


def test_a_number_that_takes_longer_than_the_budget_has_left_is_not_run(whet: Whet) -> None:
    program = "import sys, time\nuntil = time.process_time() + int(sys.argv[1]) / 50\n"
    whet.write("grows.py", program + "while time.process_time() < until: pass\n")
    command = (sys.executable, "grows.py", "{n}")
    said = whet("grow", "--budget", "6s", "-d", "n=1..1048576", "--", *command)

    assert said.code == INCOMPLETE, said.stdout
    assert "the time budget is used up" in said.stdout
    assert "whet doesn't run n = " in said.stdout or "n = 1,048,576 would" in said.stdout


@pytest.mark.parametrize(
    ("dimension", "words"),
    [
        ("n", "`--dimension n` isn't a name and a range"),
        ("n=1", "`--dimension n=1` isn't a name and a range"),
        ("=1..2", "isn't a name and a range"),
        ("n=5..2", "write the smaller number first: `n=2..5`"),
        ("n=1.5..3", "`1.5` in `--dimension n=1.5..3` isn't a whole number"),
        ("n=-1..3", "`-1` in `--dimension n=-1..3` isn't a whole number"),
        ("n=1..1000000000000000000000", "has more than 18 digits"),
        ("m=1..3", "`{m}` isn't in the command"),
        ("m=1..3", "which has `{n}`"),
        ("c.json:modl.layers=1..3", "did you mean `model.layers`"),
        ("c.json:model.name=1..3", "`model.name` in `c.json` is `x`, not a whole number"),
        ("d.json:a=1..3", "`d.json` does not exist"),
        ("bad.json:a=1..3", "`bad.json` doesn't match the format of its name"),
        (":n=1..3", "`:n` isn't the name of a dimension"),
    ],
)
def test_a_dimension_that_cannot_be_used_is_refused(whet: Whet, dimension: str, words: str) -> None:
    whet.write("c.json", '{"model": {"layers": 1, "name": "x"}}')
    whet.write("bad.json", "{")
    said = whet("grow", "-d", dimension, "--", "true", "{n}", "c.json", "bad.json")

    assert said.code not in {0, 70}
    assert words in said.stderr
    assert said.code == USAGE or ".json" in dimension
