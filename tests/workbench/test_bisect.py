"""A search over the commits of a repository, as the library runs it."""

import subprocess
import sys
from pathlib import Path

import pytest
from looking_programs import make_history

from whet.core.budget import Budget, StopReason
from whet.core.errors import EndMisjudged
from whet.workbench.bisect.bisect import BisectOptions, bisect
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest


@pytest.mark.slow
def test_a_walk_back_and_its_bisection_share_one_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", "init", "--quiet"], check=True)
    for number in range(20):
        Path("app.py").write_text(f"{'raise KeyError' if number > 3 else ''}\n# {number}\n")
        subprocess.run(["git", "add", "app.py"], check=True)
        subprocess.run(["git", *identity, "commit", "-q", "-m", f"c{number}"], check=True)
    request = TrialRequest(command=(sys.executable, "app.py"))

    with open_workbench() as bench:
        enough = bisect(bench, request, BisectOptions(good="", bad="HEAD", jobs=1))
        # Of these one was the check of the end, which no budget forbids.
        budget = Budget(trials=enough.trials - 2)
        short = bisect(bench, request, BisectOptions(good="", bad="HEAD", jobs=1, budget=budget))

    assert enough.stopped is StopReason.FOUND
    assert short.stopped is StopReason.OUT_OF_TRIALS
    assert short.good


@pytest.fixture
def passing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrialRequest:
    monkeypatch.chdir(tmp_path)
    make_history(tmp_path, [{"app.py": "a = 1\n"}, {"app.py": "a = 2\n", ".gitignore": ".whet\n"}])
    return TrialRequest(command=(sys.executable, "app.py"))


@pytest.mark.parametrize("good", ["HEAD~1", ""])
def test_where_the_last_commit_passes_what_is_not_committed_is_pointed_to(
    passing: TrialRequest, good: str
) -> None:
    Path("app.py").write_text("raise SystemExit(1)\n")

    with open_workbench() as bench, pytest.raises(EndMisjudged, match="should be bad") as told:
        bisect(bench, passing, BisectOptions(good=good, bad="HEAD", jobs=1))

    assert "`whet bisect --working-tree -- COMMAND`" in told.value.hint
    assert "whet show" in told.value.hint


@pytest.mark.long
@pytest.mark.parametrize("compiled", [True, False])
def test_where_nothing_is_uncommitted_but_what_python_has_compiled_it_is_not(
    passing: TrialRequest, *, compiled: bool
) -> None:
    if compiled:
        Path("__pycache__").mkdir()
        Path("__pycache__", "app.cpython-311.pyc").write_bytes(b"\0")

    with open_workbench() as bench, pytest.raises(EndMisjudged) as told:
        bisect(bench, passing, BisectOptions(good="HEAD~1", bad="HEAD", jobs=1))

    assert "--working-tree" not in told.value.hint


def test_where_an_older_commit_was_named_what_is_not_committed_is_not_pointed_to(
    passing: TrialRequest,
) -> None:
    Path("app.py").write_text("raise SystemExit(1)\n")

    with open_workbench() as bench, pytest.raises(EndMisjudged) as told:
        bisect(bench, passing, BisectOptions(good="", bad="HEAD~1", jobs=1))

    assert "--working-tree" not in told.value.hint
