"""The histories in which an investigation searches, judged by today's check: a test or a script."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from whet.bisection.judgements import judgements_in
from whet.core.budget import StopReason
from whet.core.errors import EndMisjudged, NothingBetween
from whet.core.event import Notice
from whet.core.failure import FailureKind
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.code.tree_changes import path_changes
from whet.host.process.git import Repository
from whet.workbench.bisect.bisect import BisectOptions, versions_of
from whet.workbench.bisect.own_files import programs_of
from whet.workbench.investigate.progress.investigating import History, InvestigateOptions, Work
from whet.workbench.investigate.steps.grafts import (
    Grafted,
    lines_since,
    search_with_lines,
    todays_lines,
)
from whet.workbench.investigate.steps.own_data import OwnData, own_data
from whet.workbench.parts.edits import commit_before
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.request import TrialRequest
from whet.workbench.versions.carried_check import is_test, tracked_in, with_what_they_need
from whet.workbench.versions.grafted_check import text_at
from whet.workbench.versions.history_sentence import history_sentence
from whet.workbench.versions.versions import FirstBad, VersionHunt

_JUDGING = frozenset({FailureKind.ASSERTION, FailureKind.EXIT, FailureKind.TEST_FAILURE})
"""What a check says of other code; other failures of a script are its own."""

Find = Callable[[VersionHunt], FirstBad]


@value_class(kw_only=True)
class Searched:
    """What the search in a history found.

    Attributes:
        hunt: the search.
        found: its answer.
        says: the answer, in a sentence.
        only_check: that no commit but one that changed the check brought it, in a sentence.
        data: each commit ran with its own data; None: there are none, or each ran with today's.
        stricter: where the check is that the commit makes stricter, or adds; empty: older versions
            pass it, or it makes none so.
    """

    hunt: VersionHunt
    found: FirstBad
    says: str
    only_check: str = ""
    data: OwnData | None = None
    stricter: str = ""


def history_of(
    bench: Workbench, _request: TrialRequest, trial: Trial, options: InvestigateOptions
) -> History:
    """Return the releases or commits to search, or why there are none.

    Raises:
        UnknownPackage, UnknownRelease, IndexUnreachable: for a package.
        UnknownRevision, SameEnds, EndsReversed, NotAnAncestor: for a repository.
    """
    if options.package:
        ends = BisectOptions(good=options.good, bad=options.bad, package=options.package)
        return History(versions=versions_of(bench, trial, ends), is_pinned=True)
    if options.good:
        ends = BisectOptions(good=options.good, bad=options.bad or "HEAD")
        return History(versions=versions_of(bench, trial, ends))
    if trial.code is None or Repository.keeping(Path(trial.code.repository)).git_folder:
        return _no_history("this folder isn't in a git repository")
    repository = Repository.containing(Path(trial.cwd))
    if repository.ask("rev-parse", "--quiet", "--verify", "HEAD~1").exit_code != 0:
        first = _no_history("there is no commit before the current one")
        return replace(first, has_one_commit=bool(trial.code.commit))
    doubt = _why_unsure(trial)
    # Without a good end it is walked back from HEAD, 1, 2, 4, 8 commits, until there is one.
    ends = BisectOptions(good="", bad="HEAD")
    return History(
        versions=versions_of(bench, trial, ends),
        remark=f"whet searched no history: {doubt}" if doubt else "",
        is_asked_for=False,
        is_sure=not doubt,
    )


def _no_history(why: str) -> History:
    return History(versions=None, remark=f"whet searched no history: {why}")


def _why_unsure(trial: Trial) -> str:
    """Say why a commit may hold nothing of what fails; empty: it holds a file of the command."""
    repository = Repository.containing(Path(trial.cwd))
    program, *others = trial.command
    top = repository.top.resolve()
    is_own = "/" in program and _place_of(trial, program).is_relative_to(top)
    own = [program] if is_own else []  # a script of the repository, as `./run.sh` is
    words = [word.partition("::")[0] for word in (*own, *others) if not word.startswith("-")]
    files = [word for word in words if word and "\0" not in word and Path(trial.cwd, word).exists()]
    if not files:
        return "the command names no file; name a revision that is good with `--good`"
    # git refuses all of them if it is asked about one outside, as an interpreter or data often is.
    inside = [
        str(path) for path in (_place_of(trial, each) for each in files) if path.is_relative_to(top)
    ]
    if not inside or not repository.ask("ls-files", "-z", "--", *inside).stdout:
        return "git tracks no file that the command names"
    return ""


def _place_of(trial: Trial, word: str) -> Path:
    """Return where a file lies that a command names; a link at its end isn't followed."""
    path = Path(os.path.abspath(Path(trial.cwd, word)))
    return path.parent.resolve() / path.name


def settle_history(work: Work, baseline: Baseline) -> None:
    """Decide whether the history is searched, where the command names no file of it."""
    history = work.history
    if history.is_sure or history.versions is None:
        return
    repository = Repository.containing(Path(work.trial.cwd))
    if tracked_in(repository, _failing_files(baseline), work.trial.cwd):
        work.history = replace(history, remark="", is_sure=True)
    else:
        work.history = History(versions=None, remark=history.remark)


def search_versions(work: Work, baseline: Baseline, hunt: VersionHunt, find: Find) -> Searched:
    """Find the first bad version; today's tests judge each, and today's script where its check changed.

    Args:
        work: the investigation.
        baseline: the failure.
        hunt: the search as it is without today's check.
        find: does a search.

    Raises:
        EndMisjudged: if an end isn't what it was said to be.
    """
    if hunt.versions.kind != "commit":
        return _as_it_is(hunt, find)
    repository = Repository.containing(Path(work.trial.cwd))
    data = own_data(hunt, repository)
    if data is None or not data.ever_changed(repository):
        return _search_commits(work, baseline, hunt, find, repository)
    own = _search_commits(work, baseline, data.hunt, find, repository)
    if own.found.first_bad is not None:
        return replace(own, says=f"{own.says}; {data.says}", data=data)
    if own.found.search.suspects or not own.found.search.stopped.is_complete:
        return replace(own, says=f"{own.says}; {data.says}")
    today = _search_commits(work, baseline, replace(hunt, budget=work.budget), find, repository)
    says = f"{today.says}; each commit ran with today's {_listed(data.paths)}, and before that with its own"
    return replace(today, says=says)


def _search_commits(
    work: Work, baseline: Baseline, hunt: VersionHunt, find: Find, repository: Repository
) -> Searched:
    """Search the commits with today's check where it changed."""
    tests = _tests_of(work, baseline, repository)
    if tests:
        return _by_tests(work, baseline, hunt, find, repository, tests)
    plain = _with_added_lines(work, baseline, _as_it_is(hunt, find), find, repository)
    scripts = _scripts_of(work, baseline, repository)
    changed = _changed(repository, plain.found)
    if plain.hunt.versions.has_other_check or not any(
        _judges_anew(repository, plain.found, each) for each in scripts if each in changed
    ):
        return plain
    again = _with_check(work, hunt, find, scripts)
    if again is not None and again.found.first_bad is not None:
        return again
    return plain if plain.stricter else _judged_alike(plain, changed, scripts, again)


def _with_added_lines(
    work: Work, baseline: Baseline, plain: Searched, find: Find, repository: Repository
) -> Searched:
    """Return the answer; where its commit adds the line that fails, older ones are judged by it."""
    lines = lines_since(work, baseline, plain.found, repository)
    new = plain.found.first_bad
    if lines is None or new is None:
        return plain
    if lines.check:
        plain = replace(plain, stricter=lines.place)
    if not lines.files:
        return plain
    # It may fail by likeness alone there: in a module that the code has left since, for example.
    hunt = replace(plain.hunt, oracle=plain.found.oracle)
    grafted = search_with_lines(work, hunt, find, lines, new, f"{new[:10]} adds or changes")
    if grafted is None:
        return plain
    if grafted.is_shown:
        return _with_lines(grafted)
    return replace(plain, says="; ".join(filter(None, [plain.says, grafted.remark])))


def search_with_edits(
    work: Work, baseline: Baseline, hunt: VersionHunt, find: Find
) -> Searched | None:
    """Search the commits with the failing line that isn't committed yet; None: that shows none."""
    if hunt.versions.kind != "commit" or work.history.versions is None:
        return None
    repository = Repository.containing(Path(work.trial.cwd))
    lines = todays_lines(repository, work.trial, baseline, "HEAD")
    if lines is None or not lines.files:
        return None
    new = work.history.versions.new
    grafted = search_with_lines(work, hunt, find, lines, new, "your edits add or change")
    return _with_lines(grafted) if grafted is not None and grafted.is_shown else None


def _with_lines(grafted: Grafted) -> Searched:
    says = history_sentence(grafted.found.search)
    says = f"{says}; each version ran with {grafted.name}"
    return Searched(hunt=grafted.hunt, found=grafted.found, says=says)


def _by_tests(
    work: Work,
    baseline: Baseline,
    hunt: VersionHunt,
    find: Find,
    repository: Repository,
    tests: Sequence[str],
) -> Searched:
    """Search with today's tests; where that names no version, as the versions are."""
    alone = hunt
    if work.tests is not None:
        alone = replace(hunt, trial=work.tests.trial, oracle=work.tests.oracle)
    carried = with_what_they_need(tests)
    again = _with_check(work, alone, find, carried, shown=tests)
    if again is not None and (
        again.found.first_bad is not None
        or again.found.search.stopped in {StopReason.OUT_OF_TIME, StopReason.INTERRUPTED}
    ):
        return again
    plain = _as_it_is(replace(hunt, budget=work.budget), find)
    plain = _with_added_lines(work, baseline, plain, find, repository)
    if plain.hunt.versions.has_other_check:
        return plain
    if again is not None and again.found.search.suspects:
        return again
    if plain.found.first_bad is None and again is not None and _fails_everywhere(again.found):
        says = f"with today's check ({_listed(tests)}) every older version fails as well"
        return replace(plain, says=says, only_check=says)
    return _judged_alike(plain, _changed(repository, plain.found), carried, again)


def _as_it_is(hunt: VersionHunt, find: Find) -> Searched:
    found = find(hunt)
    return Searched(hunt=hunt, found=found, says=history_sentence(found.search))


def _with_check(
    work: Work, hunt: VersionHunt, find: Find, paths: Sequence[str], *, shown: Sequence[str] = ()
) -> Searched | None:
    """Search with today's check on each version; None: an end isn't what it should be."""
    versions = work.history.versions
    assert versions is not None
    carrying = replace(hunt, versions=versions.with_check(paths), budget=work.budget)
    try:
        found = find(carrying)
    except EndMisjudged as error:
        work.bench.emit(Notice(text=f"with today's {_listed(shown or paths)}: {error}"))
        return None
    says = history_sentence(found.search)
    if carrying.versions.has_other_check:
        says = f"{says}; each version ran with today's {_listed(shown or paths)}"
    return Searched(hunt=carrying, found=found, says=says)


def _judged_alike(
    plain: Searched, changed: Collection[str], check: Sequence[str], again: Searched | None
) -> Searched:
    """Return the answer; where its commit changed nothing but the check, that is said of it."""
    is_only = bool(changed) and all(_is_below(each, check) for each in changed)
    if not is_only:
        return plain
    name = plain.found.search.first_bad
    only = f"{name} only changed the check ({_listed(sorted(changed))})"
    if again is not None and _fails_everywhere(again.found):
        says = f"{only}; with today's check every older version fails as well"
    else:
        says = f"{only}; what older versions do with today's check is unknown"
    return replace(plain, says=says, only_check=says)


def _fails_everywhere(found: FirstBad) -> bool:
    search = found.search
    return search.stopped is StopReason.NO_GOOD_VERSION and all(
        each.verdict is Verdict.BAD for each in search.tested
    )


def _changed(repository: Repository, found: FirstBad) -> frozenset[str]:
    """Return the files that the first bad commit changed; empty: none is known."""
    if found.first_bad is None:
        return frozenset()
    try:
        before = commit_before(repository, found.first_bad, found.last_good)
    except NothingBetween:
        return frozenset()
    changes = path_changes(repository, before, found.first_bad)
    return frozenset(name for each in changes for name in (each.path, each.was) if name)


def _judges_anew(repository: Repository, found: FirstBad, script: str) -> bool:
    """Whether the first bad commit changed what a script asks: else the one before it passed the same check."""
    new = found.first_bad or ""
    before = commit_before(repository, new, found.last_good)
    old, today = text_at(repository, before, script, new), text_at(repository, new, script, new)
    asked = judgements_in(today or "")
    return old is None or asked is None or asked != judgements_in(old)


def _tests_of(work: Work, baseline: Baseline, repository: Repository) -> tuple[str, ...]:
    """Return the files of the failing test that git tracks, and of those that it needs."""
    kept = () if work.tests is None else work.tests.kept
    files = [*(each.partition("::")[0] for each in kept), *_failing_files(baseline)]
    return tuple(filter(is_test, tracked_in(repository, files, work.trial.cwd)))


def _scripts_of(work: Work, baseline: Baseline, repository: Repository) -> tuple[str, ...]:
    """Return the scripts that the command names and that judge other code of the repository."""
    failure = baseline.outcome.failure
    if failure is None or failure.kind not in _JUDGING:
        return ()
    scripts = tracked_in(repository, list(programs_of(work.trial)), work.trial.cwd)
    suffixes = {PurePosixPath(each).suffix for each in scripts}
    others = repository.get("ls-files", "-z").split("\0")
    has_code = any(PurePosixPath(each).suffix in suffixes for each in others if each not in scripts)
    return scripts if has_code else ()


def _failing_files(baseline: Baseline) -> list[str]:
    """Return the files in which the failure lies: those of its stack and of the failing tests."""
    failure = baseline.outcome.failure
    if failure is None:
        return []
    tests = (failure.signature.user_function or "").split(", ")
    return [
        *(each.path for each in failure.frames),
        *(each.partition("::")[0] for each in (*tests, failure.summary) if "::" in each),
    ]


def _is_below(path: str, places: Sequence[str]) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in places)


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(paths)
