"""A failing line that was added only lately judges the commits from before it, too."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.bisection.grafted_lines import (
    MARKED_EXIT,
    GraftedLines,
    added_statements,
    alignment,
    changed_check,
)
from whet.core.errors import EndMisjudged, NothingBetween
from whet.core.event import Notice
from whet.core.failure import Failure
from whet.core.observations.clue import Placing
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.process.git import GitFailedError, Repository
from whet.workbench.bisect.culprit_part import outcome_of
from whet.workbench.investigate.progress.investigating import Work, in_users_tree
from whet.workbench.parts.edits import commit_before
from whet.workbench.trials.changed_part import SmallestPart
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.versions.grafted_check import text_at
from whet.workbench.versions.versions import FirstBad, VersionHunt

Read = Callable[[str], str | None]
"""Returns the text at a path below the top of the repository; None: there is none."""


@value_class(kw_only=True)
class TodaysLines:
    """The statements that fail today and that an older commit lacks.

    Attributes:
        files: the statements, by the path of their file; empty: they can't be put into another text.
        place: where the last of them is, such as ``app.py:7``.
        name: what it is called in a sentence.
        source: the commit whose paths these are; empty: today's.
        path: the file of the last one.
        check: the lines of the check that the last one is, which may have become stricter; empty:
            it is none.
    """

    files: Mapping[str, GraftedLines]
    place: str
    name: str
    path: str
    source: str = ""
    check: frozenset[int] = frozenset()


@value_class(kw_only=True)
class Grafted:
    """What older commits do with today's lines.

    Attributes:
        hunt: the search with them.
        found: its answer.
        name: what the last of the lines is called.
        is_reached: the last good commit was seen to reach it.
    """

    hunt: VersionHunt
    found: FirstBad
    name: str
    is_reached: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether a commit brings the failure: the one before it runs the line, and passes."""
        return self.found.first_bad is not None and self.is_reached

    @property
    def remark(self) -> str:
        """What it says where no commit is to blame; empty: nothing."""
        search, line = self.found.search, self.name
        if self.found.first_bad is not None:
            return (
                "" if self.is_reached else f"{search.good} passes with {line} but doesn't reach it"
            )
        grafted = [each for each in search.tested if each.label != search.bad]
        failing = [each for each in grafted if each.verdict is Verdict.BAD]
        if not failing or any(each.verdict is Verdict.GOOD for each in grafted):
            return ""
        if len(failing) == len(grafted):
            return f"with {line} every older version fails as well"
        return f"with {line} {failing[-1].label} fails as well, and the versions before it can't run it"


def todays_lines(
    repository: Repository, trial: Trial, baseline: Baseline, before: str, since: str = ""
) -> TodaysLines | None:
    """Return the statements on the way to the failure that a commit lacks; None: it has the last one.

    Args:
        repository: where the commit is.
        trial: the command, which says where it was started.
        baseline: the failure.
        before: the commit.
        since: the next commit, which has to have the failing line; empty: it isn't committed yet.

    Raises:
        GitFailedError: if git doesn't have it.
    """
    failure = baseline.outcome.failure
    if failure is None or not baseline.reproduction.is_deterministic:
        return None

    def today(path: str) -> str | None:
        return _today(Path(repository.top, path))

    def older(path: str) -> str | None:
        return text_at(repository, before, path, "HEAD")

    failing = _failing(repository, trial, failure)
    if failing is None:
        return None
    path, number = failing
    text = today(path)
    if since and (
        text is None or not _has_line(text_at(repository, since, path, "HEAD"), text, number)
    ):
        return None  # it was changed later: the commit has another line there
    lines = _missing(repository, trial, failure, failing, today, older)
    return None if lines is None else replace(lines, name=f"today's {lines.place}")


def _failing(repository: Repository, trial: Trial, failure: Failure) -> tuple[str, int] | None:
    """Return the path and line that fail; None: they aren't in the user's code."""
    place = failure.place
    if place is None or not place.in_user_code or not place.line:
        return None
    return _path_in(repository, trial, place.path), place.line


def _path_in(repository: Repository, trial: Trial, path: str) -> str:
    top = os.path.realpath(repository.top)
    return os.path.relpath(os.path.realpath(Placing(trial.cwd).absolute(path)), top)


def _missing(
    repository: Repository,
    trial: Trial,
    failure: Failure,
    failing: tuple[str, int],
    source: Read,
    before: Read,
) -> TodaysLines | None:
    """Return the statements on the way to a failure that older texts lack."""
    called: dict[str, list[int]] = {}
    for frame in failure.frames:
        path = _path_in(repository, trial, frame.path)
        if frame.in_user_code and not path.startswith(os.pardir):
            called.setdefault(path, []).append(frame.line)
    files: dict[str, GraftedLines] = {}
    check: frozenset[int] = frozenset()
    for path, numbers in called.items():
        old, text = before(path), source(path)
        if old is not None and text is not None:
            last = failing[1] if path == failing[0] else 0
            check = changed_check(text, old, last) if last else check
            lines = added_statements(text, old, numbers, last)
            files |= {} if lines is None else {path: lines}
    if failing[0] not in files and not check:
        return None
    place = Placing(trial.cwd)(failure.place.path, failing[1]) if failure.place else ""
    whole = files if failing[0] in files else {}
    return TodaysLines(files=whole, place=place, name=place, path=failing[0], check=check)


def stricter_check(
    repository: Repository, trial: Trial, baseline: Baseline, part: SmallestPart
) -> str:
    """Return where the check is that edits make stricter, if nothing else of them decides; else nothing.

    Args:
        repository: where they are.
        trial: the command, which says where it was started.
        baseline: the failure.
        part: the part of the edits that brings it.
    """
    with suppress(GitFailedError):
        lines = todays_lines(repository, trial, baseline, "HEAD")
        if (
            lines is not None
            and part.decides
            and all(
                each.path == lines.path and lines.check.issuperset(range(each.first, each.last + 1))
                for each in part.decides
            )
        ):
            return lines.place
    return ""


def search_with_lines(
    work: Work,
    hunt: VersionHunt,
    find: Callable[[VersionHunt], FirstBad],
    lines: TodaysLines,
    new: str,
    who: str,
) -> Grafted | None:
    """Search the commits with today's lines where they belong; None: the new end isn't bad with them.

    Args:
        work: the investigation.
        hunt: the search without them.
        find: does a search.
        lines: the lines.
        new: the new end.
        who: which change adds the lines, in words, with its verb.
    """
    text = f"{who} what fails at {lines.place}: whet puts it into older versions"
    work.bench.emit(Notice(text=text))
    versions = work.history.versions
    assert versions is not None
    versions = versions.with_lines(lines.files, lines.place, new, source=lines.source)
    grafted = replace(hunt, versions=versions, budget=work.budget)
    try:
        found = find(grafted)
    except EndMisjudged:
        return None
    is_reached = found.last_good is not None and _is_reached(work, hunt, lines, found)
    return Grafted(hunt=grafted, found=found, name=lines.name, is_reached=is_reached)


def _is_reached(work: Work, hunt: VersionHunt, lines: TodaysLines, found: FirstBad) -> bool:
    """Whether the last good commit runs the line: one that doesn't passes whatever it computes."""
    versions = work.history.versions
    assert versions is not None
    marked = versions.with_lines(
        lines.files, lines.place, versions.new, source=lines.source, is_marked=True
    )
    question = marked.question(hunt.trial, found.last_good or "")
    if question.refusal is not None:
        return False
    label = f"{question.label} up to the line"
    ran = hunt.session.run(question.trial, found.oracle, label, place=marked.place)
    return ran.outcome.exit_code == MARKED_EXIT


def lines_since(
    work: Work, baseline: Baseline, found: FirstBad, repository: Repository
) -> TodaysLines | None:
    """Return the failing statements that the first bad commit adds; None: they are older."""
    since = found.first_bad
    if since is None:
        return None
    with suppress(NothingBetween, GitFailedError):
        before = commit_before(repository, since, found.last_good)
        lines = todays_lines(repository, work.trial, baseline, before, since)
        return lines or _its_own_lines(work, baseline, found, repository, before)
    return None


def _its_own_lines(
    work: Work, baseline: Baseline, found: FirstBad, repository: Repository, before: str
) -> TodaysLines | None:
    """Return the check that fails on the first bad commit, where it was reworded since."""
    since = found.first_bad or ""
    outcome = outcome_of(work.bench, found.search)
    failure = None if outcome is None else outcome.failure
    if failure is None or not baseline.reproduction.is_deterministic:
        return None
    frames = [replace(each, path=in_users_tree(work, each.path)) for each in failure.frames]
    failure = replace(failure, frames=tuple(frames))
    failing = _failing(repository, work.trial, failure)
    if failing is None:
        return None
    lines = _missing(
        repository, work.trial, failure, failing,
        lambda path: text_at(repository, since, path, since),
        lambda path: text_at(repository, before, path, since),
    )  # fmt: skip
    if lines is None or not lines.check:
        return None
    name = f"{lines.place} of {found.search.first_bad}"
    return replace(lines, name=name, source=since)


def _has_line(text: str | None, today: str, number: int) -> bool:
    """Whether a text has a line of today's text."""
    lines = today.split("\n")
    matches = None if text is None else alignment(lines, text.split("\n"))
    return matches is not None and number - 1 in matches


def _today(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None
