"""Which of the failing system calls explains a failure, most relevant first."""

import errno
import os
import re
from collections.abc import Iterable

from whet.core.failure import Failure, FailureKind
from whet.core.observations.system_call import FailedCall

_NUMBER = re.compile(r"\[(?:Errno|WinError) (\d{1,9})\]")
_HARD = frozenset(
    [
        "ENOSPC",
        "EDQUOT",
        "EMFILE",
        "ENFILE",
        "EACCES",
        "EPERM",
        "EROFS",
        "EIO",
        "ENOMEM",
        "EAGAIN",
        "EFBIG",
        "ESTALE",
        "ECONNREFUSED",
        "ECONNRESET",
        "ETIMEDOUT",
        "EADDRINUSE",
        "EADDRNOTAVAIL",
        "EHOSTUNREACH",
        "ENETUNREACH",
        "EPIPE",
        "ENODEV",
    ]
)
"""Errors that a program seldom meets when it only asks."""

_ASKING = frozenset(
    [
        "exists",
        "isfile",
        "isdir",
        "islink",
        "lexists",
        "ismount",
        "getmtime",
        "samefile",
        "is_file",
        "is_dir",
        "is_symlink",
        "which",
        "_access_check",
        "realpath",
        "_joinrealpath",
        "resolve",
    ]
)
"""Functions of the standard library by which a program asks; "no" is an answer."""

_SOFT = frozenset({"EEXIST", "ENOTDIR", "ENOTEMPTY", "EINVAL", "EBADF"})
_SAME_ERROR, _SAME_LINE, _NAMED, _IS_HARD, _ASKED, _IS_SOFT, _IN_PYTHON = 16, 8, 6, 4, -6, -1, 1
_LOOKED_FOR = -5


def ranked(
    failures: Iterable[FailedCall], failure: Failure | None, told: str = ""
) -> tuple[FailedCall, ...]:
    """Return failing calls, the one that most likely explains a failure first.

    The same error counts most, then the same line, then that the path is named, then how seldom
    such an error means nothing. Of two alike the later one is nearer to the failure.

    Args:
        failures: the calls.
        failure: what is to be explained; None: nothing failed.
        told: the last output of the program.
    """
    text = f"{failure.summary if failure else ''}\n{told}"
    errors = errors_of(failure, text)
    lines = lines_of(failure)

    def score(call: FailedCall) -> int:
        points = _SAME_ERROR * (call.error in errors)
        points += _SAME_LINE * any((each.path, each.line) in lines for each in call.frames)
        points += _NAMED * is_named(call, text)
        points += _IS_HARD * (call.error in _HARD) + _IS_SOFT * (call.error in _SOFT)
        points += _ASKED * is_question(call) + _IN_PYTHON * bool(call.frames or call.started_by)
        return points + _LOOKED_FOR * bool(call.looked_in)

    return tuple(sorted(failures, key=lambda call: (score(call), call.order), reverse=True))


def explains(call: FailedCall, failure: Failure | None, told: str = "") -> bool:
    """Whether a call most likely is the one that a failure comes from: its error, and its line or path."""
    if failure is None:
        return False
    text = f"{failure.summary}\n{told}"
    lines = lines_of(failure)
    is_there = any((each.path, each.line) in lines for each in call.frames)
    return call.error in errors_of(failure, text) and (
        is_there or not lines or is_named(call, text)
    )


def lines_of(failure: Failure | None) -> frozenset[tuple[str, int]]:
    """Return the lines of a failure's stack, each as file and number."""
    return frozenset((each.path, each.line) for each in failure.frames) if failure else frozenset()


def errors_of(failure: Failure | None, text: str) -> frozenset[str]:
    """Return the names of the errors that a failure speaks of, by number or in words."""
    names = {errno.errorcode.get(int(number), "") for number in _NUMBER.findall(text)}
    names |= {name for number, name in errno.errorcode.items() if os.strerror(number) in text}
    if failure is not None and failure.kind is FailureKind.NO_SPACE_LEFT:
        names |= {"ENOSPC", "EDQUOT"}
    return frozenset(names - {""})


def is_named(call: FailedCall, text: str) -> bool:
    """Whether a text names the path of a call."""
    names = {call.path, call.given, call.path.rpartition("/")[2]}
    return any(len(name) > 1 and name in text for name in names)


def is_question(call: FailedCall) -> bool:
    """Whether a call was made by a function that only asks whether something is there."""
    return bool(call.frames) and call.frames[-1].function.rpartition(".")[2] in _ASKING
