"""The nearest payload that passes: a variant that isn't run any more isn't written either."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.observations.clue import Placing
from whet.core.trial import Trial
from whet.workbench.shrink.nearest import near_payloads
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.payload import bind_payloads
from whet.workbench.trials.request import TrialRequest

_MOST = 7


@pytest.mark.parametrize(("bad", "says"), [("row 7\n", "without rows.txt:8 (`row 7`)"), ("", "")])
def test_only_variants_that_are_run_are_kept(
    bad: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.txt"
    rows.write_text("".join(f"row {number}\n" for number in range(16)))
    monkeypatch.chdir(tmp_path)
    with open_workbench({**os.environ, "WHET_DIR": str(tmp_path / "w")}) as bench:
        request = TrialRequest(command=("cat", "rows.txt"))
        digest = bench.payload_store.keep(rows.read_bytes())
        bound = bind_payloads(request.command, tmp_path, [("rows.txt", digest)])
        trial = replace(bench.build_trial(request), payloads=bound)
        before = _files(tmp_path / "w")
        runs: list[str] = []

        def passes(make: Callable[[], Trial]) -> bool:
            if len(runs) == _MOST:
                return False
            content = bench.payload_store.payload_of(make().payloads[0].digest)
            assert isinstance(content, bytes)
            runs.append(content.decode())
            return bool(bad) and bad not in runs[-1]

        found = [each.says for each in near_payloads(bench, trial, passes, Placing(str(tmp_path)))]
        assert found == ([says] if says else [])
        assert len(runs) == _MOST
        assert len(_files(tmp_path / "w") - before) == _MOST


def _files(folder: Path) -> set[Path]:
    return {each for each in folder.rglob("*") if each.is_file() and "blobs" in each.parts}
