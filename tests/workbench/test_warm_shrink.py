"""A warm shrink finds what a cold one finds, and its result fails in a run from the start."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from whet.core.budget import Budget, StopReason
from whet.core.condition import Condition
from whet.core.event import Event, Notice, PayloadReduced, TrialFinished
from whet.core.verdict import Verdict
from whet.host.process.process_tree import descendants_of
from whet.workbench.shrink.shrink import ShrinkOptions, shrink
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.investigation import ShrunkPayload
from whet.workbench.trials.reproduce import FEW
from whet.workbench.trials.request import Judging, TrialRequest
from whet.workbench.trials.session import Session

pytestmark = pytest.mark.slow

PARSES = """\
import sys
total = 0
for line in open(sys.argv[1]):
    total += float(line.split(",")[1])
print(total)
"""

TABLE = "\n".join(f"row{number},{number}" for number in range(40)) + "\nrow,1/2\nlast,3\n"

# It fails on three letters; run on from a frozen copy often enough, on everything.
DIFFERS_WARM = """\
import os, sys
before = os.getpid()
data = open(sys.argv[1]).read()
is_warm = os.getpid() != before
with open("count", "a") as file:
    file.write("." * is_warm)
if all(letter in data for letter in "XYZ") or (is_warm and os.path.getsize("count") > {most}):
    raise ValueError("bad")
"""


@dataclass
class Shrunk:
    """What a shrink gave and what it told."""

    result: ShrunkPayload
    events: list[Event]

    @property
    def steps(self) -> list[tuple[int, int, str]]:
        return [
            (event.before_bytes, event.after_bytes, event.by_pass)
            for event in self.events
            if isinstance(event, PayloadReduced)
        ]

    @property
    def said(self) -> str:
        return " ".join(event.text for event in self.events if isinstance(event, Notice))


Run = Callable[..., Shrunk]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path)

    def shrink_it(
        program: str,
        payload: str,
        *,
        cold: bool = False,
        jobs: int = 1,
        bad_if: str = "",
        **more: Any,
    ) -> Shrunk:
        folder = tmp_path / f"{cold}{jobs}{os.urandom(3).hex()}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        Path("main.py").write_text(program)
        Path("data.csv").write_text(payload)
        request = TrialRequest(
            command=(sys.executable, "main.py", "data.csv"),
            judging=Judging(condition=Condition.parse(bad_if) if bad_if else None),
            environment=more.get("environment", {}),
        )
        events: list[Event] = []
        with open_workbench({**os.environ, "WHET_DIR": str(folder / "w")}, events.append) as bench:
            options = ShrinkOptions(
                files=("data.csv",),
                jobs=jobs,
                cold=cold,
                budget=more.get("budget", Budget()),
            )
            (result,) = shrink(bench, request, options)
        assert result.content == Path("data.shrunk.csv").read_bytes()
        left = sorted(path.name for path in (tmp_path / "tmp").iterdir())
        assert len(left) <= more.get("leaves", 0), left
        return Shrunk(result, events)

    return shrink_it


def test_warm_and_cold_take_the_same_steps_to_the_same_result(run: Run) -> None:
    warm, cold = run(PARSES, TABLE), run(PARSES, TABLE, cold=True)

    assert warm.result.content == cold.result.content
    assert warm.steps == cold.steps
    # All but the first, the first of each verdict, the result, and what passes beside it.
    assert warm.result.warm >= warm.result.trials - 6
    assert (warm.result.cold_because, cold.result.warm) == ("", 0)


def test_ctrl_c_while_the_workers_of_a_search_end_gives_the_best_so_far(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending = Session.executor

    @contextmanager
    def executor(session: Session, **options: Any) -> Iterator[Any]:
        with ending(session, **options) as found:
            yield found
        if options.get("perform") is not None:
            raise KeyboardInterrupt

    monkeypatch.setattr(Session, "executor", executor)
    shrunk = run(PARSES, TABLE)

    assert shrunk.result.stopped is StopReason.INTERRUPTED
    assert len(shrunk.result.content) < len(TABLE)
    assert "hasn't run from the start yet" in shrunk.said


def test_the_number_of_jobs_changes_nothing_warm(run: Run) -> None:
    one, two = run(PARSES, TABLE), run(PARSES, TABLE, jobs=2)

    assert one.result.content == two.result.content
    assert one.steps == two.steps
    assert 0 < two.result.warm < two.result.trials == one.result.trials
    assert two.result.cold_because == ""


@pytest.mark.long
def test_the_result_is_run_from_the_start(run: Run) -> None:
    warm = run(PARSES, TABLE)

    trials = [event for event in warm.events if isinstance(event, TrialFinished)]
    # The result, and what passes beside it.
    assert [each.label.endswith("from the start") for each in trials[-3:]] == [False, True, True]
    assert [each.verdict for each in trials[-2:]] == [Verdict.BAD, Verdict.GOOD]
    assert [bool(each.outcome.resumed_from) for each in trials[-3:]] == [True, False, False]


@pytest.mark.long
@pytest.mark.parametrize(
    "most", [4, pytest.param(8, marks=pytest.mark.long), pytest.param(14, marks=pytest.mark.long)]
)
def test_a_result_that_only_fails_warm_is_taken_back(run: Run, most: int) -> None:
    payload = "aXb\nc\n" * 3 + "\n".join(f"{number} Y {number}" for number in range(9)) + "\nZ\n"

    warm = run(DIFFERS_WARM.format(most=most), payload)

    assert warm.result.content == b"XYZ"
    assert warm.result.stopped is StopReason.MINIMAL
    assert "fails only in a frozen copy" in warm.said
    assert warm.result.cold_because
    assert min(after for _, after, _ in warm.steps) < len("XYZ")


@pytest.mark.long
def test_how_often_something_fails_is_measured_from_the_start(run: Run) -> None:
    program = (
        "import os, sys\nopen('count', 'a').write('.')\n"
        "data = open(sys.argv[1]).read()\n"
        "assert 'x' not in data or os.path.getsize('count') % 3 == 0\n"
    )
    shrunk = run(program, "axb")

    assert shrunk.result.warm == 0
    assert "only sometimes" in shrunk.result.cold_because


@pytest.mark.long
def test_what_is_judged_by_time_runs_from_the_start(run: Run) -> None:
    shrunk = run(PARSES, TABLE, bad_if="exit == 1 and seconds < 100")

    assert shrunk.result.warm == 0
    assert "time or memory" in shrunk.result.cold_because


SLOW = "import sys, time\ndata = open(sys.argv[1]).read()\ntime.sleep(0.05)\nassert not set('UVWXYZ') <= set(data)\n"


def _start(folder: Path) -> "subprocess.Popen[bytes]":
    (folder / "tmp").mkdir(exist_ok=True)
    if not (folder / "slow.py").exists():  # a search counts it as another file when it is saved
        (folder / "slow.py").write_text(SLOW)
        (folder / "hay.txt").write_text("".join(f"hay {each} straw\n" * 9 for each in "UVWXYZ"))
    return subprocess.Popen(
        [sys.executable, "-m", "whet", "shrink", "hay.txt", "--jobs", "2", "--json", "--",
         sys.executable, "slow.py", "hay.txt"],
        cwd=folder, env={**os.environ, "TMPDIR": str(folder / "tmp")}, stdout=subprocess.PIPE,
    )  # fmt: skip


def _frozen_below(pid: int, folder: Path) -> list[int]:
    """Wait until copies of the program are used, and return all processes below whet."""
    while not (folder / "hay.shrunk.txt").exists():
        signal.sigtimedwait([], 0.01)
    return descendants_of(pid)


@pytest.mark.long
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long), signal.SIGKILL]
)
def test_nothing_stays_when_a_warm_search_is_killed(tmp_path: Path, number: int) -> None:
    with _start(tmp_path) as whet:
        below = _frozen_below(whet.pid, tmp_path)
        os.kill(whet.pid, number)
        whet.communicate(timeout=30)

    gone_by = 500
    for _ in range(gone_by):
        if not any(_is_alive(pid) for pid in below):
            break
        signal.sigtimedwait([], 0.01)
    assert not any(_is_alive(pid) for pid in below)
    if number != signal.SIGINT:  # the next whet tidies up
        subprocess.run(
            [sys.executable, "-m", "whet", "log"], cwd=tmp_path, check=True, capture_output=True
        )
    assert list((tmp_path / "tmp").iterdir()) == []


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _result(whet: "subprocess.Popen[bytes]") -> dict[str, Any]:
    told, _ = whet.communicate(timeout=100)
    last: dict[str, Any] = json.loads(told.splitlines()[-1])
    assert "payloads" in last, (whet.returncode, told[-5000:])
    result: dict[str, Any] = last["payloads"][0]
    return result


@pytest.mark.long
def test_a_warm_search_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    with _start(tmp_path) as whet:
        _frozen_below(whet.pid, tmp_path)
        os.kill(whet.pid, signal.SIGINT)
        first = _result(whet)
    with _start(tmp_path) as whet:
        second = _result(whet)

    assert first["stopped"] == "interrupted"
    assert second["stopped"] == "minimal"
    assert second["cached"] > 0
    assert second["warm"] > 0
    assert (tmp_path / "hay.shrunk.txt").read_bytes() == b"UVWXYZ"


FAILS_ELSEWHERE_FROM_THE_START = """\
import os, sys
before = os.getpid()
data = open(sys.argv[1]).read()
is_warm = os.getpid() != before
if len(data) == 3 and not is_warm:
    raise ValueError("bad")
if all(letter in data for letter in "XYZ"):
    raise ValueError("bad")
"""


@pytest.mark.long
def test_a_result_that_fails_at_another_line_from_the_start_is_taken_back(run: Run) -> None:
    payload = "aXb\nc\n" * 3 + "\n".join(f"{number} Y {number}" for number in range(9)) + "\nZ\n"

    warm = run(FAILS_ELSEWHERE_FROM_THE_START, payload)

    assert len(warm.result.content) == 4
    assert set(b"XYZ") <= set(warm.result.content)
    assert "returns to the last one that does" in warm.said
    assert min(after for _, after, _ in warm.steps) == len("XYZ")


LISTS_A_SET = """\
import sys
names = {word for line in open(sys.argv[1]) for word in line.split()}
unknown = names & {"alpha", "beta", "gamma", "delta", "epsilon"}
if len(unknown) == 5:
    raise ValueError("unknown: " + ", ".join(unknown))
"""


@pytest.mark.long
def test_a_message_that_lists_a_set_makes_no_search_flaky(run: Run) -> None:
    words = " ".join(f"word{number}" for number in range(30))
    payload = f"{words} alpha beta\ngamma delta {words}\nepsilon\n"

    first, second = run(LISTS_A_SET, payload), run(LISTS_A_SET, payload, jobs=2)

    assert sorted(first.result.content.split()) == [
        b"alpha", b"beta", b"delta", b"epsilon", b"gamma",
    ]  # fmt: skip
    assert (first.result.rate_at_least, first.result.cold_because) == (0, "")
    assert first.result.warm > first.result.trials / 2
    # Which trials run ahead with two jobs decides a little of what is asked.
    assert abs(first.result.trials - second.result.trials) < FEW
    assert first.steps == second.steps


TAKES_THE_FIRST = """\
import os, sys
words = set(open(sys.argv[1]).read().split())
if "bad" in words and (len(words) > 2 or os.environ.get("PYTHONHASHSEED") == "0"):
    raise ValueError("bad")
"""


@pytest.mark.long
def test_a_result_that_needs_the_seed_of_the_search_says_so(run: Run) -> None:
    needs = run(TAKES_THE_FIRST, "a b c bad d e\n").result
    needs_none = run(PARSES, TABLE).result

    assert (needs.content.split(), needs.needs_order) == ([b"bad"], True)
    assert not needs_none.needs_order


LEAVES_FILES = """\
import os, sys, tempfile
early = tempfile.NamedTemporaryFile(prefix="early-", delete=False)
assert "bad" not in open(sys.argv[1]).read(), "bad"
"""


def test_what_trials_leave_in_the_temporary_folder_goes_and_hinders_no_copies(run: Run) -> None:
    # The runs that see whether it fails, here and on copies, find the user's own folder and leave what they leave.
    found = run(LEAVES_FILES, "a\nb\nc\nbad\nd\n" * 4, leaves=FEW + 1).result

    assert found.content == b"bad"
    assert found.trials > 2 * FEW
    assert found.warm > found.trials / 2


NEEDS_A_FILE = """import pathlib, sys, tempfile
stale = pathlib.Path(tempfile.gettempdir(), "stale.txt")
rows = stale.read_text().split() if stale.exists() else []
open(sys.argv[1]).read()
assert not rows, "stale"
"""


def test_a_failure_that_needs_a_file_in_the_temporary_folder_is_shrunk(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "tmp" / "stale.txt").write_text("a row")

    found = run(NEEDS_A_FILE, "a\nb\n", leaves=1).result

    assert found.content == b""


@pytest.mark.long
def test_a_temporary_folder_that_the_command_names_is_its_own(run: Run, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()

    run(LEAVES_FILES, "a\nbad\n", environment={"TMPDIR": str(own)})

    assert list(own.glob("early-*"))


@pytest.mark.parametrize("most", [6, 9])
def test_the_table_of_a_search_that_was_stopped_tells_all_that_was_run(run: Run, most: int) -> None:
    stopped = run(PARSES, TABLE, budget=Budget(trials=most))
    result = stopped.result

    assert result.stopped is StopReason.OUT_OF_TRIALS
    asked = [
        event for event in stopped.events
        if isinstance(event, TrialFinished) and event.label.endswith(" bytes")
    ]  # fmt: skip
    # The first asks whether an empty file fails too, and belongs to no pass.
    assert sum(each.candidates for each in result.passes) == len(asked) - 1 == most
    assert sum(each.saved_bytes for each in result.passes) == len(TABLE) - len(result.content)
    assert result.wall_seconds >= result.sizes[-1].seconds > 0
