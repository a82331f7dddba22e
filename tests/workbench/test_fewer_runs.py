"""A search over commits runs only those that can matter, and its answer is seen by real runs."""

import random
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from looking_programs import make_history

from whet.bisection.terms import Terms
from whet.core.budget import Budget
from whet.core.limits import Limits
from whet.core.room import Disk, Fault, Room
from whet.host.kernel.seccomp import why_not
from whet.workbench.bisect.bisect import BisectOptions, bisect, versions_of
from whet.workbench.trials.bench import Workbench, open_workbench
from whet.workbench.trials.investigation import VersionSearch
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import open_session
from whet.workbench.versions.versions import VersionHunt

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"programs cannot be watched: {why_not()}")

PROGRAM = "import helper\nassert helper.number() < 5, helper.number()\n"
APP = TrialRequest(command=(sys.executable, "app.py"))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "r").mkdir()
    monkeypatch.chdir(tmp_path / "r")
    return tmp_path / "r"


def mostly_documentation(count: int, every: int) -> list[Mapping[str, str | None]]:
    """Return states of which one in ``every`` changes what the program looks at."""
    states: list[Mapping[str, str | None]] = [
        {"app.py": PROGRAM, "docs/x": "0", ".gitignore": ".whet\n"}
    ]
    states[0] = {**states[0], "helper.py": "def number():\n    return 0\n"}
    for number in range(1, count):
        helper = f"def number():\n    return {number // every}\n"
        states.append({"helper.py": helper} if number % every == 0 else {"docs/x": str(number)})
    return states


def search(bench: Workbench, request: TrialRequest, good: str, *, concludes: bool) -> VersionSearch:
    options = BisectOptions(good=good, bad="HEAD")
    trial = bench.for_search(bench.build_trial(request))
    versions = versions_of(bench, trial, options)
    with open_session(bench, "bisect", request, trial) as session:
        hunt = VersionHunt(
            session=session, trial=trial, terms=Terms(), budget=Budget(),
            versions=versions if concludes else replace(versions, equal=None),
        )  # fmt: skip
        return hunt.run().search


def test_commits_that_change_nothing_the_run_looks_at_are_not_run(place: Path) -> None:
    commits = make_history(place, mostly_documentation(60, every=10))

    with open_workbench() as bench:
        found = bisect(bench, APP, BisectOptions(good=commits[0], bad=commits[-1], jobs=1))

    assert found.first_bad == commits[50][:10]
    # Five can matter: both ends, three steps at the most, and both sides of the answer.
    assert found.looked_again is not None
    assert found.trials - found.looked_again.runs <= 2 + 3 + 2
    assert found.concluded + found.trials > 30
    run = {tested.label for tested in found.tested if tested.trial is not None}
    assert {found.first_bad, found.good} <= run


@pytest.mark.long
@pytest.mark.parametrize(
    "room",
    [
        Room(faults=(Fault(call="openat", error="EIO", glob="*.zzz"),)),
        Room(disks=(Disk(path="/var/tmp", size_bytes=1 << 20),)),
    ],
)
def test_from_a_run_in_a_room_nothing_is_concluded(place: Path, room: Room) -> None:
    # Its calls may be held already, and what it sees is not what whoever watches it sees.
    commits = make_history(place, mostly_documentation(20, every=10))
    request = replace(APP, command=(sys.executable, "-c", "import helper; assert helper.number()"))
    request = replace(request, limits=Limits(room=room))

    with open_workbench() as bench:
        found = bisect(bench, request, BisectOptions(good=commits[-1], bad=commits[0], jobs=1))

    assert found.first_bad == commits[10][:10]
    assert found.concluded == 0


@pytest.mark.long
def test_a_later_search_of_the_same_trial_runs_only_what_its_answer_rests_on(place: Path) -> None:
    commits = make_history(place, mostly_documentation(40, every=7))
    options = BisectOptions(good=commits[0], bad=commits[-1], jobs=1)

    with open_workbench() as bench:
        first = bisect(bench, APP, options)
        again = bisect(bench, APP, options)

    numbers = {tested.trial for tested in first.tested}
    assert again.first_bad == first.first_bad
    fresh = [each for each in again.tested if each.trial is not None and each.trial not in numbers]
    assert len(fresh) <= 4  # two ends and two sides


@pytest.mark.long
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))]
)
def test_it_names_the_commit_that_a_search_without_conclusions_names(
    place: Path, seed: int
) -> None:
    choose = random.Random(seed)
    states: list[dict[str, str | None]] = [
        {"app.py": "import glob, os\ntotal = sum(int(open(n).read()) for n in glob.glob('parts/*'))\n"
         "if os.path.exists('extra'): total += len(os.readlink('extra'))\nassert total < 9, total\n",
         "parts/a": "0", "docs/x": "0", ".gitignore": ".whet\n"}
    ]  # fmt: skip
    for number in range(1, 24):
        kind = choose.randrange(6)
        if kind == 0:
            states.append({f"parts/{choose.choice('bcd')}": str(choose.randrange(4))})
        elif kind == 1:
            states.append({"extra": f"@{'x' * choose.randrange(4)}y"})
        else:
            states.append({f"docs/{choose.choice('xyz')}": str(number)})
    states.append({"parts/z": "9"})
    states.append({"docs/x": "end"})
    commits = make_history(place, states)

    with open_workbench() as bench:
        with_them = search(bench, APP, commits[0], concludes=True)
        without = search(bench, APP, commits[0], concludes=False)

    assert with_them.first_bad == without.first_bad
    assert with_them.good == without.good
    assert without.concluded == 0


@pytest.mark.long
def test_nothing_is_concluded_from_a_run_that_asks_git(place: Path) -> None:
    program = (
        "import subprocess\ncount = int(subprocess.check_output(['git', 'rev-list', '--count', 'HEAD']))\n"
        "assert count < 6, 'many'\n"
    )
    states = [
        {"app.py": program, "docs/x": str(number), ".gitignore": ".whet\n"} for number in range(9)
    ]
    commits = make_history(place, states)

    with open_workbench() as bench:
        found = bisect(bench, APP, BisectOptions(good=commits[0], bad=commits[-1], jobs=1))

    assert found.first_bad == commits[5][:10]
    assert found.concluded == 0


@pytest.mark.long
def test_a_commit_that_restores_an_earlier_state_is_not_run_again(place: Path) -> None:
    helper = "def number():\n    return {}\n".format
    start = {"app.py": PROGRAM, ".gitignore": ".whet\n"}
    contents = [0, 1, 2, 1, 2, 1, 2, 1, 2, 7]
    commits = make_history(place, [{**start, "helper.py": helper(content)} for content in contents])

    with open_workbench() as bench:
        found = bisect(bench, APP, BisectOptions(good=commits[0], bad=commits[-1], jobs=1))

    assert found.first_bad == commits[-1][:10]
    trees = [
        subprocess.check_output(["git", "rev-parse", f"{tested.label}^{{tree}}"]).decode()
        for tested in found.tested
        if tested.trial is not None and tested.label not in {found.good, found.first_bad}
    ]
    assert len(trees) == len(set(trees))


@pytest.mark.long
def test_walking_back_passes_commits_that_follow_from_the_bad_end(place: Path) -> None:
    states = mostly_documentation(30, every=20)
    broken: Mapping[str, str | None] = {"helper.py": "def number():\n    return 9\n"}
    commits = make_history(place, [*states[:19], broken, *states[21:]])

    with open_workbench() as bench:
        found = bisect(bench, APP, BisectOptions(good="", bad="HEAD", jobs=1))

    assert found.first_bad == commits[19][:10]
    assert found.looked_again is not None
    assert found.trials - found.looked_again.runs <= 4
