"""What a program expects on its command line, where it fails as it was given something else."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from whet.core.failure import FailureKind
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_count
from whet.evidence.printed.console_text import readable_tail
from whet.evidence.printed.last_words import is_usage

_USAGE = re.compile(r"^[ \t]*usage:.*", re.IGNORECASE | re.MULTILINE)
_MOST_LINES, _MOST_CHARACTERS = 12, 400
_READS = re.compile(r"\bsys\.argv\b|(?<![\w.])argv\b")
_MISSES = {"IndexError", "ValueError"}
_WHY = "the failure is about the command line, not about what the program does with it"


def usage_clues(outcome: Outcome, command: Sequence[str], at: Placing) -> Iterator[Clue]:
    """Yield what the command line lacks.

    Args:
        outcome: how the command failed.
        command: its words.
        at: says where a line is.
    """
    failure = outcome.failure
    if failure is None:
        return
    if failure.kind is FailureKind.USAGE_ERROR:
        usage = _usage(readable_tail(outcome.stderr)) or _usage(readable_tail(outcome.stdout))
        if usage:
            yield Clue(
                says=f"the program refuses its command line: {failure.summary}",
                why=_WHY,
                sureness=Sureness.SEEN,
                next_step=f"give it what it expects: `{usage}`",
            )
        return
    place, site = failure.place, failure.site
    is_missing = failure.signature.exception in _MISSES and site is not None
    if place is None or site is None or not is_missing or not _READS.search(site.operation):
        return
    given = _given(command)
    if given is None:
        return
    yield Clue(
        says=f"{at(place.path, place.line)} reads `{site.operation.strip()}`, and the command gives"
        f" {shown_count(given, 'argument')}",
        why=_WHY,
        path=place.path,
        line=place.line,
        sureness=Sureness.SEEN,
        next_step="run the program with the arguments that this line reads",
    )


def _usage(text: str) -> str:
    """Return the last usage message of a text, on one line."""
    found = [each for each in _USAGE.finditer(text) if is_usage(each[0].strip())]
    if not found:
        return ""
    lines = text[found[-1].start() :].splitlines()[:_MOST_LINES]
    usage = lines[:1]
    for line in lines[1:]:
        if not line[:1].isspace() or not line.strip():
            break  # what follows is the complaint
        usage.append(line)
    return " ".join(" ".join(usage).split())[:_MOST_CHARACTERS]


def _given(command: Sequence[str]) -> int | None:
    """Return how many arguments a command gives to its script or module; None: it runs none that whet sees."""
    for position, word in enumerate(command):
        if word == "-m" and position + 1 < len(command):
            return len(command) - position - 2
        if PurePath(word).suffix == ".py":
            return len(command) - position - 1
    return None
