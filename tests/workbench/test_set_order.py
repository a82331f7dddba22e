"""A failure that hangs on the order of a set is held by a seed; what hangs on something else is not."""

import os
import sys
from pathlib import Path

import pytest
from flaky_baselines import flaky_baseline

from whet.workbench.toggle.set_order import HeldOrder, can_tell, held_order
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session

ORDER = """
import os, sys
if os.environ.get("FIRST") or next(iter({"load", "clean"})) == "clean":
    sys.exit("nothing to clean")
"""
TURNS = """
import os, sys
with open("runs", "a") as file:
    file.write("x")
if os.environ.get("FIRST") or os.path.getsize("runs") % 2:
    sys.exit("nothing to clean")
"""


def held(
    folder: Path,
    program: str,
    environment: dict[str, str] | None = None,
    *,
    is_random: bool = False,
) -> HeldOrder | None:
    """Return what is found of a program that is said to fail in every second run."""
    (folder / "main.py").write_text(program)
    python = (
        [sys.executable] if is_random else [sys.executable, "-S"]
    )  # the agent is loaded by site
    with open_workbench({**os.environ, "WHET_DIR": str(folder / "w")}) as bench:
        request = TrialRequest(command=(*python, "main.py"), environment={"FIRST": "1"})
        session = Session(bench=bench, verb="investigate", request=request)
        baseline = flaky_baseline(session, bench.build_trial(request), failures=5)
        plain = TrialRequest(command=(*python, "main.py"), environment=environment or {})
        trial = bench.build_trial(plain)
        if not can_tell(bench, trial, baseline, is_random=is_random):
            return None
        return held_order(session, trial, baseline, is_random=is_random)


@pytest.mark.slow
def test_the_seeds_with_which_it_fails_and_passes_each_time_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    found = held(tmp_path, ORDER)

    assert found is not None
    assert found.failing != found.passing
    assert f"`PYTHONHASHSEED={found.failing}` it fails every time (7 of 7 runs)" in found.says
    assert held(tmp_path, ORDER, {"PYTHONHASHSEED": "1"}) is None  # it is held already


@pytest.mark.slow
def test_what_fails_in_every_second_run_whatever_the_seed_is_not_laid_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)

    assert held(tmp_path, TURNS) is None


DRAWN = """
import os, random, sys
if os.environ.get("FIRST"):
    sys.exit("nothing to clean")
drawn = [random.random(), random.Random().random()]
if max(drawn) > 0.7:
    sys.exit("nothing to clean")
"""


@pytest.mark.slow
def test_random_numbers_that_no_seed_fixes_are_held_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = held(tmp_path, DRAWN, is_random=True)

    assert found is not None
    assert found.failing != found.passing
    assert f"from seed {found.passing} it passes every time (7 of 7)" in found.says
    assert len(found.trials) >= 14


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(DRAWN.replace("drawn =", "random.seed(4); drawn ="), id="seeded"),
        pytest.param(TURNS, id="no random number is drawn"),
    ],
)  # fmt: skip
def test_what_does_not_hang_on_random_numbers_is_not_laid_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.chdir(tmp_path)
    program = program.replace(", random.Random().random()", "")

    assert held(tmp_path, program, is_random=True) is None
