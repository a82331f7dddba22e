"""Whether two arms print the same: byte for byte, or apart from times and other things that vary by themselves."""

import re
from collections.abc import Sequence

from whet.core.value_class import value_class

_VARIES = (
    rb"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?",  # a date
    rb"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?",  # a time of day, or hours that something took
    rb"\b\d+(?:\.\d+)?(?:e[-+]?\d+)?\s?(?:ns|us|\xc2\xb5s|ms|s|secs?|seconds?|min|minutes?|it/s|s/it)\b",
    rb"\b0x[0-9a-fA-F]{4,}\b",  # an address
    rb"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",  # a random name
    rb"\b(?:pid|PID)[ =:]{0,3}\d+",
    rb"/tmp/[\w.+/-]+",
)
_MASK = re.compile(b"|".join(_VARIES))

COMPARED_BYTES = 8 << 20
"""So much of an output is compared."""

SAME = "the same output"
SAME_BUT_TIMES = "the same output apart from times, dates, addresses and process numbers"


@value_class(kw_only=True)
class OutputDifference:
    """Where the outputs of two arms differ first.

    Attributes:
        line: number of the line.
        a: the line that A prints there; None: its output has ended.
        b: the line that B prints there; None: its output has ended.
    """

    line: int
    a: str | None
    b: str | None


def compare_outputs(a: Sequence[bytes], b: Sequence[bytes]) -> str | OutputDifference:
    """Return in what way the outputs of two arms are the same, in words; else where they differ.

    Lines in which two runs of one arm differ count as lines that vary by themselves.

    Args:
        a: the outputs of some runs of A.
        b: the outputs of some runs of B.
    """
    if set(a) & set(b):
        return SAME
    masked_a, masked_b = ([_MASK.sub(b"*", each) for each in runs] for runs in (a, b))
    if set(masked_a) & set(masked_b):
        return SAME_BUT_TIMES
    lines_a, lines_b = ([each.split(b"\n") for each in runs] for runs in (masked_a, masked_b))
    varying = _varying(lines_a) | _varying(lines_b)
    first_a, first_b = lines_a[0], lines_b[0]
    for number in range(max(len(first_a), len(first_b))):
        one, other = (
            lines[number] if number < len(lines) else None for lines in (first_a, first_b)
        )
        if one != other and number not in varying:
            raw = (a[0].split(b"\n"), b[0].split(b"\n"))
            shown = [_shown(lines, number) for lines in raw]
            return OutputDifference(line=number + 1, a=shown[0], b=shown[1])
    count = f"{len(varying)} lines" if len(varying) > 1 else "a line"
    differ = "differ" if len(varying) > 1 else "differs"
    return f"the same output apart from {count} that also {differ} between runs of one arm"


def _varying(runs: Sequence[Sequence[bytes]]) -> set[int]:
    """Return the numbers of the lines that aren't the same in all runs of an arm."""
    first = runs[0]
    return {
        number
        for other in runs[1:]
        if len(other) == len(first)
        for number, (one, two) in enumerate(zip(first, other, strict=True))
        if one != two
    }


def _shown(lines: Sequence[bytes], number: int) -> str | None:
    return lines[number].decode("utf-8", "replace") if number < len(lines) else None
