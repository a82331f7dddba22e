"""What is shrunk is the failure that the user sees, not one that a copy of the file has."""

import json
import sys

import pytest
from whet_command import Whet

PYTHON = sys.executable


@pytest.mark.slow
def test_a_program_is_shrunk_with_the_module_beside_it(whet: Whet) -> None:
    whet.write("src/helper.py", "def g(x):\n    return 1/x\n")
    whet.write("src/prog.py", "import helper\nx = 1\nhelper.g(x - 1)\n")

    said = whet("shrink", "src/prog.py", "--", PYTHON, "{}")

    assert said.code == 0, said.stderr
    assert "linked next to each copy" in said.stderr
    assert "helper.g(" in (whet.folder / "src/prog.shrunk.py").read_text()
    assert "ZeroDivisionError" in whet("run", "--", PYTHON, "src/prog.shrunk.py").stderr


@pytest.mark.slow
def test_a_file_is_shrunk_with_what_it_names_beside_it(whet: Whet) -> None:
    whet.write("inner/a.h", "int helper(int);\n")
    whet.write("inner/a.c", '#include "a.h"\nint x;\nBOOM\n')
    whet.write(
        "cc.py",
        "import os, sys\n"
        "for line in open(sys.argv[1]):\n"
        "    if line.startswith('#'): open(os.path.dirname(sys.argv[1]) + '/a.h')\n"
        "    assert 'BOOM' not in line, 'found'\n",
    )

    assert whet("shrink", "inner/a.c", "--", PYTHON, "cc.py", "inner/a.c").code == 0
    assert (whet.folder / "inner/a.shrunk.c").read_text().strip() == "BOOM"


def test_a_copy_that_fails_in_another_way_is_not_shrunk(whet: Whet) -> None:
    whet.write("data.txt", "a\n")
    place = str(whet.folder)
    whet.write(
        "prog.py",
        "import os, sys\n"
        f"assert os.path.abspath(sys.argv[1]).startswith({place!r}), 'moved'\n"
        "raise KeyError('real')\n",
    )

    said = whet("shrink", "data.txt", "--", PYTHON, "prog.py", "data.txt")

    assert said.code == 65
    assert "KeyError: 'real'" in said.stderr
    assert "whet explain copy-fails-otherwise" in said.stderr
    assert not (whet.folder / "data.shrunk.txt").exists()


def test_a_command_that_passes_on_copies_alone_says_so(whet: Whet) -> None:
    whet.write("data.txt", "a\n")
    whet.write("prog.py", "import sys\nassert sys.argv[1] != 'data.txt'\n")

    said = whet("shrink", "data.txt", "--", PYTHON, "prog.py", "data.txt")

    assert (said.code, "on a copy elsewhere it passes" in said.stderr) == (65, True)


def test_a_message_with_the_path_in_it_is_the_same_failure(whet: Whet) -> None:
    whet.write("d.txt", "a\n")
    whet.write("prog.py", "import sys\nsys.exit('cannot read ' + sys.argv[1])\n")

    assert whet("shrink", "d.txt", "--", PYTHON, "prog.py", "d.txt").code == 0


def test_a_command_that_writes_its_file_leaves_it_as_it_was(whet: Whet) -> None:
    path = whet.write("d.txt", "a\nb\n")
    whet.write("prog.py", "import sys\nopen(sys.argv[1], 'a').write('x')\nraise KeyError('x')\n")

    said = whet("shrink", "d.txt", "--", PYTHON, "prog.py", "d.txt")

    assert (path.read_text(), "whet restored it" in said.stderr) == ("a\nb\n", True)


@pytest.mark.long
def test_a_run_as_typed_that_passes_shows_that_the_failure_comes_now_and_then(whet: Whet) -> None:
    # The three runs on copies fail, the one on the file itself passes, and then every second one.
    whet.write("count", "")
    whet.write("data.txt", "hay\nneedle\n")
    whet.write(
        "main.py",
        f"""import sys
with open({str(whet.folder / "count")!r}, "a+") as file:
    file.write("x")
    file.seek(0)
    runs = len(file.read())
if "needle" in open(sys.argv[1]).read() and (runs < 4 or runs % 2):
    raise ValueError("needle")
""",
    )

    said = whet("shrink", "data.txt", "--jobs", "1", "--json", "--", PYTHON, "main.py", "data.txt")

    assert said.code == 0, said.stderr
    assert json.loads(said.stdout.splitlines()[-1])["payloads"][0]["rate_at_least"] is not None
    assert (whet.folder / "data.shrunk.txt").read_text() == "needle"


@pytest.mark.long
def test_an_investigation_leaves_a_test_file_where_it_is(whet: Whet) -> None:
    whet.write("tests/conftest.py", "import pytest\n@pytest.fixture\ndef thing(): return 3\n")
    whet.write("tests/test_io.py", "def test_a(thing):\n    assert thing == 4\n")

    said = whet("investigate", "--", PYTHON, "-m", "pytest", "tests/test_io.py")

    report = json.loads((whet.folder / "whet-report/report.json").read_text())
    assert said.code == 0, said.stderr
    assert (report["payloads"], "assert 3 == 4" in said.stdout) == ([], True)


@pytest.mark.long
def test_an_investigation_leaves_out_a_file_whose_copy_fails_otherwise(whet: Whet) -> None:
    whet.write("data.txt", "a\nBOOM\n")
    place = whet.write("place.txt", "x\n")
    whet.write(
        "prog.py",
        "import os, sys\n"
        f"assert os.path.samefile(sys.argv[2], {str(place)!r}), 'moved'\n"
        "if 'BOOM' in open(sys.argv[1]).read(): raise KeyError('real')\n",
    )

    said = whet("investigate", "--", PYTHON, "prog.py", "data.txt", "place.txt")

    report = json.loads((whet.folder / "whet-report/report.json").read_text())
    assert "didn't shrink `place.txt`" in said.stderr
    assert [payload["original"] for payload in report["payloads"]] == ["data.txt"]
    assert (whet.folder / "whet-report/data.txt").read_text().strip() == "BOOM"


@pytest.mark.long
def test_a_file_of_tests_is_made_smaller(whet: Whet) -> None:
    whet.write(
        "test_x.py", "X = 1\n\ndef test_a():\n    z = 5\n    assert 1 == 2\n\ndef test_b(): pass\n"
    )

    said = whet(
        "shrink", "test_x.py", "--budget", "8s", "--jobs", "1",
        "--", PYTHON, "-m", "pytest", "-q", "test_x.py",
    )  # fmt: skip

    assert "linked next to" not in said.stderr
    assert "test_b" not in (whet.folder / "test_x.shrunk.py").read_text()


@pytest.mark.slow
def test_a_shrink_holds_on_to_the_line_that_failed_without_a_word(whet: Whet) -> None:
    whet.write(
        "check.py",
        "import json, sys\n"
        "d = json.load(open(sys.argv[1]))\n"
        "def check():\n"
        "    assert 'a' in d\n"
        "    assert d['a']['b'] != 5\n"
        "check()\n",
    )
    whet.write("d.json", '{"a": {"b": 5, "c": [1, 2]}, "z": 3}')

    assert whet("shrink", "d.json", "--", PYTHON, "check.py", "d.json").code == 0
    shrunk = json.loads((whet.folder / "d.shrunk.json").read_text())
    assert shrunk == {"a": {"b": 5}}


@pytest.mark.long
def test_an_investigation_leaves_the_program_of_a_launcher_as_it_is(whet: Whet) -> None:
    launcher = whet.write("run.sh", f'#!/bin/sh\nexec {PYTHON} "$@"\n')
    launcher.chmod(0o755)
    whet.write("main.py", "import json, sys\nprint(json.load(open(sys.argv[1]))['b'])\n")
    whet.write("data.json", '{"a": 1, "c": [1, 2, 3]}\n')

    said = whet("investigate", "--", "./run.sh", "main.py", "data.json")

    report = json.loads((whet.folder / "whet-report/report.json").read_text())
    assert said.code == 0, said.stderr
    assert "didn't shrink `main.py`: its code runs where it fails" in said.stderr
    assert [each["original"].endswith("data.json") for each in report["payloads"]] == [True]
