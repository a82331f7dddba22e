"""`whet profile --memory`: which lines hold the memory at the peak."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from whet_command import Whet

pytest.importorskip("memray", reason="needs memray: `pip install memray`")

HOLDS = str(Path(__file__).parents[3] / "specimens" / "profiles" / "holds.py")

OTHER = "/usr/bin/python3"

pytestmark = pytest.mark.slow


def test_the_line_that_holds_most_at_the_peak_is_named_and_the_exit_code_passes(whet: Whet) -> None:
    said = whet("profile", "--memory", "--", sys.executable, HOLDS)
    assert said.code == 4
    assert "at the peak" in said.stdout
    assert (
        "come from holds.py:8 in keep" in said.stdout or "holds.py:8 in <listcomp>" in said.stdout
    )
    data = json.loads(whet("profile", "--show", "1", "--json").stdout)
    (profile,) = data["profiles"]
    assert profile["question"] == "memory"
    lines = {each["line"]: each["own"] for each in profile["lines"]}
    assert 2000 * 10_000 <= lines[8] < 1.1 * 2000 * 10_000
    assert lines.get(12, 0) < 10_000  # freed before the peak


@pytest.mark.long
def test_a_program_that_is_killed_has_the_memory_so_far_behind_a_shell_too(whet: Whet) -> None:
    said = whet(
        "profile", "--memory", "--json", "--", "sh", "-c", f"{sys.executable} {HOLDS} killed"
    )
    assert said.code == 137
    (profile,) = json.loads(said.stdout)["profiles"]
    assert profile["lines"][0]["line"] == 8
    assert profile["lines"][0]["own"] >= 2000 * 10_000


def test_with_a_size_it_is_the_limit_as_in_every_verb(whet: Whet) -> None:
    limited = whet("profile", "--memory", "8XB", "--", sys.executable, HOLDS)
    assert limited.code == 64
    refused = whet("profile", "--cpu", "--memory", "--", sys.executable, HOLDS)
    assert refused.code == 64
    assert "`--cpu` and `--memory` exclude each other" in refused.stderr


@pytest.mark.skipif(
    not Path(OTHER).exists()
    or not subprocess.run(
        [OTHER, "-c", "import memray"], check=False, capture_output=True
    ).returncode,
    reason=f"needs a {OTHER} without memray",
)
def test_a_python_without_memray_is_named(whet: Whet) -> None:
    said = whet("profile", "--memory", "--", OTHER, HOLDS)
    assert said.code == 69
    assert f"`{OTHER} -m pip install memray`" in said.stderr
    assert "exit 4" in whet("log").stdout


def test_what_is_reserved_and_never_touched_is_not_memory_of_the_program(whet: Whet) -> None:
    whet.write(
        "prog.py",
        "import mmap\n\n\ndef reserve():\n    return mmap.mmap(-1, 4 << 30)\n\n\nheld = reserve()\n",
    )
    said = whet("profile", "--memory", "--", sys.executable, "prog.py")

    assert said.code == 0, said.stderr
    assert "prog.py:5 in reserve reserves 4.3 GB" in said.stdout, said.stdout
    assert "come from" not in said.stdout


def test_a_program_that_ends_at_its_first_import_has_no_profile_and_the_reason(whet: Whet) -> None:
    said = whet("profile", "--gpu", "--", sys.executable, "-c", "import no_such_module")

    assert "the program failed before there was anything to see (ModuleNotFoundError" in said.stderr
    assert "so this is" not in said.stderr
