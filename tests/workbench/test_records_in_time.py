"""A record without which the command passes is tried again, also when the time for others is over."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from whet.core.failure import Failure, FailureKind, FailureSignature
from whet.core.oracle import AnyFailure
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.workbench.investigate.experiments.left_out import LeftOut, left_out_clues
from whet.workbench.investigate.traces.origins import Origins
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.investigation import Reproduction
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.request import TrialRequest

_SIGNATURE = FailureSignature(kind=FailureKind.EXIT, exit_code=1)
FAILED = Outcome(exit_code=1, failure=Failure(signature=_SIGNATURE, summary="exit 1"))
REPRODUCTION = Reproduction(
    attempts=3, same_failures=3, other_failures=(), wall_seconds=1.0, peak_rss_bytes=0,
    exit_code=1, trials=(1,),
)  # fmt: skip
BASELINE = Baseline(outcome=FAILED, oracle=AnyFailure(), reproduction=REPRODUCTION, repeats=1)


def left_out(folder: Path, monkeypatch: pytest.MonkeyPatch, until: float) -> LeftOut:
    """Leave out lines of a file of which the third decides, by a clock that counts the runs."""
    data = folder / "rows.txt"
    data.write_text("a1\nb22\nc333\nd4444\ne55555\n")
    runs: list[Trial] = []

    def run_all(trials: Iterable[Trial]) -> Iterator[tuple[int, Outcome]]:
        for each in trials:
            runs.append(each)
            is_good = "c333" not in Path(each.command[4]).read_text()
            yield len(runs), Outcome(exit_code=0) if is_good else FAILED

    clock = SimpleNamespace(monotonic=lambda: float(len(runs)))
    monkeypatch.setattr("whet.workbench.investigate.experiments.left_out.time", clock)
    monkeypatch.chdir(folder)
    with open_workbench({**os.environ, "WHET_DIR": str(folder / "w")}) as bench:
        trial = bench.build_trial(TrialRequest(command=("true",)))
        origins = Origins(files=(str(data),))
        return left_out_clues(bench, trial, BASELINE, origins, run_all, until)


@pytest.mark.parametrize(("until", "is_cut"), [(5.0, True), (9.0, False)])
def test_one_that_passes_is_tried_again_when_the_time_for_others_is_over(
    until: float, *, is_cut: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = left_out(tmp_path, monkeypatch, until)
    assert (found.is_cut, [each.line for each in found.clues]) == (is_cut, [3])
