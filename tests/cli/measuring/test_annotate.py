"""`whet annotate --vendor` writes one file that works without whet."""

import json
import subprocess
import sys

from whet_command import Whet


def test_the_file_works_alone_and_can_be_written_again(whet: Whet) -> None:
    for _ in range(2):
        said = whet("annotate", "--vendor")
        assert said.code == 0
        assert said.stderr.startswith(
            "whet: wrote `whet_sections.py`; use it with `from whet_sections"
        )
    program = "from whet_sections import section\nwith section('a'): print('ran')"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=whet.folder, capture_output=True, check=True
    )

    assert done.stdout == b"ran\n"


def test_another_file_is_not_written_over(whet: Whet) -> None:
    path = whet.write("own.py", "x = 1\n")

    said = whet("annotate", "--vendor", "own.py")

    assert said.code != 0
    assert "won't write over `own.py`" in said.stderr
    assert path.read_text() == "x = 1\n"


def test_it_can_be_printed_and_told_as_json(whet: Whet) -> None:
    printed = whet("annotate", "--vendor", "-")
    facts = json.loads(whet("annotate", "--vendor", "mine.py", "--json").stdout)

    assert printed.stdout == (whet.folder / "mine.py").read_text()
    assert facts["file"] == "mine.py"
    assert facts["bytes"] == (whet.folder / "mine.py").stat().st_size


def test_without_vendor_it_says_what_there_is(whet: Whet) -> None:
    said = whet("annotate")

    assert said.code == 64
    assert "`whet annotate --vendor` writes `whet_sections.py`" in said.stderr
