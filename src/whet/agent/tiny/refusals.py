"""Why something can't be made, for whet to say it in its own words."""

from __future__ import annotations


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
