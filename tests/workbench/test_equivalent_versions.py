"""Noting what runs look at goes on while it is cheap or saves runs, and stops otherwise."""

import itertools
from pathlib import Path

import pytest
from looking_programs import make_history

from whet.bisection.equal_trees import EqualTrees
from whet.core.observations.file_accesses import READS_GIT, FileAccesses
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.host.code.git_trees import GitTrees
from whet.host.process.git import Repository
from whet.workbench.versions.equivalent_versions import EquivalentVersions

TRIAL = Trial(command=("true",), cwd="/")


def after_one_run(
    place: Path, states: list[dict[str, str | None]], looks: FileAccesses
) -> EquivalentVersions:
    """Return what is known once a run of two seconds on the first state is taken in."""
    commits = make_history(place / "r", states)
    alike = EquivalentVersions(
        trees=EqualTrees(GitTrees(Repository(place / "r"))),
        read=lambda _: looks.to_bytes(),
        told=lambda verdict: verdict,
        observed_at=lambda _: ("/top", "/top/.git"),
    )
    alike.note(commits[0], Outcome(wall_seconds=2.0, looks="digest"), Verdict.GOOD)
    alike.follows(commits)
    alike.that_matter({each: (before,) for before, each in itertools.pairwise(commits)})
    return alike


ALL_MATTER: list[dict[str, str | None]] = [{"app.py": str(number)} for number in range(9)]
FEW_MATTER: list[dict[str, str | None]] = [
    {"app.py": str(number // 8), "docs": str(number)} for number in range(16)
]


@pytest.mark.parametrize(
    ("states", "held_seconds", "goes_on"),
    [
        (ALL_MATTER, 0.01, True),  # next to nothing
        (ALL_MATTER, 0.15, True),  # less than a tenth
        (ALL_MATTER, 0.8, False),
        (FEW_MATTER, 0.8, True),  # dear, but of sixteen one is left
    ],
)
def test_it_goes_on_where_it_is_cheap_or_saves_runs(
    tmp_path: Path, states: list[dict[str, str | None]], held_seconds: float, *, goes_on: bool
) -> None:
    looks = FileAccesses(paths=("app.py",), held_seconds=held_seconds)

    alike = after_one_run(tmp_path, states, looks)

    assert (alike.observe(TRIAL) is not None) == goes_on


def test_it_stops_at_a_run_that_reads_gits_own_data(tmp_path: Path) -> None:
    alike = after_one_run(tmp_path, FEW_MATTER, FileAccesses(gap=READS_GIT, paths=("app.py",)))

    assert alike.observe(TRIAL) is None
    assert alike.concluded == {}


def test_of_a_run_that_was_ended_nothing_is_learned(tmp_path: Path) -> None:
    commits = make_history(tmp_path / "r", [{"docs": "1"}, {"docs": "2"}])
    looks = FileAccesses()
    alike = EquivalentVersions(
        trees=EqualTrees(GitTrees(Repository(tmp_path / "r"))),
        read=lambda _: looks.to_bytes(),
        told=lambda verdict: verdict,
        observed_at=lambda _: None,
    )
    for outcome in (Outcome(timed_out=True, looks="x"), Outcome(interrupted=True, looks="x")):
        alike.note(commits[0], outcome, Verdict.BAD)

        assert alike.follows(commits) == {}
