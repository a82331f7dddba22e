"""Whether another release of the package that fails passes, and which functions differ."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.bisection.terms import FIXED, Terms
from whet.core.budget import StopReason
from whet.core.errors import WhetError
from whet.core.event import Notice
from whet.core.failure import Failure, FailureKind
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.text.quantity import shown_count, shown_seconds
from whet.core.text.record import integer, text
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.clues.changed_functions import ChangedFunction, changed_functions
from whet.evidence.clues.closer_look import told_in
from whet.host.python.installed_packages import is_pure, package_of, python_at
from whet.host.python.interpreters import Search
from whet.host.trial.agent_tasks import NO_TASKS, AgentTasks
from whet.workbench.investigate.progress.investigating import Work
from whet.workbench.trials.investigation import VersionSearch
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.tested import Tested
from whet.workbench.versions.releases import ReleaseVersions, newer_releases, releases
from whet.workbench.versions.versions import FirstBad, VersionHunt

_MOST_PACKAGES = 2
_MOST_TRIALS = 14
_MOST_SECONDS, _LEAST_SECONDS, _TIMES = 60.0, 10.0, 20
"""The limits of this experiment, which the user didn't ask for."""

_WHY = "it fails in an installed package: another release may work"
_SHOWN = 3
_OF_TESTS = re.compile(r"(?:^|_)(?:unit)?test(?:s|ing|case)?(?:_|\.|$)")


@value_class(kw_only=True)
class Installed:
    """A package that the failure goes through.

    Attributes:
        name: its name.
        version: the release that is installed.
        is_pure: it is Python alone, so that a release that comes as source is soon installed.
    """

    name: str
    version: str
    is_pure: bool = False


def packages_of_failure(work: Work, failure: Failure) -> tuple[Installed, ...]:
    """Return the packages that the user's code called and that failed, the innermost first."""
    bench, trial = work.bench, work.trial
    inherited = {**bench.environment, **trial.environment}
    path = Search(cwd=trial.cwd, environment=inherited).python_of(trial.command)
    python = python_at(path, state=bench.project.state) if path else None
    if python is None:
        return ()
    last = max((n for n, each in enumerate(failure.frames) if each.in_user_code), default=-1)
    folders = tuple(python.site_folders(inherited))
    files = dict.fromkeys(each.path for each in reversed(failure.frames[last + 1 :]))
    if failure.kind is FailureKind.ASSERTION and any(map(_is_for_tests, files)):
        return ()  # a helper of a package says what the user's line asked it to check
    packages = (package_of(file, folders) for file in files)
    named_releases = dict.fromkeys((name, version) for name, version in packages if name)
    return tuple(
        Installed(name=name, version=version, is_pure=is_pure(name, folders))
        for name, version in list(named_releases)[:_MOST_PACKAGES]
    )


def _is_for_tests(path: str) -> bool:
    """Whether a module of a package is there for the tests of others, such as `numpy.testing`."""
    return any(map(_OF_TESTS.search, path.split("/")[-3:]))


def look_at_releases(work: Work, baseline: Baseline) -> tuple[Clue, ...]:
    """Try other releases of the packages that fail, and say which of them don't.

    Their difference, as far as the failing run executes it, is where the cause lies.
    """
    failure = baseline.outcome.failure
    is_wanted = work.options.tries_releases and not work.history.is_pinned
    if failure is None or not is_wanted or not baseline.reproduction.is_deterministic:
        return ()
    clues: list[Clue] = []
    packages = packages_of_failure(work, failure)
    if packages and work.seconds < work.most_seconds:
        left = shown_seconds(work.budget.wall_seconds or 0.0)
        text = f"other releases have to be installed: that may take up to {left} more"
        work.bench.emit(Notice(text=text))
    for package in packages:
        with work.steps.step(f"Try other releases of {package.name}", _WHY):
            try:
                release_clues, sentence = _Releases(
                    work=work, baseline=baseline, package=package
                ).look()
            except WhetError as error:
                work.steps.conclude(f"unknown: {error}")
                continue
            clues += release_clues
            work.steps.conclude(sentence)
        if clues:
            break
    return tuple(clues)


@dataclass(slots=True, kw_only=True)
class _Releases:
    work: Work
    baseline: Baseline
    package: Installed
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    judged: dict[str, Verdict] = field(default_factory=dict[str, Verdict])

    def look(self) -> tuple[list[Clue], str]:
        """Return what the releases say of the cause, and the same in a sentence."""
        own, name = self.package.version, self.package.name
        newer = newer_releases(self.work.bench, self.work.trial, name, own)
        candidates = list(_to_try(own, newer))
        for version in candidates:
            versions = self._releases(own, version, FIXED)
            if self._run(versions, version).verdict is Verdict.GOOD:
                search = self._search(versions, FIXED)
                if search.first_bad is not None and search.last_good is not None:
                    return self._fixed(versions, fails=search.last_good, passes=search.first_bad)
        versions = self._releases("", own, None)
        search = self._search(versions, Terms())
        later = f"; so does {candidates[-1]}" if candidates and self._fails(candidates[-1]) else ""
        if search.first_bad is None or search.last_good is None:
            return [], f"{name} {own} fails{later}{none_older(own, self.judged, search.search)}"
        clues, sentence = self._broken(versions, passes=search.last_good, fails=search.first_bad)
        return clues, f"{sentence}{later}"

    def _releases(self, good: str, bad: str, terms: Terms | None) -> ReleaseVersions:
        """Return some releases; to compile C takes longer than all the rest."""
        work, name, is_built = self.work, self.package.name, self.package.is_pure
        return releases(work.bench, work.trial, name, good, bad, terms=terms, compiles=is_built)

    def _fails(self, version: str) -> bool:
        return self.judged.get(version) is Verdict.BAD

    def _run(
        self, versions: ReleaseVersions, version: str, tasks: AgentTasks = NO_TASKS
    ) -> Tested[None]:
        session = replace(self.work.session, tasks=tasks)
        ran = session.run(
            versions.on(self.work.trial, version), self.baseline.oracle,
            f"{self.package.name} {version}", place=versions.place,
        )  # fmt: skip
        self.numbers[version], self.judged[version] = ran.own_number, ran.verdict
        return ran

    def _search(self, versions: ReleaseVersions, terms: Terms) -> FirstBad:
        budget = self.work.budget
        usual = _LEAST_SECONDS + _TIMES * self.baseline.reproduction.wall_seconds
        seconds = min(budget.wall_seconds or _MOST_SECONDS, _MOST_SECONDS, usual)
        search = VersionHunt(
            session=self.work.session, trial=self.work.trial, versions=versions, terms=terms,
            oracle=self.baseline.oracle,
            budget=replace(budget, trials=_MOST_TRIALS, wall_seconds=seconds),
        ).run()  # fmt: skip
        run = {each.label: each.trial for each in search.search.tested}
        for version in (search.first_bad, search.last_good):
            number = run.get(versions.label(version)) if version is not None else None
            if version is not None and number is not None:
                self.numbers[version] = number
        return search

    # ---- what was found ----

    def _fixed(
        self, versions: ReleaseVersions, *, fails: str, passes: str
    ) -> tuple[list[Clue], str]:
        sentence = f"{self.package.name} fails this way with {fails}, and passes since {passes}"
        step = f"Upgrade: `pip install '{self.package.name}>={passes}'`."
        return self._clues(versions, sentence, step, fails=fails, passes=passes)

    def _broken(
        self, versions: ReleaseVersions, *, passes: str, fails: str
    ) -> tuple[list[Clue], str]:
        sentence = f"{self.package.name} passes with {passes}, and fails this way since {fails}"
        step = f"Until it is fixed, `{self.package.name}=={passes}` doesn't have this failure."
        return self._clues(versions, sentence, step, fails=fails, passes=passes)

    def _clues(
        self, versions: ReleaseVersions, sentence: str, step: str, *, fails: str, passes: str
    ) -> tuple[list[Clue], str]:
        folder = versions.folder(fails)
        functions = changed_functions(_sources(folder), _sources(versions.folder(passes)))
        order = self._executed(versions, fails, folder)
        suspects = sorted(
            (each for each in functions if (each.file, each.line) in order),
            key=lambda each: -order[each.file, each.line],
        )
        trials = tuple(self.numbers[each] for each in (fails, passes) if each in self.numbers)
        clue = Clue(says=sentence, why=_WHY, sureness=Sureness.SHOWN, trials=trials, next_step=step)
        if not suspects:
            return [clue], sentence
        first, *others = suspects[:_SHOWN]
        at = Placing(str(folder))
        where = f"{_named(first)} at {at(str(folder / first.file), first.line)}"
        more = f"; then {', '.join(map(_named, others))}" if others else ""
        count = f"this run executes {len(suspects)} of the {len(functions)} functions that differ"
        says = f"{sentence}: {count}, last {where}{more}"
        own = _path_in_failure(self.baseline, first)
        return [replace(clue, says=says, path=own, line=first.line if own else 0)], says

    def _executed(
        self, versions: ReleaseVersions, version: str, folder: Path
    ) -> dict[tuple[str, int], int]:
        """Return which functions the failing run calls, by when; those that failed come last."""
        outcome = self._run(versions, version, AgentTasks(closer=f"functions:{folder}/")).outcome
        functions = [each for each in told_in(outcome.evidence) if each.get("kind") == "function"]
        order = {
            (text(each, "file").removeprefix(f"{folder}/"), integer(each, "line")): number
            for number, each in enumerate(functions)
        }
        frames = () if outcome.failure is None else outcome.failure.frames
        for number, frame in enumerate(frames, len(order)):
            file = frame.path.removeprefix(f"{folder}/")
            begins = [
                line for source_file, line in order if source_file == file and line <= frame.line
            ]
            if begins:
                order[file, max(begins)] = number
        return order


def none_older(own: str, judged: Mapping[str, Verdict], search: VersionSearch) -> str:
    """Say that no older release passes, as far as they were tried."""
    from packaging.version import Version

    verdicts = {**judged, **{each.label: each.verdict for each in search.tested}}
    older = sorted((each for each in verdicts if Version(each) < Version(own)), key=Version)
    if not older:
        says = "; no older release was tried"
    elif search.stopped is StopReason.NO_GOOD_VERSION:
        judged_ones = [each for each in older if verdicts[each] is not Verdict.SKIP]
        says = f", and none of the {shown_count(len(judged_ones), 'older release')} judged passes"
        skipped = len(older) - len(judged_ones)
        says += f"; {skipped} more could not be judged" if skipped else ""
    else:
        which = older[0] if len(older) == 1 else f"{older[-1]} … {older[0]}"
        says = f", and so does each of the {len(older)} older releases tried: {which}"
    return says if search.stopped.is_complete else f"{says}; {search.stopped.value}"


def _to_try(own: str, newer: Sequence[str]) -> Sequence[str]:
    """Return the last release of the series that is installed, of those like it, and of all."""
    from packaging.version import Version

    release = Version(own).release
    likes = [
        [each for each in newer if Version(each).release[:length] == release[:length]]
        for length in (2, 1, 0)
    ]
    return tuple(dict.fromkeys(each[-1] for each in likes if each))


def _sources(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text("utf-8", "replace")
        for path in folder.rglob("*.py")
        if path.is_file()
    }


def _named(function: ChangedFunction) -> str:
    return f"`{function.name}`" if function.name else f"`{function.file}` itself"


def _path_in_failure(baseline: Baseline, function: ChangedFunction) -> str:
    """Return where the file is that the user's own Python imports, if the failure tells."""
    failure = baseline.outcome.failure
    frames = () if failure is None else failure.frames
    return next((each.path for each in frames if each.path.endswith(f"/{function.file}")), "")
