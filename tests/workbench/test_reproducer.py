import os
from pathlib import Path

import pytest

from whet.core.verdict import Verdict
from whet.workbench.files.pasted_line import Shell
from whet.workbench.files.recipe import index_to_name
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.reproduce import reproduce
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session

COUNTS = "echo >>{file}; runs=$(wc -l <{file}); "
ODD = COUNTS.format(file="here") + "exit $((runs % 2))"


@pytest.mark.parametrize(
    ("line", "one_way", "expected", "runs"),
    [
        ("exit 5", True, Verdict.SKIP, 3),
        ("exit 5", False, Verdict.SKIP, 7),
        ("exit 0", True, Verdict.GOOD, 7),
        (COUNTS + "[ $runs -lt 3 ] && exit 5; exit 1", True, Verdict.BAD, 3),
        (COUNTS + "[ $((runs % 3)) -gt 0 ] && exit 5; exit 0", True, Verdict.SKIP, 7),
    ],
)
def test_a_line_that_fails_in_another_way_each_time_is_not_run_until_chance_is_excluded(
    *,
    line: str,
    one_way: bool,
    expected: Verdict,
    runs: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_workbench({**os.environ, "WHET_DIR": str(tmp_path / "w")}) as bench:
        request = TrialRequest(command=("sh", "-c", ODD))
        session = Session(bench=bench, verb="investigate", request=request)
        baseline = reproduce(session, bench.build_trial(request))
        shell = Shell(
            session=session, trial=bench.build_trial(request), oracle=baseline.oracle,
            repeats=baseline.repeats, fails_one_way=one_way,
        )  # fmt: skip
        words = ("sh", "-c", line.format(file=tmp_path / "there"))

        last, times = shell.run(words, shell.trial)

    assert baseline.fails_one_way
    assert baseline.repeats == 7
    assert (last.verdict, times) == (expected, runs)


def test_what_uv_is_set_up_for_is_not_spelled_out(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": "/dev/null",
        "UV_DEFAULT_INDEX": "https://index.example/simple",
    }

    assert index_to_name(environment) == {}


def test_an_index_that_only_pip_knows_is_named_for_uv(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_INDEX_URL": "https://index.example/simple",
        "PIP_CERT": "/etc/own.pem",
    }

    assert index_to_name(environment) == {
        "UV_DEFAULT_INDEX": "https://index.example/simple",
        "SSL_CERT_FILE": "/etc/own.pem",
    }


def test_no_password_is_passed_on(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_INDEX_URL": "https://me:secret@index.example/simple",
    }

    assert index_to_name(environment) == {}
