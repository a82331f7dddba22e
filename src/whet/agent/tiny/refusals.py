"""Why something can't be made, for whet to say it in its own words."""

from __future__ import annotations

import errno
import os
import re
from typing import Optional

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class RefusedError(Exception):
    """Something that the user can act on.

    Attributes:
        kind: which of whet's errors it becomes: `unknown`, `unsolved`, `untrusted`, `missing`, `usage`.
        hint: the next step.
    """

    def __init__(self, kind: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.hint = hint


def brief(error: BaseException) -> str:
    """Return the first line of an error that says something, with its type."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    text = lines[0].strip() if lines else ""
    if len(lines) > 1 and text.endswith(":"):
        text = text + " " + lines[1].strip()
    return (type(error).__name__ + ": " + text)[:300]


def no_space(error: Optional[BaseException]) -> Optional[OSError]:
    """Return the error of the system if there was no space to write; libraries of Rust only quote it."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _NO_SPACE:
            return error
        quoted = re.search(r"\(os error (\d+)\)", str(error))
        if quoted and int(quoted.group(1)) in _NO_SPACE:
            number = int(quoted.group(1))
            return OSError(number, os.strerror(number))
        error = error.__cause__ or error.__context__
    return None
