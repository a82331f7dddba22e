"""`--locals`, `whet show` and `whet post-mortem`: what a failure's variables held, at the time and later."""

import json
import sys

import pytest
from loop_command import SLOW, looping
from whet_command import Whet

PROGRAM = """\
class Settings:
    def __init__(self):
        self.rate, self.password = 0.5, "hunter2"

def parse(row, settings):
    price = row["price"]
    return price * settings.rate

def load(rows):
    settings = Settings()
    for number, row in enumerate(rows):
        parse(row, settings)

load([{"price": 2}, {"cost": 3}])
"""


@pytest.fixture
def failed(whet: Whet) -> Whet:
    whet.write("main.py", PROGRAM)
    assert whet("run", "--locals", "--", sys.executable, "main.py").code == 1
    return whet


def test_show_tells_what_the_variables_held(failed: Whet) -> None:
    shown = failed("show").stdout

    assert "main.py:6 in parse\n" in shown
    assert 'price = row["price"]' in shown
    assert "= {'cost': 3}\n" in shown
    assert "Settings(rate=0.5, password=str <secret>)" in shown
    assert "hunter2" not in shown


def test_a_trial_without_locals_keeps_none(whet: Whet) -> None:
    whet.write("main.py", PROGRAM)
    whet("run", "--", sys.executable, "main.py")

    assert json.loads(whet("show", "--json").stdout)["failures"] == []
    said = whet("post-mortem")
    assert said.code == 66
    assert "whet run --locals -- " in said.stderr


def test_pdb_opens_in_the_innermost_frame_of_the_user_and_walks_up(failed: Whet) -> None:
    said = failed(
        "post-mortem",
        stdin=b"p row\np settings.rate * 4\nup\np number\np rows[0]['price']\ndown\np row\nq\n",
    )

    assert said.code == 1
    answers = [line.removeprefix("(Pdb) ") for line in said.stdout.splitlines()]
    for answer in ("{'cost': 3}", "2.0", "1", "2"):
        assert answer in answers


def test_pdb_shows_the_source_as_the_trial_ran_it(failed: Whet) -> None:
    failed.write("main.py", "something_else()\n")

    said = failed("post-mortem", stdin=b"ll\nq\n")

    assert '  6  ->\t    price = row["price"]' in said.stdout
    assert "something_else" not in said.stdout


def test_the_end_of_the_input_ends_pdb(failed: Whet) -> None:
    assert "1\n" in failed("post-mortem", stdin=b"p 1\n").stdout


@pytest.mark.parametrize("words", [(), ("--list",), ("--json",)])
def test_the_exit_code_is_that_of_the_trial(failed: Whet, words: tuple[str, ...]) -> None:
    assert failed("post-mortem", *words, stdin=b"q\n").code == 1


def test_each_error_of_a_chain_can_be_looked_at(whet: Whet) -> None:
    whet.write(
        "main.py",
        "def low():\n    depth = 7\n    return {}[depth]\n"
        "try:\n    low()\nexcept KeyError as error:\n    raise ValueError('high') from error\n",
    )
    whet("run", "--locals", "--", sys.executable, "main.py")

    listed = whet("post-mortem", "--list").stdout.splitlines()
    assert ["ValueError: high" in listed[0], "KeyError: 7" in listed[1]] == [True, True]
    assert listed[0].startswith("  1*")
    assert "7\n" in whet("post-mortem", "--error", "2", stdin=b"p depth\nq\n").stdout
    assert whet("post-mortem", "--error", "3").code == 64


def test_a_warm_run_keeps_the_variables_too(whet: Whet) -> None:
    text = SLOW + "def f(n):\n    return 1 / n\nf(0)\n"
    whet.write("main.py", text)
    with looping(whet, sys.executable, "main.py", options=("--locals", "--verify", "off")) as loop:
        loop.next()
        loop.save("main.py", text.replace("1 / n", "2 / n"))
        told = loop.next()

    assert told["is_warm"]
    shown = json.loads(whet("show", str(told["trial"]), "--json").stdout)
    (failure,) = shown["failures"]
    frame = failure["error"]["frames"][-1]
    assert (frame["function"], frame["variables"]) == ("f", [["n", 0]])


@pytest.mark.long
def test_investigate_shows_what_the_variables_held(whet: Whet) -> None:
    whet.write("main.py", PROGRAM)
    said = whet("investigate", "--", sys.executable, "main.py")

    assert said.code == 0
    seen = json.loads((whet.folder / "whet-report" / "report.json").read_text())["seen"]
    assert "row      = {'cost': 3}" in seen
    assert "hunter2" not in seen
