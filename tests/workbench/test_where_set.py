"""A variable that a launcher sets is told with the line of the script that sets it."""

from pathlib import Path

import pytest

from whet.workbench.investigate.steps.launchers import where_set


@pytest.mark.parametrize(
    ("command", "place"),
    [
        (("bash", "run.sh"), "env/common.sh:2"),
        (("./run.sh", "--fast"), "env/common.sh:2"),
        (("sh", "-e", "top.sh"), "env/common.sh:2"),
        (("env", "DEPTH=3", "python", "main.py"), ""),
        (("make", "train"), "Makefile:1"),
        (("gmake", "-s"), "Makefile:1"),
    ],
)
def test_it_is_found_in_what_the_command_s_scripts_read(
    command: tuple[str, ...], place: str, tmp_path: Path
) -> None:
    files = {
        "top.sh": "set -e\nexec ./run.sh\n",
        "run.sh": '. ./env/common.sh\ntest "$DEPTH" = 3 && exec python main.py "$@"\n',
        "env/common.sh": "# as DEPTH=1 was\nexport DEPTH=3 WIDTH=2\n",
        "main.py": "DEPTH=3\n",
        "Makefile": "export DEPTH ?= 3\ntrain:\n\tpython main.py\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    assert where_set(command, tmp_path, "DEPTH")[2] == place


def test_nothing_is_told_where_two_lines_set_it_and_scripts_may_name_each_other(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.sh").write_text("DEPTH=1\n. ./b.sh\n")
    (tmp_path / "b.sh").write_text("DEPTH=2\n. ./a.sh\n")

    assert where_set(("sh", "a.sh"), tmp_path, "DEPTH") == ("", 0, "")
