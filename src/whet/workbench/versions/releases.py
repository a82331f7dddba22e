"""The releases of a package as versions to search."""

import os
import platform
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import ClassVar

from whet.bisection.releases import (
    Release,
    ReleaseHistory,
    ReleaseLine,
    installable_release,
    releases_of,
)
from whet.bisection.terms import Terms
from whet.core.errors import UnknownRelease
from whet.core.executor import Executor
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.python.environments import (
    PYTHON,
    Beside,
    PackageEnvironment,
    PackageEnvironments,
    default_place,
)
from whet.host.python.index_settings import IndexSettings
from whet.host.python.installed_packages import python_at
from whet.host.python.interpreters import Search
from whet.host.python.package_index import Listing, PackageIndex
from whet.host.python.python_interpreter import PythonFacts, python_for
from whet.host.trial.environment_facts import packages_of
from whet.search.history.bisection import Bisection
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.placing import PlacingExecutor
from whet.workbench.versions.version_source import Versions


@value_class(kw_only=True)
class Environments:
    """Runs trials with other releases, in Python environments of whet's own.

    Attributes:
        environments: makes them, once each.
        bench: the workbench.
        as_of: for each version the moment whose dependencies it gets; empty: today's.
        pythons: where each Python is, by version, for trials that are run on several.
        beside: the packages of the command's own Python, which stay as they are; None: they are
            not seen.
    """

    environments: PackageEnvironments
    bench: Workbench
    as_of: Mapping[str, str] = field(default_factory=dict[str, str])
    pythons: Mapping[str, str] = field(default_factory=dict[str, str])
    beside: Beside | None = None

    def place(self, executor: Executor) -> PlacingExecutor:
        """Wrap what runs a trial, so that it runs in the environment of its releases."""
        return PlacingExecutor(inner=executor, prepare=self.prepare)

    def on_python(self, version: str) -> PackageEnvironments:
        """Return what makes environments of a Python; no version: of the command's own."""
        if not version:
            return self.environments
        return replace(self.environments, python=PythonFacts.ask(self.pythons[version]))

    def folder_of(self, package: str, version: str) -> Path:
        """Return where the files of a release are, on its own."""
        moment = self.as_of.get(version, "")
        environment = self.environments.environment_for(
            {package: version}, as_of=moment, beside=self.beside
        )
        return environment.packages

    @contextmanager
    def prepare(self, trial: Trial) -> Generator[Trial, None, None]:
        """Give the trial that runs in the environment of its releases."""
        if not trial.packages:
            yield trial
            return
        pins = dict(trial.packages)
        makes = self.on_python(pins.pop(PYTHON, ""))
        moments = [self.as_of.get(version, "") for version in pins.values()]
        environment = makes.environment_for(
            pins, as_of=max(moments, default=""), beside=self.beside
        )
        inherited = {**self.bench.environment, **trial.environment}
        command, overrides = environment.command_in(trial.command, inherited.get("PATH", ""))
        if self.beside is not None:
            # What the user added comes before all that is installed, but for the release itself.
            if own := inherited.get("PYTHONPATH", ""):
                overrides["PYTHONPATH"] = os.pathsep.join([str(environment.packages), own])
                trial = replace(trial, environment={**trial.environment, **overrides})
            command = self._on_its_python(command, trial, inherited, environment)
        yield replace(
            trial,
            command=command,
            environment={**overrides, **trial.environment, "PATH": overrides["PATH"]},
            packages={},
        )

    def _on_its_python(
        self,
        command: tuple[str, ...],
        trial: Trial,
        inherited: Mapping[str, str],
        environment: PackageEnvironment,
    ) -> tuple[str, ...]:
        """Return the command; a script of the command's own Python, such as `pytest`, runs on this one."""
        search = Search(cwd=trial.cwd, environment=inherited)
        is_of_python = command == trial.command and bool(search.python_of(command[:1]))
        script = search.script_of(command[0]) if is_of_python else ""
        return (str(environment.python), script, *command[1:]) if script else command


def releases(  # noqa: PLR0913 - the options of one search
    bench: Workbench,
    trial: Trial,
    package: str,
    good: str,
    bad: str,
    *,
    with_prereleases: bool = False,
    as_of_release: bool = False,
    terms: Terms | None = None,
    compiles: bool = True,
) -> "ReleaseVersions":
    """Return the releases from ``good`` to ``bad``.

    Without a good one those before ``bad``; without a bad one up to what is installed, or the
    newest.

    Raises:
        UnknownPackage, UnknownRelease, IndexUnreachable, SameEnds, EndsReversed: as they say.
    """
    inherited = {**bench.environment, **trial.environment}
    python = PythonFacts.ask(python_for(trial.command, inherited, Path(trial.cwd)))
    listing = PackageIndex.configured(inherited).listing(package)
    candidates = {release.version: release for release in releases_of(listing, python)}
    installed = _present(bench, trial, package)
    bad = bad or installed or _newest(listing, candidates)
    new = installable_release(listing, tuple(candidates.values()), bad)

    known_to = _Listed(listing, python, with_prereleases, terms)
    between = known_to.between(good, bad) if good else None
    latest = {each.version: each.latest_upload for each in candidates.values()}
    environments = environments_for(bench, inherited, python, latest if as_of_release else {})
    if not compiles:
        quick = replace(environments.environments, compiles=False)
        environments = replace(environments, environments=quick)
    if installed and not as_of_release:
        environments = replace(environments, beside=_beside(bench, trial, inherited))

    return ReleaseVersions(
        subject=package,
        old=None if between is None else between.good,
        new=new.version,
        place=environments.place,
        remarks=(*hidden_by(trial, package), *(() if between is None else between.remarks)),
        installed=installed if environments.beside is not None else "",
        environments=environments,
        known=candidates,
        listed=known_to,
    )


@value_class
class _Listed:
    """What an index lists of a package, and which of it counts."""

    listing: Listing
    python: PythonFacts
    with_prereleases: bool
    terms: Terms | None

    def between(self, old: str, new: str) -> ReleaseHistory:
        return ReleaseHistory.between(
            self.listing, old, new,
            python=self.python, with_prereleases=self.with_prereleases, terms=self.terms,
        )  # fmt: skip

    def before(self, new: str) -> ReleaseLine:
        return ReleaseLine.before(
            self.listing, new, python=self.python, with_prereleases=self.with_prereleases
        )


@value_class(kw_only=True)
class ReleaseVersions(Versions):
    """The releases of a package.

    Attributes:
        environments: runs trials with them.
        known: all releases, by their version.
        listed: what the index lists.
    """

    kind: ClassVar[str] = "release"
    environments: Environments
    known: Mapping[str, Release]
    listed: _Listed

    def describe(self, versions: Sequence[str]) -> Mapping[str, str]:
        """Return the days on which releases came out."""
        return {each: self.known[each].uploaded[:10] for each in versions if each in self.known}

    def details(self, version: str) -> str:
        """Return its version and the day on which it came out."""
        release = self.known.get(version)
        if release is None or not release.uploaded:
            return ""
        return f"{release.version}, released {release.uploaded[:10]}"

    def titles(self, versions: Sequence[str]) -> Mapping[str, str]:
        """Return versions with what is to be said of them."""
        return {each: str(self.known.get(each, each)) for each in versions}

    def on(self, trial: Trial, version: str) -> Trial:
        """Return the trial that runs in an environment with it."""
        return replace(trial, packages={**trial.packages, self.subject: version})

    def folder(self, version: str) -> Path:
        """Return where the files of a release are."""
        return self.environments.folder_of(self.subject, version)

    def bisection(self, old: str, new: str) -> Bisection[str]:
        """Return the search between two releases."""
        return self.listed.between(old, new).bisection()

    def line(self) -> tuple[Sequence[str], frozenset[int]]:
        """Return the releases before the new end, milestones preferred.

        Raises:
            NothingBetween: if none of them can be installed.
        """
        line = self.listed.before(self.new)
        return [each.version for each in line.releases], line.milestones


def newer_releases(bench: Workbench, trial: Trial, package: str, than: str) -> Sequence[str]:
    """Return the releases after one that can be installed, oldest first; no pre-releases.

    Raises:
        UnknownPackage, IndexUnreachable: as they say.
    """
    inherited = {**bench.environment, **trial.environment}
    python = PythonFacts.ask(python_for(trial.command, inherited, Path(trial.cwd)))
    candidates = releases_of(PackageIndex.configured(inherited).listing(package), python)
    later = Release(version=than).order
    return [
        each.version
        for each in candidates
        if each.order > later and not each.problem and not each.order.is_prerelease
    ]


def environments_for(
    bench: Workbench,
    inherited: Mapping[str, str],
    python: PythonFacts,
    as_of: Mapping[str, str] | None = None,
) -> Environments:
    """Return what runs trials with other releases.

    Args:
        bench: the workbench.
        inherited: what the trials and the installing tools inherit.
        python: the Python that they run on.
        as_of: for each version the moment whose dependencies it gets.
    """
    return Environments(
        environments=PackageEnvironments(
            place=default_place(),
            python=python,
            settings=IndexSettings.configured(inherited),
            environment=inherited,
        ),
        bench=bench,
        as_of=as_of or {},
    )


def _beside(bench: Workbench, trial: Trial, inherited: Mapping[str, str]) -> Beside | None:
    """Return the packages of the command's own Python."""
    cwd, state = Path(trial.cwd), bench.project.state
    path = Search(cwd=trial.cwd, environment=inherited).python_of(trial.command)
    own = python_at(path, state=state) if path else None
    if own is None:
        return None
    return Beside(
        folders=tuple(own.site_folders(inherited)),
        versions=packages_of(trial.command, cwd, inherited, state=state),
    )


def hidden_by(trial: Trial, package: str) -> tuple[str, ...]:
    """Return a warning if a folder holds the package itself: it may be all that is imported.

    `python -m` and `python -c` look there first, a script looks beside itself.
    """
    name = package.replace("-", "_").replace(".", "_").lower()
    program = next((word for word in trial.command[1:] if not word.startswith("-")), "")
    folders = dict.fromkeys([Path(trial.cwd), Path(trial.cwd, program).parent])
    paths = [path for folder in folders for path in (folder / name, folder / f"{name}.py")]
    return tuple(
        f"`{path}` may hide the releases of {package}: every version then does the same;"
        " start elsewhere with `--cwd`"
        for path in paths
        if path.is_file() or (path / "__init__.py").is_file()
    )


def _present(bench: Workbench, trial: Trial, package: str) -> str:
    """Return the version that the command's Python sees, or nothing."""
    environment = {**bench.environment, **trial.environment}
    packages = packages_of(trial.command, Path(trial.cwd), environment, state=bench.project.state)
    normal_name = package.lower().replace("_", "-").replace(".", "-")
    present = {name.lower().replace("_", "-").replace(".", "-"): v for name, v in packages.items()}
    return present.get(normal_name, "")


def _newest(listing: Listing, candidates: dict[str, Release]) -> str:
    whole = [
        each for each in candidates.values() if not each.problem and not each.order.is_prerelease
    ]
    if not whole:
        raise UnknownRelease(
            f"{listing.package} has no installable release for Python {platform.python_version()}",
            hint="run whet with another Python, or search the package's repository",
        )
    return whole[-1].version
