"""The sentences of a report: none stands in a part of it twice."""

import re
from collections import Counter

_LEAST_WORDS = 4
_TRIALS = re.compile(r" \(trials? [\d, ]+\)$")
_MARK = re.compile(r"^(?:[-*] |\d+\. |\*\*|Next: )|\*\*$")


def said_twice(page: str) -> list[str]:
    """Return the sentences that a part of a Markdown report has more than once."""
    found: list[str] = []
    for part in re.split(
        r"^## ",
        re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL),
        flags=re.MULTILINE,
    ):
        told = Counter(
            sentence
            for line in part.splitlines()
            if not line.startswith("|")
            for sentence in re.split(r"(?<=[.?!]) (?=[A-Z`])", _plain(line))
            if len(sentence.split()) >= _LEAST_WORDS
        )
        found += [sentence for sentence, times in told.items() if times > 1]
    return found


def _plain(line: str) -> str:
    return _MARK.sub("", _TRIALS.sub("", line.strip().replace("\\", "")))
