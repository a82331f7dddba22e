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
)
from whet.core.errors import EndMisjudged, NothingBetween
from whet.core.event import Notice
from whet.core.observations.clue import Placing
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.process.git import GitFailedError, Repository
from whet.workbench.investigate.progress.investigating import Work
from whet.workbench.parts.edits import commit_before
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.versions.grafted_check import text_at
from whet.workbench.versions.versions import FirstBad, VersionHunt


@value_class(kw_only=True)
class TodaysLines:
    """The statements that fail today and that an older commit lacks.

    Attributes:
        files: the statements, by the path of their file from the top of the repository.
        place: where the last of them is, such as ``app.py:7``.
    """

    files: Mapping[str, GraftedLines]
    place: str


@value_class(kw_only=True)
class Grafted:
    """What older commits do with today's lines.

    Attributes:
        hunt: the search with them.
        found: its answer.
        place: where the last of the lines is.
        is_reached: the last good commit was seen to reach it.
    """

    hunt: VersionHunt
    found: FirstBad
    place: str
    is_reached: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether a commit brings the failure: the one before it runs the line, and passes."""
        return self.found.first_bad is not None and self.is_reached

    @property
    def remark(self) -> str:
        """What it says where no commit is to blame; empty: nothing."""
        search, line = self.found.search, f"today's {self.place}"
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
    if not baseline.reproduction.is_deterministic:
        return None
    place = None if failure is None else failure.place
    if failure is None or place is None or not place.in_user_code or not place.line:
        return None
    at, top = Placing(trial.cwd), os.path.realpath(repository.top)
    called: dict[str, list[int]] = {}
    for frame in failure.frames:
        path = os.path.realpath(at.absolute(frame.path))
        if frame.in_user_code and path.startswith(f"{top}{os.sep}"):
            called.setdefault(os.path.relpath(path, top), []).append(frame.line)
    failing = os.path.relpath(os.path.realpath(at.absolute(place.path)), top)
    files: dict[str, GraftedLines] = {}
    for path, numbers in called.items():
        older = text_at(repository, before, path, "HEAD")
        text = _today(Path(top, path))
        if older is not None and text is not None:
            last = place.line if path == failing else 0
            if (
                last
                and since
                and not _has_line(text_at(repository, since, path, "HEAD"), text, last)
            ):
                return None  # it was changed later: the commit has another line there
            lines = added_statements(text, older, numbers, last)
            files |= {} if lines is None else {path: lines}
    if failing not in files:
        return None
    return TodaysLines(files=files, place=at(place.path, place.line))


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
    text = f"{who} the line that fails ({lines.place}): whet puts it into older versions"
    work.bench.emit(Notice(text=text))
    versions = work.history.versions
    assert versions is not None
    versions = versions.with_lines(lines.files, lines.place, new)
    grafted = replace(hunt, versions=versions, budget=work.budget)
    try:
        found = find(grafted)
    except EndMisjudged:
        return None
    is_reached = found.last_good is not None and _is_reached(work, hunt, lines, found)
    return Grafted(hunt=grafted, found=found, place=lines.place, is_reached=is_reached)


def _is_reached(work: Work, hunt: VersionHunt, lines: TodaysLines, found: FirstBad) -> bool:
    """Whether the last good commit runs the line: one that doesn't passes whatever it computes."""
    versions = work.history.versions
    assert versions is not None
    marked = versions.with_lines(lines.files, lines.place, versions.new, is_marked=True)
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
    if found.first_bad is None:
        return None
    with suppress(NothingBetween, GitFailedError):
        before = commit_before(repository, found.first_bad, found.last_good)
        return todays_lines(repository, work.trial, baseline, before, found.first_bad)
    return None


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
