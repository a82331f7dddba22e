"""Failing system calls that nearly every program makes, such as searches along a path.

A program that looks for a file in ten places fails in nine of them. whet recognizes some of these
calls by their path, such as modules, shared libraries and translations, and learns the others from
a run that passed.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import TypeAlias

from whet.core.failure import Frame
from whet.core.observations.system_call import FailedCall

CallKey: TypeAlias = tuple[str, str, str]
"""A call, its error and its path without what changes from run to run."""

# The call (empty: any), the error, and what its path looks like.
_ALWAYS: tuple[tuple[str, str, str], ...] = (
    # the dynamic loader and the C library, whichever line has called them
    ("", "ENOENT", r"/etc/(ld\.so\.|nsswitch|localtime|gai\.conf|terminfo|protocols|suid-debug)"),
    ("", "ENOENT", r"/glibc-hwcaps(/|$)|/locale-archive$|/gconv/"),
    ("connect", "ENOENT", r"/nscd/"),
    ("socket", "EAFNOSUPPORT", r""),
    ("", "ENOENT", r"/<[^/]*>$"),  # the source of `python -c`, looked for by a traceback
    # questions that opening a file and starting a thread ask on their own
    ("", "ENOTTY", r""),
    ("", "ESPIPE", r""),
    ("", "ENOSYS", r""),
)
_UNLESS_ASKED_FOR: tuple[tuple[str, str, str], ...] = (
    ("", "ENOENT", r"/tls(/|$)|/lib/(x86_64|aarch64)(/|$)"),
    ("", "ENOENT", r"/lib[^/]*\.so(\.\d+)*$"),
    ("", "ENOENT", r"/locale(/|$)|\.mo$|/zoneinfo(/|$)|/terminfo/"),
    # Python's start and its search for modules
    ("", "ENOENT", r"/pyvenv\.cfg$|/pybuilddir\.txt$|/Modules/Setup\.local$|\._pth$"),
    ("", "ENOENT", r"/python\d+\.zip$|/lib/python[\d.]+t?/os\.pyc?$|/lib-dynload$"),
    ("", "ENOENT", r"/__pycache__(/|$)|\.(cpython-[^/]*|abi3)\.so$|/__init__\.(so|pyc)$"),
    ("", "ENOENT", r"/(site-packages|dist-packages|python\d[\d.]*t?)/.*\.(py|pyc|so)$"),
    ("", "ENOENT", r"/lib/python[\d.]+t?/(site|dist)-packages$"),
    # questions
    ("readlink", "EINVAL", r""),
    ("readlinkat", "EINVAL", r""),
    ("", "ECHILD", r""),
    ("", "ESRCH", r""),
    ("newfstatat", "EBADF", r""),
    ("statx", "EBADF", r""),
    ("", "ENODATA", r""),
    ("getxattr", "EOPNOTSUPP", r""),
    ("lgetxattr", "EOPNOTSUPP", r""),
    ("", "ENXIO", r"/dev/tty$"),
    ("open", "ENOENT", r"^/(proc|sys)/"),
    ("openat", "ENOENT", r"^/(proc|sys)/"),
    ("newfstatat", "ENOENT", r"^/(proc|sys)/"),
    ("access", "ENOENT", r"^/(proc|sys)/"),
    ("", "ENOENT", r"/\.git(/|$)|/HEAD$|/\.?gitconfig$|/git/config$|/commondir$"),
    ("fcntl", "EBADF", r""),
)
_QUICK = ("-gnu.so", ".abi3.so", "/__init__.so")
"""What `import` asks after thousands of times, and hardly any line of a user's own does."""


_Patterns: TypeAlias = dict[tuple[str, str], "re.Pattern[str]"]


def _patterns(rows: Iterable[tuple[str, str, str]]) -> _Patterns:
    """Return the patterns of paths by call and error; one of each, as each takes its time."""
    texts: dict[tuple[str, str], list[str]] = {}
    for call, error, text in rows:
        texts.setdefault((call, error), []).append(text)
    return {key: re.compile("|".join(each)) for key, each in texts.items()}


_ALWAYS_LIKE, _USUALLY_LIKE = _patterns(_ALWAYS), _patterns((*_ALWAYS, *_UNLESS_ASKED_FOR))

# Modules of the standard library that open the very file that they are given.
_PASSES_ON = re.compile(
    r"(^<frozen |[/\\])(os|io|_pyio|codecs|tokenize|genericpath|posixpath|pathlib|_local|_abc|shutil"
    r"|gzip|bz2|lzma|zipfile|tarfile|fileinput|configparser)(\.py$|>$|[/\\]__init__\.py$)"
)
_SEARCHES = re.compile(
    r"^<frozen (importlib|zipimport)|[/\\]importlib[/\\]_bootstrap|[/\\]zipimport"
)
_STARTS = re.compile(r"^<frozen (site|getpath)>$|[/\\]lib[/\\]python[\d.]+t?[/\\]site\.py$")
_MANY_FOLDERS, _MANY_NAMES = 3, 10
_NUMBERS = re.compile(r"\d+")
_MADE_UP = re.compile(r"(?<=tmp)[a-z0-9_]{8}(?![a-z0-9_])|\b[0-9a-f]{12,}\b")


def is_usual(call: str, error: str, path: str, frames: tuple[Frame, ...] | None = ()) -> bool:
    """Whether a failing call is what nearly every program meets.

    What a line of the user's own code asks for isn't, whatever its path looks like.

    Args:
        call: its name.
        error: how it fails.
        path: what it is about.
        frames: the Python lines that made it; empty: there are none; None: they aren't known
            yet, and what they could change isn't called usual.
    """
    if frames is None:
        is_quick = error == "ENOENT" and call == "newfstatat" and path.endswith(_QUICK)
        return is_quick or _is_like(_ALWAYS_LIKE, call, error, path)
    if not _is_like(_USUALLY_LIKE, call, error, path):
        return False
    return _is_like(_ALWAYS_LIKE, call, error, path) or not is_asked_for(error, frames)


def _is_like(patterns: _Patterns, call: str, error: str, path: str) -> bool:
    either = (patterns.get((call, error)), patterns.get(("", error)))
    return any(pattern is not None and pattern.search(path) is not None for pattern in either)


def is_asked_for(error: str, frames: tuple[Frame, ...]) -> bool:
    """Whether a line of the user's own made a call, or had the standard library open its file."""
    for frame in reversed(frames):
        if frame.in_user_code:
            return True
        if error != "ENOENT" or _PASSES_ON.search(frame.path) is None:
            return False
    return False


def key_of(call: FailedCall) -> CallKey:
    """Return what is the same of a call in another run: no numbers, no names made up."""
    return (call.call, call.error, _NUMBERS.sub("*", _MADE_UP.sub("*", call.path)))


def _folder_key(call: FailedCall) -> CallKey:
    """Return what is the same of a call on any name in its folder."""
    name, error, path = key_of(call)
    return (name, error, f"{_folder(path)}/")


def _name_key(call: FailedCall) -> CallKey:
    """Return what is the same of a call on its name in any folder."""
    name, error, path = key_of(call)
    return (name, error, f"*/{_name(path)}")


def learnt(passing: Iterable[FailedCall]) -> frozenset[CallKey]:
    """Return the calls that failed in a run that passed."""
    calls = tuple(passing)
    many = frozenset(_folder_key(each) for each in calls if each.names)
    anywhere = frozenset(_name_key(each) for each in calls if each.looked_in)
    return frozenset(map(key_of, calls)) | many | anywhere


def telling(
    failures: Iterable[FailedCall], known: Collection[CallKey] = ()
) -> tuple[FailedCall, ...]:
    """Return the failing calls that are neither known from a passing run nor a search for a module."""
    rest = failures
    if known:
        rest = (
            each
            for each in rest
            if not {key_of(each), _folder_key(each), _name_key(each)} & set(known)
        )
    return folded(each for each in rest if not _is_search(each.frames))


def folded(failures: Iterable[FailedCall]) -> tuple[FailedCall, ...]:
    """Return failing calls with those made one that belong together.

    They look for one name in many folders, or for many names in one: a loop. Of these the last one
    stays too, as the nearest to what came then.
    """
    by_name = _grouped(failures, _name)
    once = [call for group in by_name for call in _of_folders(group)]
    by_folder = _grouped(once, lambda path: f"{_folder(path)}/")
    return tuple(call for group in by_folder for call in _of_names(group))


def _grouped(
    failures: Iterable[FailedCall], common: Callable[[str], str]
) -> Iterable[list[FailedCall]]:
    groups: dict[tuple[int, str, str, str], list[FailedCall]] = {}
    for each in failures:
        what = common(each.path) if each.path.startswith("/") else each.path
        groups.setdefault((each.pid, each.call, each.error, what), []).append(each)
    return groups.values()


def _of_folders(group: list[FailedCall]) -> list[FailedCall]:
    folders = {_folder(each.path) for each in group}
    if len(folders) < _MANY_FOLDERS:
        return group
    first, *others = sorted(group, key=lambda each: each.order)
    last = (others or [first])[-1]
    # The first one is where it was looked for first: it may be the one that was meant.
    representative = first if first.frames else last
    return [
        replace(representative, count=sum(each.count for each in group), looked_in=len(folders))
    ]


def _of_names(group: list[FailedCall]) -> list[FailedCall]:
    if len(group) < _MANY_NAMES:
        return group
    last = max(group, key=lambda each: each.order)
    others = [each for each in group if each is not last]
    # The last one of which more is known stands for the others.
    best = max(others, key=lambda each: (bool(each.frames), each.order))
    count = sum(each.count for each in others)
    return [replace(best, count=count, names=len(others)), last]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _is_search(frames: tuple[Frame, ...]) -> bool:
    """Whether Python's own search for modules, or its start, has made a call."""
    return bool(frames) and any(
        pattern.search(frames[-1].path) is not None for pattern in (_SEARCHES, _STARTS)
    )
