"""Everything that whet writes outside its own folder: the one list, which the docs show."""

import fnmatch
import glob
from collections.abc import Iterator, Mapping, Sequence

from whet.core.value_class import value_class


@value_class(kw_only=True)
class OutsidePlace:
    """Something that whet writes outside its own folder.

    Attributes:
        says: what it is, and how long it stays.
        patterns: where it is, as globs (a `*` matches `/`, too) that begin with a place in braces:
            `result`, what the user asked for or whet announces; `beside`, the folder of one; `tmp`,
            `$TMPDIR`; `git`, the repository's folder; `package`, where whet is installed; `user`,
            the user's folder of state, which the folders of all projects are in.
        is_time: only the times of what is there change.
    """

    says: str
    patterns: tuple[str, ...]
    is_time: bool = False


OUTSIDE: tuple[OutsidePlace, ...] = (
    OutsidePlace(
        says=(
            "the results that it announces or that you asked for, such as the smaller file, `whet-report/`, a picture,"
            " or the patch with the smallest part of a change; while it writes one, a file `.NAME.….part` next to it"
        ),
        patterns=("{result}", "{result}/*", "{beside}/.*.part"),
    ),
    OutsidePlace(
        says="folders `whet-…` in `$TMPDIR`, which only you can enter, until whet ends",
        patterns=("{tmp}/whet-*",),
    ),
    OutsidePlace(
        says="a file `whet-fault-….txt` in `$TMPDIR` with the traceback, if whet itself fails",
        patterns=("{tmp}/whet-fault-*.txt",),
    ),
    OutsidePlace(
        says="an entry for each worktree in the repository's `.git/worktrees/`, while a search over commits runs",
        patterns=("{git}/worktrees", "{git}/worktrees/*"),
    ),
    OutsidePlace(
        says="the times of objects in `.git/objects/` that git finds there already, but not the objects",
        patterns=("{git}/objects/*",),
        is_time=True,
    ),
    OutsidePlace(
        says="a control group below your own, if a limit needs one, until whet ends",
        patterns=("/sys/fs/cgroup/*/whet-*", "/sys/fs/cgroup/whet-*"),
    ),
    OutsidePlace(
        says=(
            "your folder of state, which the folders of all projects are in: a key, copies of uncommitted files,"
            " byte code, and environments with other releases"
        ),
        patterns=("{user}", "{user}/*"),
    ),
    OutsidePlace(
        says="the byte code of its own modules, where it is installed and Python may write there",
        patterns=("{package}/*.pyc*", "{package}/*__pycache__"),
    ),
)


def outside_place(
    path: str, places: Mapping[str, Sequence[str]], *, is_time: bool = False
) -> OutsidePlace | None:
    """Return which of the listed places a path is in; None: whet must not write there.

    Args:
        path: absolute, of a file or a folder.
        places: the paths that each name in braces stands for; one that isn't there matches nothing.
        is_time: only its times are set.
    """
    for each in OUTSIDE:
        if each.is_time and not is_time:
            continue
        for pattern in each.patterns:
            if any(fnmatch.fnmatchcase(path, each_glob) for each_glob in _globs(pattern, places)):
                return each
    return None


def _globs(pattern: str, places: Mapping[str, Sequence[str]]) -> Iterator[str]:
    name, brace, rest = pattern.removeprefix("{").partition("}")
    if not brace:
        yield pattern
        return
    for place in places.get(name, ()):
        yield glob.escape(place) + rest
