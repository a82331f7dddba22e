"""The changes in an investigation: compared with what passed, and the first bad version."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.bisection.terms import Terms
from whet.core.errors import (
    CodeNotKept,
    EndMisjudged,
    NotARepository,
    NothingBetween,
    NothingDiffers,
)
from whet.core.observations.clue import Sureness
from whet.core.text.quantity import listed
from whet.core.verdict import Verdict
from whet.host.code.search_stamp import is_clean
from whet.host.process.git import GitFailedError, Repository
from whet.workbench.bisect.added_line import HEADING, AddedLine, added_line
from whet.workbench.bisect.bisect import MOST_JOBS
from whet.workbench.investigate.progress.investigating import Work
from whet.workbench.investigate.steps.grafts import stricter_check
from whet.workbench.investigate.steps.histories import (
    Searched,
    search_versions,
    search_with_edits,
)
from whet.workbench.investigate.steps.named_changes import with_part, with_subject
from whet.workbench.parts.edits import commit_before
from whet.workbench.trials.changed_part import SmallestPart
from whet.workbench.trials.command_search import CommandOptions
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.versions.history_sentence import history_sentence, next_of_history
from whet.workbench.versions.noisy_versions import Noise, find_first_bad
from whet.workbench.versions.versions import FirstBad, VersionHunt

_MOST_PART_TRIALS = 60
"""The trials for a part of a change, which the user didn't ask for."""


_PARENTS_OF_MERGE = 2

_EDITS = "the last commit doesn't fail this way: the cause is in your uncommitted edits"
_GOOD_SIDE = "with it the command passes: find the differences that decide"


def compare_with_good(work: Work, baseline: Baseline) -> None:
    """Say what decides between this command and a trial of it that passed, if there is one."""
    if work.history.is_pinned:
        return
    from whet.workbench.investigate.passing.good_trial import decided_by, decision_sentence
    from whet.workbench.trials.last_passed import passed_before

    trial = work.options.good_trial
    number = passed_before(work.bench, work.request, work.trial) if trial is None else trial
    # What fails only sometimes has passed with nothing else in its place.
    if number is None or (trial is None and not baseline.reproduction.is_deterministic):
        return
    options = _command_options(work)
    with work.steps.step(
        f"Compare with trial {number}", "it passed: find the differences that decide"
    ):
        try:
            result = decided_by(work.session, work.request, number, options)
        except (NothingDiffers, EndMisjudged, CodeNotKept) as error:
            if trial is not None:
                raise
            if not isinstance(error, NothingDiffers):
                work.steps.conclude(f"whet compared nothing: {error}")
        else:
            sentence = decision_sentence(result)
            work.steps.conclude(sentence)
            work.show(
                sentence,
                f"trial {number} of this command passed",
                next_step=f"Undo this difference, or check the code that reads it: trial {number} passed without it.",
            )


def compare_configurations(work: Work) -> None:
    """Find the settings that decide, where a configuration with which it passes is named."""
    if work.configurations is None:
        return
    from whet.workbench.investigate.passing.good_sides import deciding_settings

    good, bad = work.configurations.good, work.configurations.bad
    with work.steps.step(f"Compare {bad} with {good}", _GOOD_SIDE):
        result = deciding_settings(work.session, work.configurations, _command_options(work))
        work.steps.conclude(result)
        work.show(
            result,
            f"the command passes with {good}",
            at=(str(Path(work.trial.cwd, bad)), 0),
            next_step=f"Set it in {bad} as {good} does, or fix what reads it.",
        )


def compare_packages(work: Work) -> None:
    """Find the packages that decide, where a set of them with which it passes is named."""
    if not work.options.good_packages:
        return
    from whet.workbench.investigate.passing.good_sides import deciding_packages

    with work.steps.step(f"Compare packages with {work.options.good_packages}", _GOOD_SIDE):
        result = deciding_packages(
            work.session, work.request, work.packages, _command_options(work)
        )
        sentence = "; ".join([result[0], *map(history_sentence, result[1])])
        work.steps.conclude(sentence)
        work.show(
            sentence,
            f"the command passes with {work.options.good_packages}",
            next_step=f"Install the versions from {work.options.good_packages}, or read their changes.",
        )


def _command_options(work: Work) -> CommandOptions:
    return CommandOptions(budget=work.budget, jobs=work.options.jobs)


def search_history(work: Work, baseline: Baseline) -> None:
    """Find the version that brought the failure, and the part of it or of what isn't committed."""
    versions = work.history.versions
    if versions is None:
        if work.history.has_one_commit:
            _look_beside_commit(work, baseline)
        return
    reason = "run older versions, to find the change that causes the failure"
    with work.steps.step(f"Find the first bad {versions.kind}", reason):
        hunt = VersionHunt(
            session=work.session,
            trial=work.whole or work.trial,
            versions=versions,
            terms=Terms(),
            budget=work.budget,
            oracle=baseline.oracle,
            repeats=baseline.repeats,
            overlaps=(work.options.jobs or work.bench.jobs) > 1,
            jobs=work.options.jobs or min(work.bench.jobs, MOST_JOBS),
        )
        searched: Searched | None = None
        noise, jobs = _noise(baseline), work.options.jobs or work.bench.jobs

        def find(hunt: VersionHunt) -> FirstBad:
            return find_first_bad(hunt, noise, jobs=jobs)

        try:
            searched = search_versions(work, baseline, hunt, find)
        except EndMisjudged:
            if work.history.is_asked_for:
                raise
            searched = search_with_edits(work, baseline, hunt, find)
        if searched is None:
            remark, look = _why_not_committed(work)
            work.history = replace(work.history, versions=None, remark=remark)
            work.steps.conclude(f"{remark} ({look})")
        else:
            _tell_found(work, searched, baseline)
    if searched is None:
        _look_beside_commit(work, baseline)
    elif work.found is not None:
        _look_into_commit(work, searched.hunt, work.found, _added_by(work, searched, baseline))


def _added_by(work: Work, searched: Searched, baseline: Baseline) -> AddedLine | None:
    """Return the line that fails if the first bad commit adds it; None: it doesn't, or isn't known."""
    found, hunt = searched.found, searched.hunt
    is_commit = found.first_bad is not None and hunt.versions.kind == "commit"
    # Today's check has run on the good version as well: its lines are in both.
    if not is_commit or found.first_bad is None or hunt.versions.has_other_check:
        return None
    repository = Repository.containing(Path(work.trial.cwd))
    with suppress(NothingBetween, GitFailedError):
        before = commit_before(repository, found.first_bad, found.last_good)
        added = added_line(repository, work.trial, baseline, before, found.first_bad)
        if added is not None or not searched.stricter:
            return added
        return AddedLine(place=searched.stricter, is_check=True)
    return None


def _tell_found(work: Work, searched: Searched, baseline: Baseline) -> None:
    """Say which version it is; one that only changed the check isn't shown to be the cause."""
    search, says = searched.found.search, searched.says
    work.steps.conclude(says)
    if searched.only_check:
        shown = f": `git show {search.first_bad}`" if search.first_bad else ""
        step = f"See whether the check asks for what the program never did{shown}."
        why = "a commit is the cause only if the same check passes without it"
        work.show(says, why, next_step=step, sureness=Sureness.POSSIBLE)
        return
    work.found = searched.found
    good = searched.found.last_good
    if searched.data is not None and good is not None:
        repository = Repository.containing(Path(work.trial.cwd))
        work.is_guarded = not searched.data.changed_since(repository, good)
    work.history = replace(work.history, versions=searched.hunt.versions)
    if search.first_bad is not None:
        if search.kind == "commit" and searched.found.first_bad is not None:
            repository = Repository.containing(Path(work.trial.cwd))
            says = with_subject(says, repository, searched.found.first_bad)
        last, first = search.good, search.first_bad
        why = f"{last} is {search.old_term} and {first}, the next one, is {search.new_term}"
        added = _added_by(work, searched, baseline)
        if added is None:
            why, step = _of_merge(work, searched, why)
            work.show(says, why, next_step=step)
            return
        why = f"{why}; {added.remark(first)}"
        step = added.next_step(f"`git show {first}`")
        work.show(says, why, next_step=step, heading=HEADING)


def _of_merge(work: Work, searched: Searched, why: str) -> tuple[str, str]:
    """Return why it is the first bad version, and what to do; of a merge `git show` shows little."""
    found, search = searched.found, searched.found.search
    words = why, next_of_history(search)
    if search.kind != "commit" or found.first_bad is None:
        return words
    repository = Repository.containing(Path(work.trial.cwd))
    parents = _parents_of_merge(repository, found.first_bad)
    if not parents:
        return words
    good = {each.label for each in search.tested if each.verdict is Verdict.GOOD}
    if good.issuperset(map(searched.hunt.versions.label, parents)):
        why = f"{why}; it is a merge, and each of its parents is {search.old_term}: what they change doesn't go together"
    look = f"`git diff {search.good} {search.first_bad}`"
    return why, f"Look at what the merge brings to {search.good}: {look}."


def _parents_of_merge(repository: Repository, commit: str) -> list[str]:
    parents = repository.get("rev-list", "--parents", "-n1", commit).split()[1:]
    return parents if len(parents) >= _PARENTS_OF_MERGE else []


def _look_into_commit(
    work: Work, hunt: VersionHunt, first_bad: FirstBad, added: AddedLine | None
) -> None:
    """Find the part of the first bad commit that brings the failure."""
    if first_bad.first_bad is None or hunt.versions.kind != "commit":
        return
    from whet.workbench.bisect.culprit_part import part_of_first_bad, part_sentence

    reason = "remove parts of the commit, to find those that cause the failure"
    with work.steps.step(f"Search {first_bad.search.first_bad}", reason):
        repository = Repository.containing(Path(work.trial.cwd))
        trials = _MOST_PART_TRIALS + first_bad.search.trials
        hunt = replace(hunt, budget=replace(work.budget, trials=trials))
        work.part = part_of_first_bad(hunt, first_bad, repository)
        if work.part is not None:
            work.steps.conclude(part_sentence(work.part))
            if work.shown and added is None:
                is_merge = bool(_parents_of_merge(repository, first_bad.first_bad))
                into = first_bad.search.good if is_merge else ""
                work.shown[-1] = with_part(work.shown[-1], work.part, repository, merged_into=into)
            why = "it fails with this part alone, and without the commit it doesn't"
            _show_part(work, work.part, why, added)


def _look_beside_commit(work: Work, baseline: Baseline) -> None:
    """Find what brings the failure beside the last commit: an edit, or a file that git doesn't track."""
    if is_clean(work.trial, work.report.with_earlier()):
        _look_at_untracked(work, baseline)
    else:
        _look_at_edits(work, baseline)


def _look_at_untracked(work: Work, baseline: Baseline) -> None:
    """Find which of the files that git doesn't track bring the failure, such as a cache."""
    from whet.workbench.files.opened_files import untracked_files
    from whet.workbench.parts.edits import part_of_untracked

    files = untracked_files(work.session, work.trial, baseline.oracle, left_out=work.folder)
    if not files:
        return
    budget = replace(work.budget, trials=_MOST_PART_TRIALS)
    reason = "the command reads files that git doesn't track: see whether it passes without them"
    with work.steps.step("Search the untracked files", reason):
        try:
            part = part_of_untracked(
                work.session, work.trial, files,
                CommandOptions(budget=budget, jobs=work.options.jobs), baseline=baseline,
            )  # fmt: skip
        except (NothingBetween, EndMisjudged) as error:
            work.steps.conclude(f"whet can't tell: {error}")
            return
        paths = list(dict.fromkeys(place.path for place in part.places))
        names = listed([f"`{each}`" for each in paths])
        says = f"it fails with {names} and passes without: git doesn't track {'it' if len(paths) == 1 else 'them'}"
        work.steps.conclude(says)
        if part.is_verified:
            repository = Repository.containing(Path(work.trial.cwd))
            work.show(
                says, "the last commit passes alone, and fails with nothing else beside it",
                at=(str(Path(repository.top, paths[0])), 0),
                next_step=f"Remove or rebuild {names}. If the command made it, see whether it is made"
                " again when what it was made from changes.",
            )  # fmt: skip


def _look_at_edits(work: Work, baseline: Baseline) -> None:
    """Find which of the uncommitted changes bring the failure."""
    from whet.workbench.bisect.culprit_part import part_sentence
    from whet.workbench.parts.edits import part_of_working_tree

    passes, find = (
        "it passes without your uncommitted edits",
        "find the edits that cause the failure",
    )
    is_known = not work.history.has_one_commit
    reason = f"{passes}: {find}" if is_known else f"see whether {passes}, and {find}"
    budget = replace(work.budget, trials=_MOST_PART_TRIALS)
    with work.steps.step("Search your edits", reason):
        try:
            work.part = part_of_working_tree(
                work.session, work.trial,
                CommandOptions(budget=budget, jobs=work.options.jobs), baseline=baseline,
            )  # fmt: skip
        except (NothingBetween, EndMisjudged, NotARepository) as error:
            work.steps.conclude(f"whet didn't search them: {error}")
        else:
            work.steps.conclude(part_sentence(work.part))
            if work.history.has_one_commit:
                work.history = replace(work.history, remark=_EDITS)
            why = "it fails with this part alone, and without your edits it doesn't"
            repository = Repository.containing(Path(work.trial.cwd))
            added = added_line(repository, work.trial, baseline, "HEAD", work.part.commit)
            stricter = stricter_check(repository, work.trial, baseline, work.part)
            if added is None and stricter:
                added = AddedLine(place=stricter, is_check=True)
            _show_part(work, work.part, why, added, repository.top)


def _show_part(
    work: Work, part: SmallestPart, why: str, added: AddedLine | None, top: Path | None = None
) -> None:
    """Keep the part of a change as shown, if a run of the search has shown it.

    Args:
        work: the investigation.
        part: the part.
        why: what shows it.
        added: the line that fails, if the change adds it.
        top: where the files are as they are after the change; None: they may have changed since.
    """
    from whet.workbench.bisect.culprit_part import next_of_part, part_sentence

    if not part.is_verified:
        return
    at = ("", 0)
    if top is not None and part.decides and part.decides[0].first:
        at = (str(Path(top, part.decides[0].path)), part.decides[0].first)
    if part.decides_by_undoing:
        why = "with all of the change it fails, and without this part of it it passes"
    next_step = next_of_part(part)
    if added is not None:
        why = f"{why}; {added.remark('the change')}"
        next_step = added.next_step(", ".join(map(str, part.decides)))
    work.show(
        part_sentence(part), why, at=at, next_step=next_step,
        heading="" if added is None else HEADING,
    )  # fmt: skip


def _noise(baseline: Baseline) -> Noise:
    """Return what the reproduction says: it was run often enough to see whether it always fails."""
    reproduction = baseline.reproduction
    return Noise(failures=reproduction.same_failures, is_certain=not reproduction.is_deterministic)


def _why_not_committed(work: Work) -> tuple[str, str]:
    """Return why the last commit doesn't fail where the working tree does, and where to look."""
    if is_clean(work.trial, work.report.with_earlier()):
        remark = "the last commit alone doesn't fail this way: it needs an untracked file"
        return remark, "`git status --ignored`"
    return _EDITS, "`git status`, `git diff`"
