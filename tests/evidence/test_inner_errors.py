"""An error that stands for others leads to where these came up in the user's code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_runs import SITE

from whet.core.observations.clue import Placing, Sureness
from whet.evidence.clues.inner_errors import inner_clues
from whet.evidence.variables.kept_failure import KeptFailure, kept_failures
from whet.host.inspect.failures import read_failures


def failed(folder: Path, program: str) -> KeptFailure:
    (folder / "main.py").write_text(program)
    told = folder / ".told"
    told.mkdir()
    variables = {"PYTHONPATH": str(SITE), "WHET_AGENT": str(told), "WHET_LOCALS": "1"}
    subprocess.run(
        [sys.executable, "main.py"], cwd=folder, env={**os.environ, **variables},
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    (failure,) = [one for each in read_failures(told) for one in kept_failures(each.data)]
    return failure


TWO = "def one(n):\n    return 1 / n\ndef two(n):\n    return int(n)\n"
CASES: dict[str, tuple[str, list[tuple[int, str]]]] = {
    "a group": (
        TWO + "errors = []\nfor f, n in ((one, 0), (two, 'x'), (one, 0)):\n    try:\n        f(n)\n"
        "    except Exception as error:\n        errors.append(error)\nraise ExceptionGroup('all', errors)\n",
        [(2, "2 errors of the group are alike: ZeroDivisionError"), (4, "ValueError")],
    ),
    "a group in a group": (
        TWO + "try:\n    two('x')\nexcept ValueError as error:\n"
        "    raise ExceptionGroup('all', [ExceptionGroup('some', [error])])\n",
        [(4, "ValueError: invalid literal")],
    ),
    "the text of another": (
        TWO + "import traceback\ntry:\n    two('x')\nexcept ValueError:\n    said = traceback.format_exc()\n"
        "raise RuntimeError(f'stage failed:\\n{said}')\n",
        [(4, "ValueError: invalid literal for int() with base 10: 'x' at main.py:4 in `two`")],
    ),
    "its own": ("def one(n):\n    return 1 / n\none(0)\n", []),
    "what it was raised from": (
        TWO + "try:\n    two('x')\nexcept ValueError as error:\n    raise RuntimeError('no') from error\n",
        [],
    ),
    "a path in its message": ("raise RuntimeError('in main.py, line 3, in one')\n", []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_errors_that_one_stands_for_are_told_with_their_places(
    case: str, tmp_path: Path
) -> None:
    program, places = CASES[case]
    failure = failed(tmp_path, program)
    clues = inner_clues(failure, failure.error, Placing(str(tmp_path)))
    assert [each.line for each in clues] == [line for line, _ in places]
    for clue, (_, says) in zip(clues, places, strict=True):
        assert clue.says.startswith(says)
        assert clue.sureness is Sureness.POSSIBLE
