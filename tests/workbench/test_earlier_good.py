"""The code on which a command passed before is a good side, unless it is too much to check out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from whet.workbench.shrink import earlier_good
from whet.workbench.shrink.shrink import ShrinkOptions, shrink
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest

pytestmark = pytest.mark.slow

PROGRAM = "import sys\ntext = open(sys.argv[1]).read()\nif {}:\n    raise SystemError('met')\n"


@pytest.mark.parametrize(("most", "label"), [(1, "the last commit"), (0, "")])
def test_code_of_too_many_files_is_not_checked_out_unasked(
    most: int, label: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(earlier_good, "MOST_FILES", most)
    Path("search.py").write_text(PROGRAM.format("not text"))
    Path("data.txt").write_text("a crash here\n")
    identity = {
        f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    for words in (["init", "-q"], ["add", "search.py"], ["commit", "-qm", "all"]):
        subprocess.run(["git", *words], check=True, env={**os.environ, **identity})
    Path("search.py").write_text(PROGRAM.format("not text or 'crash' in text"))

    request = TrialRequest(command=(sys.executable, "search.py", "data.txt"))
    with open_workbench(observer=lambda _: None) as bench:
        (found,) = shrink(bench, request, ShrinkOptions(files=("data.txt",), jobs=1))

    assert found.guarded_by == label
    assert found.content == (b"crash" if label else b"")
