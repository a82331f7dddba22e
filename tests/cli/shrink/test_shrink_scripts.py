"""Scripts written for other reducers and for `git bisect` judge a shrink as they are."""

import json
from pathlib import Path
from typing import Any

import pytest
from whet_command import Said, Whet

pytestmark = pytest.mark.slow

C_SOURCE = """\
#include <stdio.h>

static int unused(int value) { return value * 3; }

struct pair { int first; int second; };

int main(void) {
    int numbers[4] = {1, 2, 3, 4};
    struct pair two = {numbers[0], numbers[1]};
    for (int index = 0; index <= 4; index++) {
        printf("%d %d\\n", two.first, __builtin_bad_number(numbers[index]));
    }
    return unused(0);
}
"""

# As the manuals of C-Reduce and C-Vise have it: the file by its name in the current folder.
CREDUCE = """\
#!/bin/sh
test -f small.c || exit 3
grep -q __builtin_bad_number small.c && grep -q 'main' small.c
"""

# As Shrink Ray calls it: the file as the first argument, with results beside it.
SHRINKRAY = """\
#!/usr/bin/env bash
set -e
cp "$1" copy.txt
test "$(ls | sort | tr '\\n' ' ')" = "copy.txt hay.txt log "
grep -q needle copy.txt
"""

# A git bisect script: 0 good, 125 cannot be tested, any other bad.
BISECT = """\
#!/bin/sh
grep -q hay "$1" || exit 125
! grep -q needle "$1"
"""


def last(said: Said) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])["payloads"][0]
    return found


def test_a_script_of_creduce_finds_the_file_by_its_name_where_it_starts(whet: Whet) -> None:
    script = whet.write("tests/check.sh", CREDUCE)
    script.chmod(0o755)
    whet.write("src/small.c", C_SOURCE)

    said = whet("shrink", "src/small.c", "--interesting", "tests/check.sh", "--json")

    assert said.code == 0, said.stderr
    assert sorted((whet.folder / "src/small.shrunk.c").read_text().split("__")) == [
        "builtin_bad_numbermain", ""
    ] or (whet.folder / "src/small.shrunk.c").read_text() == "main__builtin_bad_number"  # fmt: skip
    assert (whet.folder / "src/small.c").read_text() == C_SOURCE
    assert sorted(path.name for path in (whet.folder / "src").iterdir()) == [
        "small.c", "small.shrunk.c"
    ]  # fmt: skip


def test_a_script_of_shrinkray_gets_the_file_alone_in_a_clean_folder_each_time(whet: Whet) -> None:
    whet.write("check.sh", SHRINKRAY.replace("cp ", ": > log\ncp ")).chmod(0o755)
    whet.write("hay.txt", "hay\n" * 40 + "a needle here\n" + "hay\n" * 40)
    whet.write("other.txt", "it lies beside the file")

    said = whet("shrink", "hay.txt", "--interesting", "./check.sh")

    assert said.code == 0, said.stderr
    assert (whet.folder / "hay.shrunk.txt").read_text() == "needle"
    assert not (whet.folder / "copy.txt").exists()
    assert not (whet.folder / "log").exists()


def test_what_a_script_calls_also_interesting_is_kept(whet: Whet) -> None:
    script = (
        "#!/bin/sh\ngrep -q needle hay.txt && exit 0\ngrep -q pin hay.txt && exit 101\nexit 1\n"
    )
    whet.write("check.sh", script).chmod(0o755)
    whet.write("hay.txt", "hay\n" * 9 + "pin\nhay and hay\nneedle\n" + "hay\n" * 9)

    said = whet(
        "shrink", "hay.txt", "--interesting", "check.sh", "--also-interesting", "101", "--json"
    )

    found = last(said)
    assert (whet.folder / "hay.shrunk.txt").read_text() == "needle"
    (also,) = found["also_found"]
    assert also["summary"] == "the script exits 101"
    again = whet("again", str(also["trial"]))
    assert again.code == 101


def test_a_script_of_git_bisect_judges_as_it_does_there(whet: Whet) -> None:
    whet.write("check.sh", BISECT).chmod(0o755)
    whet.write("hay.txt", "hay\n" * 30 + "a needle here\n" + "hay\n" * 30)

    assert whet("shrink", "hay.txt", "--oracle", "check.sh").code == 0
    left = (whet.folder / "hay.shrunk.txt").read_text()
    assert sorted((left.count("hay"), left.count("needle"), len(left))) == [1, 1, 9]


def test_a_script_that_may_not_be_executed_is_named_with_what_to_do(whet: Whet) -> None:
    whet.write("check.sh", CREDUCE)
    whet.write("small.c", C_SOURCE)

    said = whet("shrink", "small.c", "--interesting", "check.sh")

    assert said.code == 64
    assert "chmod +x check.sh" in said.stderr


def test_a_script_that_finds_nothing_interesting_is_told_so(whet: Whet) -> None:
    whet.write("check.sh", "#!/bin/sh\nexit 7\n").chmod(0o755)
    whet.write("small.c", C_SOURCE)

    said = whet("shrink", "small.c", "--interesting", "check.sh")

    assert said.code == 65
    assert "does not call the file interesting as it is: it exits 7, not 0" in said.stderr


def test_two_files_of_one_script_lie_in_one_folder(whet: Whet) -> None:
    whet.write("check.sh", "#!/bin/sh\ngrep -q x a.txt && grep -q y b.txt\n").chmod(0o755)
    Path(whet.folder, "more").mkdir()
    whet.write("a.txt", "1\nx\n2\n")
    whet.write("more/b.txt", "3\ny\n4\n")

    said = whet("shrink", "a.txt", "more/b.txt", "--interesting", "check.sh")

    assert said.code == 0, said.stderr
    assert (whet.folder / "a.shrunk.txt").read_text() == "x"
    assert (whet.folder / "more/b.shrunk.txt").read_text() == "y"
