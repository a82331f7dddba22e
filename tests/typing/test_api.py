"""The program that the type checkers read does run."""

import runpy
from pathlib import Path

from whet import Verdict


def test_a_users_program_runs_as_it_is_typed() -> None:
    program = runpy.run_path(str(Path(__file__).with_name("api.py")))

    assert program["VERDICTS"] == [Verdict.BAD, Verdict.BAD, Verdict.GOOD]
