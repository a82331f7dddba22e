"""A line to paste is run before it is printed, and carries nothing that its failure doesn't need."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from whet_command import Whet

PYTHON = sys.executable

NEEDS_MODE = """\
import os, sys
assert len(open(sys.argv[1], "rb").read()) < 3 or os.environ.get("MODE") != "it's strict", "strict"
"""
COLLECTS = """\
from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(2) as pool:
    made = [each.result() for each in as_completed([pool.submit(int)])]
assert made != [0], "zero"
"""
UNNEEDED = ("--env", "A=1", "--env", "B=two\nlines", "--env", "C.D=é", "--timeout", "50")


def pasted(line: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a line as somebody else would, who has none of the variables of this shell."""
    bare = {"PATH": "/usr/bin:/bin", **variables}
    words = ["sh", "-c", line]
    return subprocess.run(words, capture_output=True, check=False, cwd=folder, env=bare)


@pytest.mark.slow
def test_a_line_carries_the_variable_that_its_failure_needs_and_no_other(whet: Whet) -> None:
    whet.write("prog.py", NEEDS_MODE)
    whet.write("in.txt", "abcdef\n" * 5)

    said = whet(
        "investigate", *UNNEEDED, "--env", "MODE=it's strict", "--", PYTHON, "prog.py", "in.txt",
        environment={"PYTHONPATH": f"{whet.folder}/none:{':'.join(sys.path)}"},
    )  # fmt: skip

    assert said.code == 0, said.stderr
    script = (whet.folder / "whet-report" / "reproduce.sh").read_text()
    assert "MODE='it'\"'\"'s strict'" in script
    for unneeded in ("PYTHONPATH", "A=1", "lines", "C.D", "timeout"):
        assert unneeded not in script
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    done = pasted(report["reproducer"]["line"], whet.folder)
    assert b"AssertionError: strict" in done.stderr


@pytest.mark.slow
def test_a_line_carries_the_time_zone_of_this_shell_only_where_the_failure_needs_it(
    whet: Whet,
) -> None:
    program = "import datetime\nassert datetime.datetime.fromtimestamp(0).hour == {}, 'hour'\n"
    shell = {"TZ": "Asia/Kolkata", "LC_NUMERIC": "de_DE.UTF-8", "LANG": "C.UTF-8"}
    lines: list[str] = []
    for name, hour in (("needs.py", 0), ("not.py", 25)):
        whet.write(name, program.format(hour))
        said = whet("investigate", "-o", f"of-{name}", "--", PYTHON, name, environment=shell)
        assert said.code == 0, said.stderr
        told = json.loads((whet.folder / f"of-{name}" / "report.json").read_text())["reproducer"]
        assert ("with `TZ=Asia/Kolkata` as here," in told["remark"]) is (name == "needs.py")
        lines.append(told["line"])

    assert ["TZ=Asia/Kolkata" in line for line in lines] == [True, False]
    assert not any("LC_NUMERIC" in line or "LANG" in line for line in lines)
    assert b"AssertionError: hour" in pasted(lines[0], whet.folder).stderr


def test_a_line_that_needs_whet_starts_it_where_it_is_on_no_path(whet: Whet) -> None:
    whet.write("prog.py", COLLECTS)
    shell = {"PATH": "/usr/bin:/bin"}

    said = whet("toggle", "--simplify", "--", PYTHON, "prog.py", environment=shell)

    line = said.stdout.splitlines()[-1]
    script = Path(line.removeprefix("sh "))
    assert " -m whet run -- " in (script.read_text() if script.is_file() else line), said.stdout
    assert b"AssertionError" in pasted(line, whet.folder).stderr


@pytest.mark.parametrize(
    "words",
    [
        ["a b", "it's", "x\udcffy", "--end"],
        ["two\nlines\n", "tab\t", "$HOME `id` \\n %s", "--end"],
        ["long word " * 33, "é\u202e", "", "--end"],
    ],
)
def test_a_line_gives_awkward_words_and_says_which_trial_ran_it(
    whet: Whet, words: list[str]
) -> None:
    program = whet.write(
        "prog.py", f"import sys\nassert sys.argv[1:] != {words!r}, 'these words'\n"
    )

    said = whet("shrink", "--arguments", "--json", *UNNEEDED, "--", PYTHON, str(program), *words)

    found = json.loads(said.stdout)
    assert found["line_complaint"] == ""
    assert found["line_trial"] > 0
    line = found["line"]
    assert len(line) <= 320
    assert "printf '\\" not in line
    done = pasted(line, whet.folder)
    assert b"AssertionError: these words" in done.stderr
    assert not any(unneeded in line for unneeded in ("A=1", "timeout", "cd "))


def test_a_line_that_does_something_else_says_so(whet: Whet) -> None:
    count, most = whet.folder.parent / "count", whet.folder.parent / "most"
    program = whet.write(
        "prog.py",
        "import pathlib\n"
        f"count, most = pathlib.Path({str(count)!r}), int(open({str(most)!r}).read())\n"
        "count.write_text(count.read_text() + 'x')\n"
        "assert len(count.read_text()) > most, 'seldom'\n",
    )
    words = ("shrink", "--arguments", "--cold", "--jobs", "1", "--", PYTHON, str(program))
    count.write_text("")
    most.write_text("1000")
    before = whet(*words, "a", "b")
    most.write_text(str(len(count.read_text()) - 2))  # the line, and the line without its folder
    count.write_text("")

    said = whet(*words, "c", "d")

    assert before.stdout.splitlines()[-1].endswith(f"{PYTHON} {program} < /dev/null")
    line, note = said.stdout.splitlines()[-2:]
    assert line.endswith(f"{PYTHON} {program} < /dev/null")
    assert re.fullmatch(r"not proved: run once more \(trial \d+\), the line passed", note)


def test_what_is_too_long_for_a_line_is_a_script_to_read(whet: Whet) -> None:
    whet.write("in.bin", "")
    (whet.folder / "in.bin").write_bytes(bytes(range(256)) * 2)
    whet.write(
        "prog.py",
        "import sys\nassert len(open(sys.argv[1], 'rb').read()) != 512, 'all'\n",
    )

    said = whet("investigate", "--", PYTHON, "prog.py", "in.bin")

    assert said.code == 0, said.stderr
    assert "  sh whet-report/reproduce.sh\n" in said.stdout
    script = (whet.folder / "whet-report" / "reproduce.sh").read_text()
    assert "# in.bin: 512 B that are no text\nbase64 -d > in.bin" in script
    assert "# AssertionError: all\n# whet ran this as trial " in script


def test_the_line_of_a_trial_is_tried_without_its_program(whet: Whet) -> None:
    program = whet.write("prog.py", "open('ran', 'a').write('x')\n")
    words = ("it's", "two\nlines", "x\udcffy")
    whet("run", "--env", "A=b c", "--stdin", "prog.py", "--reset", "echo reset >> ran",
         "--", PYTHON, str(program), *words)  # fmt: skip
    before = (whet.folder / "ran").read_text()

    found = json.loads(whet("one-liner", "--json").stdout)

    assert found["line_complaint"] == ""
    assert (whet.folder / "ran").read_text() == before
    pasted(found["line"], Path("/"))
    assert (whet.folder / "ran").read_text() == before * 2


def test_the_line_to_repeat_a_command_asks_for_the_same_trial(whet: Whet) -> None:
    whet.write("in.txt", "3\n")
    code = "import os, sys; print('n =', sys.stdin.read(), len(os.environ['API_TOKEN']), sys.argv)"
    words = (
        "--env", "A=it's", "--env", "API_TOKEN=hunter22x", "--stdin", "in.txt", "--timeout", "50",
        "--reset", "touch 'a b'", "--reset-try", "false", "--measure", "n=n = ([0-9]+)",
        "--bad-if", "n > 2", "--stack", "4M",
    )  # fmt: skip
    said = whet("repeat", "-n", "2", *words, "--", PYTHON, "-c", code, "two words", "x\udcffy")
    line = re.findall(r"`(whet repeat -n .*)`", said.stdout)[-1]
    assert "hunter22x" not in line

    called = line.replace("whet repeat -n 1", f"{PYTHON} -m whet repeat -n 1", 1)
    again = subprocess.run(
        ["sh", "-c", re.sub(r"-n [0-9]+", "-n 1", called, count=1)], capture_output=True,
        check=False, cwd=whet.folder, env={**os.environ, **whet.environment, "API_TOKEN": "hunter22x"},
    )  # fmt: skip

    assert b"failed in 1 of 1" in again.stdout, again.stderr
    trials = json.loads(whet("log", "--all", "--json").stdout)["trials"]
    last, first = trials[0]["spec"], trials[-1]["spec"]
    for name in ("command", "environment", "stdin", "reset", "limits", "measures"):
        assert last[name] == first[name], name
