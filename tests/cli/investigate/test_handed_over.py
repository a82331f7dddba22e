"""What an investigation hands over is checked, and judged as the failure itself was."""

import subprocess
import sys

import pytest
from whet_command import Whet

PYTHON = sys.executable


@pytest.mark.slow
@pytest.mark.parametrize("in_git", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_program_deep_in_a_tree_needs_its_files_around_it(whet: Whet, *, in_git: bool) -> None:
    deep = Whet(whet.folder / "deep/er/project", whet.environment)
    # Too large to be brought along.
    deep.write("pkg/core.py", f"def parse(line): return int(line)\n# {'…' * (1 << 16)}\n")
    deep.write(
        "main.py", "import sys\nfrom pkg.core import parse\nfor x in open(sys.argv[1]): parse(x)\n"
    )
    deep.write("in.txt", "1\n2\nx\n")
    if in_git:
        deep.git("init", "--quiet")
        deep.commit("first")

    said = deep("investigate", "--", PYTHON, "main.py", "in.txt")

    assert said.code == 0, said.stderr
    assert "whose files it needs" in said.stderr


@pytest.mark.long
def test_what_is_measured_is_measured_again(whet: Whet) -> None:
    whet.write("train.py", "print('loss: 12.5')\n")
    words = ("--measure", "loss=loss: ([0-9.]+)", "--bad-if", "loss > 10")

    assert whet("investigate", *words, "--", PYTHON, "train.py").code == 0


@pytest.mark.long
def test_a_hang_is_checked_by_where_it_hangs(whet: Whet) -> None:
    whet.write(
        "hang.py", "import sys, time\nwhile 'H' in open(sys.argv[1]).read(): time.sleep(.1)\n"
    )
    whet.write("x.txt", "H\n")

    said = whet("investigate", "--timeout", "1", "--", PYTHON, "hang.py", "x.txt")

    assert said.code == 0, said.stderr
    assert "timeout --signal=KILL 1 " in said.stdout


@pytest.mark.long
def test_what_came_instead_is_said(whet: Whet) -> None:
    whet.write("count", "0")
    place = whet.folder / "count"
    whet.write(
        "prog.py",
        "import time\ntime.sleep(0.4)  # a quicker one is run more than three times\n"
        f"n = int(open({str(place)!r}).read()) + 1\n"
        f"open({str(place)!r}, 'w').write(str(n))\n"
        "raise KeyError('first') if n <= 4 else SystemExit('now in another way')\n",
    )

    said = whet("investigate", "--", PYTHON, "prog.py")

    assert said.code == 65
    assert "did not fail in the same way: `now in another way`" in said.stderr


@pytest.mark.slow
def test_the_original_of_what_is_read_is_not_handed_over(whet: Whet) -> None:
    whet.write("in.txt", "secret\n" * 50 + "Zoo\n")
    whet.write(
        "prog.py",
        "import os, sys\nfor x in sys.stdin:\n    assert not x.startswith(os.environ['M']), 'bad'\n",
    )

    said = whet("investigate", "--env", "M=Z", "--stdin", "in.txt", "--", PYTHON, "prog.py")

    assert said.code == 0, said.stderr
    script = (whet.folder / "whet-report/reproduce.sh").read_text()
    assert "secret" not in script + said.stdout
    report = (whet.folder / "whet-report/report.md").read_text()
    assert f"M=Z {PYTHON} prog.py < in.txt" in report


@pytest.mark.long
def test_a_script_that_judges_is_said_to_stay_where_it_is(whet: Whet) -> None:
    whet.write("data.txt", "BOOM\n")
    judge = whet.write("judge.sh", '#!/bin/sh\n"$@" | grep -q BOOM && exit 1\nexit 0\n')
    judge.chmod(0o755)

    said = whet("investigate", "--oracle", "./judge.sh", "--", "cat", "data.txt")

    assert said.code == 0, said.stderr
    assert f"`{judge}` where it is" in said.stderr


@pytest.mark.long
def test_the_line_of_a_searchs_trial_keeps_the_name_of_the_file(whet: Whet) -> None:
    whet.write("d.txt", "a\nBOOM\n")
    whet.write(
        "prog.py",
        "import sys\nassert sys.argv[1].endswith('.txt'), 'format'\n"
        "if 'BOOM' in open(sys.argv[1]).read(): raise KeyError('x')\n",
    )
    whet("shrink", "d.txt", "--", PYTHON, "prog.py", "d.txt")

    line = whet("one-liner", "1").stdout

    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
    assert b"KeyError: 'x'" in done.stderr
