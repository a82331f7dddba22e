"""`whet bisect --packages`: which of many packages causes the failure, and since which release."""

import os
import re
from collections.abc import Mapping
from dataclasses import field, replace
from datetime import date
from pathlib import Path

from whet.bisection.pins import NoPinsError, Pins, read_pins
from whet.bisection.terms import Terms
from whet.core.budget import Budget
from whet.core.difference import Change
from whet.core.errors import BadUsage, NothingDiffers, PayloadMissing, SettingsUnreadable, WhetError
from whet.core.event import Notice
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.files.files import write_atomically
from whet.host.python.index_settings import IndexSettings
from whet.host.python.python_interpreter import PythonFacts, python_for
from whet.host.python.resolution import resolved_as_of
from whet.host.trial.environment_facts import packages_of
from whet.reduction.between import Between
from whet.search.subsets.hierarchy import Numbers
from whet.workbench.delta.cases import Cases, Result
from whet.workbench.delta.delta import Delta, delta
from whet.workbench.files.results import place_beside
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.command_search import CommandOptions
from whet.workbench.trials.investigation import VersionSearch
from whet.workbench.trials.payload import read_payload
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Place, Session, open_session
from whet.workbench.versions.releases import environments_for, releases
from whet.workbench.versions.versions import VersionHunt

NOW = "now"
"""An end: what the command's Python sees."""

_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]+)?")
_RELEASED = re.compile(r"[\d!.]+[\w.+-]*")
_MOST_GUILTY = 3
"""With at most this many packages whet searches each one's first bad release; with more, none is to blame alone."""


@value_class(kw_only=True)
class CulpritPackages:
    """Which packages decide, and with which release each of them began to.

    Attributes:
        delta: the packages.
        releases: the search for the release, for each of them where there is one between.
    """

    delta: Delta
    releases: tuple[VersionSearch, ...] = ()


@value_class(kw_only=True)
class PackageOptions:
    """Where to search.

    Attributes:
        good: a file of pins, ``now`` or a day; or the packages, where they were read before.
        bad: another one.
        with_prereleases: releases such as 2.0rc1 count too.
        budget: when to stop.
        jobs: trials at once; None: all cores.
    """

    good: "str | PackageSet" = ""
    bad: str = ""
    with_prereleases: bool = False
    budget: Budget = field(default_factory=Budget)
    jobs: int | None = None


def bisect_packages(
    bench: Workbench,
    request: TrialRequest,
    options: PackageOptions,
    *,
    within: Session | None = None,
) -> CulpritPackages:
    """Find the packages that decide, then the first bad release of each.

    Args:
        bench: the workbench.
        request: the command.
        options: where to search.
        within: the session that this is a step of.

    Raises:
        BadUsage, PayloadMissing, SettingsUnreadable: if an end is no set of packages.
        NothingDiffers: if both are the same.
        EndMisjudged: if both pass, or both fail.
        ReleaseNotInstallable: if one of the two can't be installed.
    """
    cases = cases_of_packages(bench, request, options.good, options.bad)
    limits = CommandOptions(budget=options.budget, jobs=options.jobs)
    culprits = delta(bench, request, cases, limits, within=within)
    if not culprits.stopped.is_complete:
        return CulpritPackages(delta=culprits)
    left = options.budget.less(culprits.wall_seconds, 0)
    searches = [
        search
        for change in culprits.fails.changes[:_MOST_GUILTY]
        if len(culprits.fails.changes) <= _MOST_GUILTY
        if (
            search := _first_bad(
                bench, request, replace(options, budget=left), culprits, change, within
            )
        )
    ]
    return CulpritPackages(delta=culprits, releases=tuple(searches))


def _first_bad(
    bench: Workbench,
    request: TrialRequest,
    options: PackageOptions,
    result: Delta,
    change: Change,
    within: Session | None,
) -> VersionSearch | None:
    """Search the releases of one package, the others as they are where it fails."""
    if change.before is None or change.after is None:
        return None
    from packaging.version import Version

    old, new, terms = change.before, change.after, Terms()
    if Version(old) > Version(new):  # it went back: the release that ended the failure is searched
        old, new, terms = new, old, Terms.parse("bad,good")
    trial = result.fails.trial
    try:
        versions = releases(
            bench, trial, change.name, old, new,
            with_prereleases=options.with_prereleases, terms=terms,
        )  # fmt: skip
    except WhetError as error:
        bench.emit(Notice(text=f"whet doesn't search the releases of {change.name}: {error}"))
        return None
    with open_session(bench, "bisect", request, trial, within=within) as session:
        hunt = VersionHunt(
            session=session, trial=trial, versions=versions, terms=terms, budget=options.budget,
            overlaps=(options.jobs or bench.jobs) > 1,
        )  # fmt: skip
        try:
            search = hunt.run().search
        except WhetError as error:  # with the others as they are an end can't be installed
            bench.emit(Notice(text=f"whet doesn't search the releases of {change.name}: {error}"))
            return None
        session.conclude(search.stopped, search.facts)
    return search


@value_class(kw_only=True)
class PackageSet:
    """Packages, as the user named them, and the file that they stand in, if there is one."""

    shown: str
    versions: Mapping[str, str]
    path: Path


def cases_of_packages(
    bench: Workbench, request: TrialRequest, good: str | PackageSet, bad: str
) -> Cases:
    """Return two sets of packages and those that differ.

    Args:
        bench: the workbench.
        request: the command.
        good: the set with which it passes: a file of pins, ``now``, a day, or what was read of it.
        bad: the set with which it fails.

    Raises:
        BadUsage: if an end is none of these, or both are days.
        PayloadMissing, SettingsUnreadable: for a file.
        NothingDiffers: if both are the same.
    """
    trial = bench.build_trial(request)
    reader = _reader(bench, trial)
    old, new = reader.both(good, bad)
    place = environments_for(bench, reader.inherited, reader.python).place
    return _cases(bench, bench.for_search(trial, [old.path, new.path]), old, new, place)


def pins_named(bench: Workbench, trial: Trial, word: str) -> Mapping[str, str]:
    """Return the packages that a word names: a file of pins, or ``now``.

    Raises:
        PayloadMissing, SettingsUnreadable: for a file.
    """
    return _reader(bench, trial).named(word).versions


def read_set(bench: Workbench, trial: Trial, word: str) -> str | PackageSet:
    """Return the packages that a word names; a day itself, for it stands for those of another set.

    Raises:
        PayloadMissing, SettingsUnreadable: if it names neither a file of pins nor a day.
    """
    reader = _reader(bench, trial)
    return word if reader.is_day(word) else reader.named(word)


def _reader(bench: Workbench, trial: Trial) -> "_Reader":
    inherited = {**bench.environment, **trial.environment}
    python = PythonFacts.ask(python_for(trial.command, inherited, Path(trial.cwd)))
    return _Reader(bench=bench, trial=trial, inherited=inherited, python=python)


@value_class(kw_only=True)
class _Reader:
    bench: Workbench
    trial: Trial
    inherited: Mapping[str, str]
    python: PythonFacts

    def both(self, good: str | PackageSet, bad: str) -> tuple[PackageSet, PackageSet]:
        """Return the two sets; a day stands for the packages of the other one."""
        day = good if isinstance(good, str) and self.is_day(good) else ""
        if day and self.is_day(bad):
            raise BadUsage(
                f"`{day}` and `{bad}` are both dates, without any packages",
                hint=f"give one as a file, or as `now`: `whet bisect --packages {day} now`",
            )
        if day:
            new = self.named(bad)
            return self._on_day(day, new), new
        old = self.named(good) if isinstance(good, str) else good
        return old, self._on_day(bad, old) if self.is_day(bad) else self.named(bad)

    def _path(self, word: str) -> Path:
        return Path(os.path.abspath(Path(self.trial.cwd, word)))

    def is_day(self, word: str) -> bool:
        """Whether a word is a day of the calendar, and no file."""
        try:
            date.fromisoformat(word[: len("2024-05-01")])
        except ValueError:
            return False
        return bool(_DAY.fullmatch(word)) and not self._path(word).exists()

    def named(self, word: str) -> PackageSet:
        """Return the set that a word names: a file of pins, or ``now``."""
        path = self._path(word)
        if word == NOW and not path.exists():
            packages = packages_of(
                self.trial.command, Path(self.trial.cwd), self.inherited,
                state=self.bench.project.state,
            )  # fmt: skip
            versions = {name: each for name, each in packages.items() if _RELEASED.fullmatch(each)}
            return PackageSet(shown=word, versions=versions, path=path.with_name("now.txt"))
        try:
            content = read_payload(path, word, may_be_empty=True)
        except PayloadMissing as error:
            raise PayloadMissing(
                f"`{word}` is neither a file nor a date nor `{NOW}`",
                hint=f"write one: `pip freeze > {word}`; write a date as 2024-05-01",
            ) from error
        return PackageSet(shown=word, versions=self._pins(content, word).versions, path=path)

    def _on_day(self, day: str, other: PackageSet) -> PackageSet:
        content = resolved_as_of(
            other.versions, day, python=self.python,
            settings=IndexSettings.configured(self.inherited), environment=self.inherited,
        )  # fmt: skip
        pins = self._pins(content, day).versions
        common = {name: each for name, each in pins.items() if name in other.versions}
        return PackageSet(shown=day, versions=common, path=self._path(f"{day}.txt"))

    def _pins(self, content: bytes, name: str) -> Pins:
        try:
            pins = read_pins(content, self.python)
        except NoPinsError as error:
            raise SettingsUnreadable(
                f"`{name}` pins no packages: {error}",
                hint=f"write it with `pip freeze > {name}`, or name a lock file",
            ) from error
        for why in pins.left_out:
            self.bench.emit(Notice(text=f"{name}: skipped: {why}"))
        return pins


def _cases(
    bench: Workbench, trial: Trial, good: PackageSet, bad: PackageSet, place: Place
) -> Cases:
    between = Between(dict(good.versions), dict(bad.versions))
    if not between.leaves:
        raise NothingDiffers(
            f"`{good.shown}` and `{bad.shown}` are the same packages",
            hint="so no package decides: search the code: `whet bisect GOOD BAD`",
        )

    def on(numbers: Numbers) -> Trial:
        return replace(trial, packages=between.texts(numbers))

    def result(numbers: Numbers, word: str) -> Result:
        return _result(bench, bad, on(numbers), word)

    changes = (leaf.as_change("package", str) for leaf in between.leaves)
    return Cases(
        what="packages", good=good.shown, bad=bad.shown, changes=tuple(changes),
        paths=between.paths, trial=on, result=result,
        turned=lambda: _cases(bench, trial, bad, good, place), place=place,
    )  # fmt: skip


def _result(bench: Workbench, bad: PackageSet, trial: Trial, word: str) -> Result:
    path = place_beside(bench, bad.path.with_suffix(".txt"), word)
    pins = "".join(f"{name}=={version}\n" for name, version in trial.packages.items())

    def write() -> None:
        bench.payload_store.keep(pins.encode())
        write_atomically(path, pins.encode())

    shown_path = os.path.relpath(path, trial.cwd)
    return Result(path=path, shown=shown_path, write=write, trial=trial)
