"""Histories in which the failure is worded otherwise for a while, as the benchmark makes them."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.histories import reworded
from crossed import crossed

from whet.core.event import Event, Notice
from whet.core.verdict import Verdict
from whet.workbench.bisect.bisect import BisectOptions, bisect
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.investigation import VersionSearch
from whet.workbench.trials.request import TrialRequest
from whet.workbench.versions.graded import BY_EXIT
from whet.workbench.versions.history_sentence import history_sentence

SHARE = 0.12


def search(
    name: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    jobs: int = 1,
    observer: Callable[[Event], None] = lambda _: None,
) -> tuple[VersionSearch, str]:
    """Search a short form of a history; return what was found, and the first bad commit."""
    (history,) = (each for each in reworded.histories(SHARE) if each.name == name)
    commits: list[str] = reworded.build(folder / "repository", history)
    monkeypatch.chdir(folder / "repository")
    monkeypatch.setenv("CHECK_CALLS", str(folder / "calls"))
    request = TrialRequest(command=(sys.executable, "check.py"))
    with open_workbench(observer=observer) as bench:
        options = BisectOptions(good=commits[0], bad=commits[-1], jobs=jobs)
        return bisect(bench, request, options), commits[history.culprit]


@pytest.mark.slow
@crossed(
    named={
        name: (name, way)
        for name, way in (
            ("assertion became a subclass", "same frame, AssertionError became CheckError"),
            ("same exit, other text", "the same exit code 1, another text"),
            (
                "wrapped in another error",
                "TotalError on one side, OrderError raised from TotalError",
            ),
        )
    },
    jobs=[1, 3],
)
def test_a_failure_that_was_reworded_is_followed_to_its_commit_and_the_answer_says_how(
    named: tuple[str, str],
    jobs: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, way = named
    found, culprit = search(name, tmp_path, monkeypatch, jobs)

    assert found.first_bad is not None
    assert culprit.startswith(found.first_bad)
    assert f"judged BAD by likeness: {way}" in history_sentence(found)
    assert not any(each.verdict is Verdict.SKIP for each in found.tested)


@pytest.mark.long
def test_versions_that_cannot_be_imported_stay_skipped_where_the_failure_is_reworded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "broken for a while on both sides"
    found, culprit = search(name, tmp_path, monkeypatch)

    assert found.first_bad is not None
    assert culprit.startswith(found.first_bad)
    broken = [each for each in found.tested if "ModuleNotFoundError" in each.remark]
    assert broken
    assert all(each.verdict is Verdict.SKIP for each in broken)


def _another(here: int, culprit: int) -> dict[str, str]:
    """Return a commit; up to the 40th its failure has nothing in common with the later one."""
    if here < culprit:
        return {"shop/checks.py": f"import shop.build\ndef check(count):\n    return {here}\n"}
    if here >= 40:
        body = "    raise KeyError('price')\n"
        return {"shop/checks.py": f"import shop.build\ndef check(count):\n{body}"}
    books = "import shop.build\ndef close():\n    raise RuntimeError('books differ')\n"
    return {
        "shop/books.py": books,
        "shop/checks.py": "import shop.books\ndef check(count):\n    shop.books.close()\n",
    }


@pytest.mark.long
def test_a_failure_without_likeness_is_decided_once_when_skips_exceed_the_steps_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = reworded.History(
        name="another", count=60, culprit=7,
        files=_another,
    )  # fmt: skip
    monkeypatch.setattr(reworded, "histories", lambda _: [history])
    said: list[str] = []

    def hear(event: object) -> None:
        said.extend([event.text] if isinstance(event, Notice) else [])

    found, culprit = search("another", tmp_path, monkeypatch, observer=hear)

    assert found.first_bad is not None
    assert culprit.startswith(found.first_bad)
    assert found.likeness == (BY_EXIT,)
    (notice,) = (each for each in said if "from here on, this counts as bad" in each)
    assert "`RuntimeError: books differ`" in notice
    assert "shop/books.py:close" in notice
    assert "`--bad-if`" in notice
    assert found.trials <= 20


def _long_broken(here: int, culprit: int) -> dict[str, str]:
    """Return a commit; from the 6th to the 94th of 100 a file is missing, on both sides of the bug."""
    if 5 < here < 95:
        return {"shop/checks.py": f"import shop.lost\ndef check(count):\n    return {here}\n"}
    body = "    raise KeyError('price')\n" if here >= culprit else f"    return {here}\n"
    return {"shop/checks.py": f"def check(count):\n{body}"}


@pytest.mark.long
def test_a_search_ends_where_it_was_skipped_more_often_than_it_can_tell_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = reworded.History(name="lost", count=100, culprit=50, files=_long_broken)
    monkeypatch.setattr(reworded, "histories", lambda _: [history])

    found, culprit = search("lost", tmp_path, monkeypatch)

    steps = (history.count - 1).bit_length()
    skipped = [each for each in found.tested if each.verdict is Verdict.SKIP]
    assert found.first_bad is None
    assert any(culprit.startswith(each) for each in found.suspects)
    assert 4 * steps < len(skipped) <= 4 * steps + 3
