"""The three answers that an oracle can give."""

from enum import Enum

GOOD_EXIT_CODE = 0
BAD_EXIT_CODE = 1
SKIP_EXIT_CODE = 125  # git bisect's own; 126 and 127 are the shell's, 128+n are signals


class Verdict(Enum):
    """What an outcome proves.

    The words are those of `git bisect`; the delta debugging papers call them
    PASS, FAIL and UNRESOLVED (Zeller and Hildebrandt 2002, section 3.1).
    """

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"

    @property
    def exit_code(self) -> int:
        """The exit code by which a script tells this verdict."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    Verdict.GOOD: GOOD_EXIT_CODE,
    Verdict.BAD: BAD_EXIT_CODE,
    Verdict.SKIP: SKIP_EXIT_CODE,
}
