"""Which files of a command are data."""

from pathlib import Path

import pytest

from whet.core.trial import Trial
from whet.workbench.files.named_files import payload_names

DATA = {
    "python prog.py in.txt": ["in.txt"],
    "python3.12 -O prog.py in.txt": ["in.txt"],
    "python -W error prog.py in.txt": ["in.txt"],
    "python -X dev prog.py in.txt": ["in.txt"],
    "python -m tool prog.py": ["prog.py"],
    "python -c pass in.txt": ["in.txt"],
    "env A=1 python prog.py in.txt": ["in.txt"],
    "timeout 5 python prog.py in.txt": ["in.txt"],
    "uv run prog.py in.txt": ["in.txt"],
    "uv run --with x python prog.py in.txt": ["in.txt"],
    "env A=1 ./tool in.txt": ["in.txt"],
    "./tool in.txt": ["in.txt"],
    "./tool ./tool": ["./tool"],
    "cc prog.py": ["prog.py"],
    "sh run.sh in.txt": ["in.txt"],
    "pytest test_a.py in.txt": ["in.txt"],
    "python -m pytest test_a.py": [],
    "uv run pytest test_a.py": [],
}


@pytest.mark.parametrize(("command", "names"), DATA.items(), ids=DATA.keys())
def test_the_program_is_no_data(tmp_path: Path, command: str, names: list[str]) -> None:
    for name in ("prog.py", "in.txt", "run.sh", "test_a.py", "tool"):
        (tmp_path / name).write_text("x")
    (tmp_path / "tool").chmod(0o755)

    assert payload_names(Trial(command=tuple(command.split()), cwd=str(tmp_path)), "") == names
