"""Errors about revisions, releases, and the two ends of a search over them."""

from whet.core.errors.base import DATA, NO_INPUT, UNAVAILABLE, WhetError


class NotARepository(WhetError):
    """The folder isn't inside a git repository, so it has no history to search.

    Run the command inside the repository, or name it with `--repo DIR`. For a bug in a
    package from PyPI, `--package NAME` searches its releases instead.
    """

    exit_code = NO_INPUT


class UnknownRevision(WhetError):
    """git doesn't know the revision. `git log --oneline` and `git tag` list the revisions.

    A shallow clone has only the newest commits: `git fetch --unshallow` fetches the rest.
    """

    exit_code = DATA


class NotAnAncestor(WhetError):
    """The two revisions aren't on one line of history.

    A bisection needs one end to be an ancestor of the other.
    `git merge-base A B` shows where the two lines part.
    """

    exit_code = DATA


class SameEnds(WhetError):
    """Both ends of the search are the same version, so there is nothing between them."""

    exit_code = DATA


class NothingBetween(WhetError):
    """There is no version between the ends that whet could test.

    With `--path`, no commit in between touches that path. A first commit has none before it;
    a shallow clone ends early: `git fetch --unshallow` fetches the rest. For a package, no release
    in between installs here.
    """

    exit_code = DATA


class NothingDiffers(WhetError):
    """The two cases don't differ in anything that `whet delta` can switch.

    Then the cause is elsewhere: in the environment (`whet delta --env a.env b.env`), in the
    packages (`whet bisect --packages good.txt bad.txt`), in the code (`whet bisect GOOD BAD`), or
    the failure is intermittent.
    """

    exit_code = DATA


class EndsReversed(WhetError):
    """The good end fails and the bad end passes: the ends are swapped.

    To find the version that *fixed* something, name the terms:
    `whet bisect --terms broken,fixed OLD NEW -- COMMAND`.
    """

    exit_code = DATA


class EndMisjudged(WhetError):
    """An end of the search isn't what you said it is.

    The good end must pass and the bad end must fail; a search from a wrong end blames an innocent
    version. An installed release must behave the same in the environment that whet makes for it.
    The message shows how it ended instead; `whet show` shows its whole output.
    """

    exit_code = DATA


class UnknownPackage(WhetError):
    """The package index has no package of that name. Check the spelling."""

    exit_code = NO_INPUT


class UnknownRelease(WhetError):
    """The package has no release of that version, or none that installs here.

    `pip index versions NAME` lists the releases.
    """

    exit_code = DATA


class IndexUnreachable(WhetError):
    """whet can't reach the package index, so it can neither list nor install releases.

    Check the network and the proxy. `PIP_INDEX_URL` (or `UV_INDEX_URL`) names another index,
    such as a mirror inside a company or a cluster.
    """

    exit_code = UNAVAILABLE


class ReleaseNotInstallable(WhetError):
    """A release didn't install: its build failed, or nothing satisfies its requirements.

    Inside a search whet skips such a release; at an end of the search, name another end.
    """

    exit_code = UNAVAILABLE
