"""A trial with other arguments that runs on from a frozen copy is what it is from its start."""

import math
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from laboratory import Laboratory

from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.execution.cold import ColdExecutor
from whet.execution.warm_search import WarmSearch

pytestmark = pytest.mark.slow

WORDS = (("--lr", "3", "x"), (), ("bad", "", "\udcff", "a b"), ("bad",))
AFTER_THREE = "import sys\nprint(len(sys.argv), 'bad' in sys.argv)\nassert 'bad' not in sys.argv\n"


def _verdict(outcome: Outcome) -> Verdict:
    return Verdict.GOOD if outcome.failure is None else Verdict.BAD


@pytest.fixture
def both(laboratory: Laboratory) -> Iterator[tuple[WarmSearch, ColdExecutor, ColdExecutor]]:
    (laboratory.folder / "project").mkdir()
    runs = WarmSearch(
        laboratory.cleanup_journal, judge=_verdict, first_word=2, most_lost_seconds=math.inf
    )

    with laboratory.executor(runs) as warm, laboratory.executor(None) as cold:
        yield runs, warm, cold


def _run(
    laboratory: Laboratory,
    both: tuple[WarmSearch, ColdExecutor, ColdExecutor],
    text: str,
    python: str = sys.executable,
) -> list[Outcome]:
    """Run it warm on each set of words, compare that with a cold run, and return what came warm."""
    _, warm, cold = both
    folder = laboratory.folder / "project"
    (folder / "main.py").write_text(text)
    trial = Trial(command=(python, "main.py"), cwd=str(folder))
    trials = [replace(trial, command=(*trial.command, *words)) for words in WORDS]
    outcomes = [warm.submit(each).result(30) for each in trials]
    for each, outcome in zip(trials, outcomes, strict=True):
        assert _facts(outcome) == _facts(cold.submit(each).result(30)), each.command
    return outcomes


def _facts(outcome: Outcome) -> tuple[object, ...]:
    output, errors = (each.head(1 << 20) for each in (outcome.stdout, outcome.stderr))
    return outcome.exit_code, output, errors, outcome.signature


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(AFTER_THREE, id="at once"),
        pytest.param("import sys, json, pickle\na = sys.argv\nprint(a.__class__, isinstance(a, list), json.dumps(a[:2]), pickle.loads(pickle.dumps(a)) == a, type(sys.argv) is list)\n" + AFTER_THREE.replace(", 'bad' in sys.argv", ""), id="its type, pickled"),
        pytest.param("from sys import argv\nimport sys\nargv.append('more')\nsys.argv.insert(1, 'first')\nprint(ascii(argv), argv == sys.argv)\n" + AFTER_THREE, id="a second name, changed", marks=pytest.mark.long),
        pytest.param("import sys\nsys.argv += ['more']\ndel sys.argv[0]\nprint(ascii(sys.argv), ascii(sys.orig_argv[1:]))\n" + AFTER_THREE, id="changed in place"),
        pytest.param("import sys\nprint(ascii(sys.orig_argv[2:]))\n" + AFTER_THREE, id="with those of Python", marks=pytest.mark.long),
        pytest.param("import sys\nprint(ascii((['x'] + sys.argv, [*sys.argv], '|'.join(sys.argv), sorted(sys.argv), sys.argv * 2, max(sys.argv))))\n" + AFTER_THREE, id="in other lists", marks=pytest.mark.long),
        pytest.param("import argparse, sys\np = argparse.ArgumentParser()\np.add_argument('--lr', type=float)\np.add_argument('rest', nargs='*')\na = p.parse_args()\nassert not a.rest, a.lr\n", id="parsed"),
        pytest.param("def main():\n    import sys\n    open('log', 'w').write('begun')\n    print('before', flush=True)\n    assert 'bad' not in sys.argv\nmain()\n", id="late, after a file was written"),
        pytest.param("import subprocess, sys\nassert subprocess.run([sys.executable, '-c', 'import sys; sys.exit(\"bad\" in sys.argv)', *sys.argv[1:]]).returncode == 0, 'child'\n", id="in a child", marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_each_candidate_is_a_fork_from_before_the_first_sight_of_its_arguments(
    laboratory: Laboratory,
    both: tuple[WarmSearch, ColdExecutor, ColdExecutor],
    text: str,
) -> None:
    outcomes = _run(laboratory, both, text)

    # The first leaves the copy; of the others the first of each verdict is run from the start too.
    assert outcomes[3].resumed_from == "its arguments", both[0].reasons
    assert both[0].reasons == ()


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("import sys\nsys.argv = ['own']\nassert sys.argv[1:] == []\n", "Python doesn't report when the program reads its arguments", id="that puts a list of its own there"),
        pytest.param("print('fine')\n", "Python doesn't report when the program reads its arguments", id="that never looks"),
        pytest.param("import threading, time, sys\ndone = threading.Event()\nthreading.Thread(target=time.sleep, args=(0.5,)).start()\nbad = 'bad' in sys.argv\ndone.set()\nassert not bad\n", "(sleep)` runs", id="while a thread runs"),
    ],
)  # fmt: skip
def test_a_program_runs_from_its_start(
    laboratory: Laboratory,
    both: tuple[WarmSearch, ColdExecutor, ColdExecutor],
    text: str,
    why: str,
) -> None:
    outcomes = _run(laboratory, both, text)

    # Where the machine is so busy that the start took long, there is one from before.
    before = {"main.py:1", "main.py:2", "main.py:3"} if "Thread" in text else set[str]()
    assert {outcome.resumed_from for outcome in outcomes} <= {"", *before}
    assert any(why in reason for reason in both[0].reasons), both[0].reasons


def test_a_script_before_python_may_see_the_arguments_and_python_is_named_instead(
    laboratory: Laboratory, both: tuple[WarmSearch, ColdExecutor, ColdExecutor]
) -> None:
    shim = laboratory.folder / "project" / "shims" / "python3"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    shim.chmod(0o755)

    outcomes = _run(laboratory, both, AFTER_THREE, str(shim))

    assert {outcome.resumed_from for outcome in outcomes} == {""}
    assert "may see the arguments first: name `" in both[0].reasons[0]
