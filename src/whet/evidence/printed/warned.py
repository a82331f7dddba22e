"""Warnings of the failing program that point at its own code."""

import re
from collections.abc import Iterator

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.outcome import Outcome
from whet.evidence.printed.console_text import readable_tail
from whet.host.inspect.stacks import is_user_code

_WARNING = re.compile(
    r"^[ \t]*(?P<path>[^\s:][^:\n]*\.py):(?P<line>\d+): (?P<kind>\w*Warning): (?P<says>.+)$",
    re.MULTILINE,
)
_MOST = 3
_NO_BUG = {"DeprecationWarning", "PendingDeprecationWarning", "ResourceWarning"}
"""They are about the next release, or about unclosed files: rarely why a program fails."""
_NEVER_AWAITED = "was never awaited"


def warning_clues(outcome: Outcome, at: Placing) -> list[Clue]:
    """Return the warnings that point at one of the user's lines, each once."""
    return list(dict.fromkeys(_clues(outcome, at)))[:_MOST]


def _clues(outcome: Outcome, at: Placing) -> Iterator[Clue]:
    for stream in (outcome.stderr, outcome.stdout):
        for match in _WARNING.finditer(readable_tail(stream)):
            path, line = at.absolute(match["path"]), int(match["line"])
            if match["kind"] in _NO_BUG or not is_user_code(path):
                continue
            # What was called and never awaited has not been done, whatever else is wrong.
            is_lost = match["says"].endswith(_NEVER_AWAITED)
            yield Clue(
                says=f"the program warned at {at(path, line)}: {match['kind']}: {match['says']}",
                why="Python or a package saw something there that is seldom meant",
                path=path,
                line=line,
                sureness=Sureness.SEEN if is_lost else Sureness.POSSIBLE,
                next_step=f"await it at {at(path, line)}" if is_lost else "",
            )
