"""The releases of a package, as a search needs them."""

from collections.abc import Sequence
from functools import cache

from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import (
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from whet.bisection.names import in_words
from whet.bisection.terms import Terms
from whet.core.errors import EndsReversed, NothingBetween, SameEnds, UnknownRelease
from whet.core.value_class import value_class
from whet.host.python.index_page import IndexFile
from whet.host.python.package_index import Listing
from whet.host.python.python_interpreter import PythonFacts
from whet.search.history.bisection import Bisection
from whet.search.history.version_graph import line_of

_SHOWN_NEAR = 3


@value_class(kw_only=True)
class Release:
    """A release of a package.

    Attributes:
        version: as it is written on the index.
        uploaded: when its first file came, ISO 8601; empty if the index doesn't say.
        problem: why it is left out of a search: it was yanked, or no file of it can be
            installed here; empty if nothing is wrong.
        is_yanked: whether it was withdrawn. As an end of a search it can still be installed.
        latest_upload: when its last file came; dependencies as of this moment exist with it.
    """

    version: str
    uploaded: str = ""
    problem: str = ""
    is_yanked: bool = False
    latest_upload: str = ""

    @property
    def order(self) -> Version:
        """Where it stands among the others (PEP 440)."""
        return Version(self.version)

    def __str__(self) -> str:
        return f"{self.version} {self.uploaded[:10]}".rstrip()


@value_class(kw_only=True)
class ReleaseHistory:
    """The releases from a good to a bad one.

    Attributes:
        package: its name as the user wrote it.
        releases: those that are searched, the good end first, the bad end last.
        left_out: those in between that can't be searched.
    """

    package: str
    releases: tuple[Release, ...]
    left_out: tuple[Release, ...] = ()

    @classmethod
    def between(
        cls,
        listing: Listing,
        good: str,
        bad: str,
        *,
        python: PythonFacts,
        with_prereleases: bool = False,
        terms: Terms | None = None,
    ) -> "ReleaseHistory":
        """Return the releases from ``good`` to ``bad``.

        Args:
            listing: what the index has.
            good: version of the old end.
            bad: version of the new end.
            python: the Python that they have to run on.
            with_prereleases: search pre-releases too; they are if an end is one.
            terms: what the ends are called.

        Raises:
            UnknownRelease: if an end doesn't exist, or can't be installed here.
            SameEnds: if both are the same release.
            EndsReversed: if ``bad`` is older than ``good``.
        """
        releases = releases_of(listing, python)
        old, new = (
            installable_release(listing, releases, good),
            installable_release(listing, releases, bad),
        )
        if old.order == new.order:
            raise SameEnds(
                f"`{good}` and `{bad}` are the same release of {listing.package}",
                hint=f"name an older release that still worked; {_range(releases)}",
            )
        if old.order > new.order:
            raise _reversed(listing, old, new, terms or Terms())
        wants_pre = with_prereleases or old.order.is_prerelease or new.order.is_prerelease
        between = [
            release
            for release in releases
            if old.order < release.order < new.order
            and (wants_pre or not release.order.is_prerelease)
        ]
        return cls(
            package=listing.package,
            releases=(old, *(each for each in between if not each.problem), new),
            left_out=tuple(each for each in between if each.problem),
        )

    @property
    def good(self) -> str:
        """Version of the old end."""
        return self.releases[0].version

    @property
    def bad(self) -> str:
        """Version of the new end."""
        return self.releases[-1].version

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence on each release that is left out."""
        return tuple(f"skipped {each.version}: {each.problem}" for each in self.left_out)

    def bisection(self) -> Bisection[str]:
        """Return the search for the first bad release; its versions are those of `releases`."""
        versions = [release.version for release in self.releases]
        return Bisection(line_of(versions), self.bad, (self.good,))


@value_class(kw_only=True)
class ReleaseLine:
    """A bad release and those before it, to find a good one on.

    Attributes:
        releases: the bad one first, then older ones; the position is the distance.
        milestones: the positions of the last releases of a series, such as 2.0.9 and 2.1.3:
            what a series was at its best.
    """

    releases: tuple[Release, ...]
    milestones: frozenset[int]

    @classmethod
    def before(
        cls, listing: Listing, bad: str, *, python: PythonFacts, with_prereleases: bool = False
    ) -> "ReleaseLine":
        """Return the line that ends in ``bad``.

        Raises:
            UnknownRelease: if it doesn't exist, or can't be installed here.
            NothingBetween: if there is no older one that can be installed.
        """
        releases = releases_of(listing, python)
        new = installable_release(listing, releases, bad)
        wants_pre = with_prereleases or new.order.is_prerelease
        older = [
            release
            for release in reversed(releases)
            if release.order < new.order
            and not release.problem
            and (wants_pre or not release.order.is_prerelease)
        ]
        if not older:
            raise NothingBetween(
                f"{listing.package} {bad} is the first release that this machine can install",
                hint="search the package's repository instead: `whet bisect --repo DIR`",
            )
        series = [release.order.release[:2] for release in (new, *older)]
        last_ones = (each for each in range(1, len(series)) if series[each] != series[each - 1])
        return cls(releases=(new, *older), milestones=frozenset(last_ones))


def releases_of(listing: Listing, python: PythonFacts) -> tuple[Release, ...]:
    """Return all releases that an index lists, oldest first; files of no version are passed over."""
    supported = supported_tags(python)
    by_version: dict[Version, list[IndexFile]] = {}
    for file in listing.files:
        version = _version_of(file.name)
        if version is not None:
            by_version.setdefault(version, []).append(file)
    for told in listing.bare_versions:
        by_version.setdefault(Version(told), [])
    return tuple(
        _release(version, by_version[version], python, supported) for version in sorted(by_version)
    )


def _release(
    version: Version, files: Sequence[IndexFile], python: PythonFacts, supported: frozenset[Tag]
) -> Release:
    uploads = sorted(file.uploaded for file in files if file.uploaded)
    installable = [file for file in files if not _problem(file, python, supported)]
    reasons = [file.yanked for file in installable if file.yanked is not None]
    # pip takes a release for yanked if all of its files that it could install are (PEP 592).
    is_yanked = bool(reasons) and len(reasons) == len(installable)
    problem = ""
    if is_yanked:
        problem = f"yanked: {reasons[0]}" if reasons[0] else "yanked"
    elif files and not installable:
        problem = _problem(files[0], python, supported)
    return Release(
        version=str(version),
        uploaded=uploads[0] if uploads else "",
        problem=problem,
        is_yanked=is_yanked,
        latest_upload=uploads[-1] if uploads else "",
    )


def _problem(file: IndexFile, python: PythonFacts, supported: frozenset[Tag]) -> str:
    """Return why a file can't be installed on a Python; empty if it can."""
    version = Version(python.version)
    try:
        is_wanted = SpecifierSet(file.requires_python).contains(version, prereleases=True)
    except ValueError:
        is_wanted = True  # as pip takes it
    if not is_wanted:
        return f"it requires Python {file.requires_python}, not {python.version}"
    if not file.name.endswith(".whl"):
        return ""
    tags = parse_wheel_filename(file.name)[3]
    return "" if tags & supported else "it has only wheels for other platforms or Pythons"


def _version_of(name: str) -> Version | None:
    """Return the version that a file is of; None if it is nothing that pip installs."""
    try:
        if name.endswith(".whl"):
            return parse_wheel_filename(name)[1]
        for ending in (".tar.bz2", ".tgz", ".tar.xz"):  # old, but pip installs them
            name = name.removesuffix(ending) + ".tar.gz" if name.endswith(ending) else name
        return parse_sdist_filename(name)[1]
    except ValueError:  # packaging's own errors, and Python's of a number with thousands of digits
        return None


@cache
def supported_tags(python: PythonFacts) -> frozenset[Tag]:
    """Return the wheel tags that a Python on this machine can install."""
    version = Version(python.version).release[:2]
    interpreter = f"{'cp' if python.implementation == 'cpython' else 'pp'}{version[0]}{version[1]}"
    own = cpython_tags(version) if python.implementation == "cpython" else ()
    return frozenset((*own, *compatible_tags(version, interpreter)))


def installable_release(listing: Listing, releases: Sequence[Release], told: str) -> Release:
    """Return the release that an end names."""
    try:
        order = Version(told)
    except InvalidVersion as error:
        raise UnknownRelease(
            f"`{told}` isn't a version", hint=f"versions look like 1.4.2; {_range(releases)}"
        ) from error
    found = next((each for each in releases if each.order == order), None)
    if found is None:
        raise UnknownRelease(
            f"{listing.package} has no release `{told}` on {listing.index}",
            hint=f"nearest are {_nearest(releases, order)}",
        )
    if found.problem and not found.is_yanked:
        raise UnknownRelease(
            f"{listing.package} {told} can't be installed here: {found.problem}",
            hint=f"nearest are {_nearest([each for each in releases if not each.problem], order)}",
        )
    return found


def _nearest(releases: Sequence[Release], order: Version) -> str:
    """Return the versions around one that is missing, oldest first."""
    older = [each.version for each in releases if each.order < order]
    newer = [each.version for each in releases if each.order > order]
    near = (*older[-_SHOWN_NEAR:], *newer[:_SHOWN_NEAR])
    return in_words(near) if near else "none of them can be installed here"


def _range(releases: Sequence[Release]) -> str:
    if not releases:
        return "there are no releases"
    return f"there are {len(releases)}, `{releases[0].version}` to `{releases[-1].version}`"


def _reversed(listing: Listing, old: Release, new: Release, terms: Terms) -> EndsReversed:
    words = f"{terms.old},{terms.new}" if terms.is_fix else "broken,fixed"
    ends = f"{new.version} {old.version} -- ..."
    return EndsReversed(
        f"{listing.package} {new.version} ({terms.new}) is older than {old.version} ({terms.old})",
        hint=f"the older one comes first: `whet bisect --package {listing.package} {ends}`; to find the release that fixed something, add `--terms {words}`",
    )
