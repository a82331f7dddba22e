"""The files to which whet's own output goes."""

import os
import subprocess
import sys
from pathlib import Path

from whet.host.process.own_outputs import OwnOutputs

ASKS = """
import os, sys
from whet.host.process.own_outputs import OwnOutputs
while not os.path.exists(sys.argv[1]): pass
print(OwnOutputs().has(sys.argv[1]), file=sys.stderr)
"""


def test_who_has_started_whet_and_reads_what_it_says_may_save_files(tmp_path: Path) -> None:
    with (tmp_path / "saved").open("w") as file:
        asked = subprocess.run(
            [sys.executable, "-c", ASKS, file.name], capture_output=True, text=True, check=True
        )

    assert asked.stderr == "False\n"


def test_the_file_of_a_program_beside_it_is_an_output(tmp_path: Path) -> None:
    asked = subprocess.run(
        ["/bin/sh", "-c", '"$0" -c "$1" out | tee out', sys.executable, ASKS],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert asked.stderr == "True\n"


def test_a_stream_that_is_closed_is_no_output(tmp_path: Path) -> None:
    closed = os.dup(1)
    os.close(closed)

    assert not OwnOutputs((closed,)).has(str(tmp_path))
