"""Calls that were followed are shown as a tree, each once, whatever process they were made in."""

import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from whet.evidence.clues.probes import Call, call_lines


def call(pid: int, number: int, caller: int) -> Call:
    return Call(
        pid=pid, rank=None, number=number, caller=caller, function=f"f{pid}_{number}",
        path="/p/a.py", line=1, arguments=(), seconds=0.0, error="", value=None,
    )  # fmt: skip


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(0, 9)),
        max_size=20,
        unique_by=lambda each: each[:2],
    )
)
def test_each_call_is_shown_once_also_below_one_of_another_process(
    made: list[tuple[int, int, int]],
) -> None:
    lines = list(call_lines([call(*each) for each in made]))

    shown = sorted(line.split("(")[0].strip() for line in lines if "(" in line)
    assert shown == sorted(f"f{pid}_{number}" for pid, number, _ in made)
    assert sum(line.startswith("process ") for line in lines) == len({each[0] for each in made})


def test_a_call_in_a_forked_child_is_shown_in_the_child(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import os\n\ndef inner(x):\n    return x\n\ndef outer():\n    pid = os.fork()\n"
        "    inner(pid)\n    if pid == 0:\n        os._exit(0)\n    os.waitpid(pid, 0)\n\nouter()\n"
    )
    words = [sys.executable, "-m", "whet", "trace", "main.py:*", "--", sys.executable, "main.py"]
    said = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100
    )

    assert said.returncode == 0, said.stderr
    child = said.stdout.split("process ")[2].splitlines()
    assert child[1].startswith("  inner(x=0)")
