"""What was expected of a run, beside what came."""

import json
import sys

import pytest
from whet_command import Whet

TRAIN = """\
import time
time.sleep(0.2)
for loss in (4.5, 3.5, 2.5):
    print(f"step loss: {loss}")
"""


def test_each_of_several_expectations_stands_beside_what_came(whet: Whet) -> None:
    whet.write("train.py", TRAIN)
    words = ("seconds ~ 20ms", "peak < 2G", "loss ~ 2..3", "acc > 0.5", "train.seconds ~ 3s")

    said = whet(
        "run", *(w for each in words for w in ("--expect", each)), sys.executable, "train.py"
    )

    assert "2 of 5 expectations came true" in said.stderr
    lines = {line.split("  ")[1].strip(): line for line in said.stderr.splitlines()[1:]}
    assert "not as expected" in lines["seconds ~ 20ms"]
    assert "× more" in lines["seconds ~ 20ms"]
    assert lines["peak < 2G"].endswith("as expected")
    assert lines["loss ~ 2..3"].endswith("  2.5, as expected")
    assert "the program never reported `acc`" in lines["acc > 0.5"]
    assert lines["train.seconds ~ 3s"].endswith("no section `train` ran")
    shown = whet("show").stdout
    assert shown.count("expected  ") == len(words)
    assert "  2.5, as expected" in shown
    told = {e["text"]: e for e in json.loads(whet("show", "--json").stdout)["expectations"]}
    assert (told["loss ~ 2..3"]["observed"], told["loss ~ 2..3"]["met"]) == (2.5, True)
    assert told["seconds ~ 20ms"]["ratio"] > 1.5
    assert (told["acc > 0.5"]["observed"], told["acc > 0.5"]["met"]) == (None, None)


def test_a_file_states_expectations_a_line_each(whet: Whet) -> None:
    whet.write("expected", "# of each run\nexit 3   # it refuses\n\nseconds < 60\n")

    said = whet("run", "--expect-file", "expected", "--", "sh", "-c", "exit 3")

    assert "2 of 2 expectations came true" in said.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("seconds < 2\nfast\n", "expected:2: can't parse the expectation `fast`"),
        ("seconds < 2\nseconds > 5\n", "`seconds < 2` and `seconds > 5` can't both come true"),
        ("# nothing\n", "`expected` states no expectation"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_before_anything_runs(
    whet: Whet, content: str, message: str
) -> None:
    whet.write("expected", content)

    said = whet("run", "--expect-file", "expected", "--", "touch", "ran")

    assert message in said.stderr
    assert not (whet.folder / "ran").exists()


def test_the_same_expectations_hold_again(whet: Whet) -> None:
    whet("run", "--expect", "exit 0", "--expect", "seconds < 60", "--", "true")

    assert "2 of 2 expectations came true" in whet("again").stderr


def test_a_program_states_what_it_expects_of_its_sections(whet: Whet) -> None:
    whet.write(
        "train.py",
        "import whet\nwith whet.section('load'):  # expect: < 60 s, 1 calls\n    pass\n",
    )
    whet.write("plain.py", "x = 1  # expect: 40 ms\n")

    said = whet("run", "--expect-file", "train.py", "--", sys.executable, "train.py")

    assert "2 of 2 expectations came true" in said.stderr
    assert "load.seconds < 60 s" in said.stderr
    refused = whet("run", "--expect-file", "plain.py", "--", "touch", "ran")
    assert "`plain.py` states no expectation of a section" in refused.stderr
    assert "whet expect --lines plain.py" in refused.stderr


def test_a_unit_that_the_program_prints_counts_where_the_statement_has_one(whet: Whet) -> None:
    printed = "print('took: 3 ms'); print('mem = 5 GB'); print('lag: 7 ms'); print('n: 4')"
    words = ("took < 1s", "mem < 4GB", "lag ~ 7", "n < 5s")
    expected = [part for each in words for part in ("--expect", each)]

    said = whet("run", *expected, "--", sys.executable, "-c", printed).stderr

    assert "3 of 4 expectations came true" in said
    (wrong,) = [line for line in said.splitlines() if "not as expected" in line]
    assert "mem < 4GB" in wrong
    assert "5.0 GB, not as expected: 1.3 × more" in wrong
