"""A search over the commits of a repository, as the library runs it."""

import subprocess
import sys
from pathlib import Path

import pytest

from whet.core.budget import Budget, StopReason
from whet.workbench.bench import open_workbench
from whet.workbench.bisect import BisectOptions, bisect
from whet.workbench.request import TrialRequest


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
