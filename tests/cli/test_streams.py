"""whet's own streams may be closed, full or unread: the program's exit code comes through."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from crossed import crossed
from whet_command import Whet

PYTHON = sys.executable


def run_with(whet: Whet, redirection: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run whet from a shell with one of its streams redirected."""
    return subprocess.run(
        ["bash", "-c", f'"$@" {redirection}', "bash", PYTHON, "-m", "whet", *words],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@crossed(
    option={"lines": (), "json": ("--json",)},
    target=[">&-", ">/dev/full", "> >(exec true)"],
    stream=["", "2"],
)
def test_the_exit_code_is_the_programs_whatever_whets_streams_are(
    whet: Whet, stream: str, target: str, option: tuple[str, ...]
) -> None:
    program = ("sh", "-c", "sleep 0.2; exit 3")

    done = run_with(whet, f"{stream}{target}", "run", *option, "--", *program)

    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert list(Path(whet.environment["TMPDIR"]).iterdir()) == []
    if option and not stream and target == ">/dev/full":
        assert "whet can't write the result: No space left on device" in done.stderr


@pytest.mark.parametrize("verb", [("log",), ("shrink", "a", "--", "grep", "-v", "x", "a")])
def test_a_search_and_a_list_end_well_without_standard_error(
    whet: Whet, verb: tuple[str, ...]
) -> None:
    whet.write("a", "x\n")
    for target in ("2>&-", "2>/dev/full"):
        assert run_with(whet, target, *verb).returncode == 0


def test_a_result_that_cannot_be_written_is_an_error(whet: Whet) -> None:
    whet("run", "--", "true")

    said = run_with(whet, ">/dev/full", "log")

    assert said.returncode == 73
    assert "error: whet can't write the result: No space left on device" in said.stderr


def test_a_reader_of_a_result_may_leave(whet: Whet) -> None:
    whet("run", "--", "true")

    said = run_with(whet, "> >(exec <&-); echo $?", "log")

    assert said.stdout == "0\n"
    assert said.stderr == ""


def test_a_search_that_nobody_listens_to_any_more_ends(whet: Whet) -> None:
    whet.write("lines.txt", "".join(f"line {number}\n" for number in range(500)) + "x\n")
    whet.write("check.py", "import sys\nassert 'x' not in open(sys.argv[1]).read()\n")
    words = ("shrink", "lines.txt", "--json", "--", PYTHON, "check.py", "lines.txt")

    said = run_with(whet, "> >(head -n 1); echo $?", *words)

    assert (said.stderr, said.stdout.splitlines()[-1]) == ("", "0")
    assert list(Path(whet.environment["TMPDIR"]).iterdir()) == []
