"""What a program wrote to a stream, as a reader would see it on a terminal."""

import re

from whet.core.output import Output
from whet.evidence.rich_box import without_boxes

TAIL_BYTES = 256 * 1024
"""How much of the end of a stream is read: 1000 frames of a RecursionError are about 200 KB."""

# CSI and OSC sequences and the two-byte escapes of ECMA-48. No part overlaps its neighbour,
# so that no input makes the search quadratic.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
# torchrun and pytest put these before each line of a traceback.
_PREFIX = re.compile(r"^(?:\[rank\d+\]: ?|INTERNALERROR> ?)", re.MULTILINE)
# What the end of a progress bar leaves on its line: "\r" takes the cursor back to its start.
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\n\r])", re.MULTILINE)


def readable_tail(output: Output) -> str:
    r"""Return the last 256 KiB of ``output`` as clean text; bytes that are no UTF-8 become U+FFFD.

    Colours, cursor movements, overwritten progress bars and the prefixes that launchers put
    before each line are gone; line ends are ``\n``.
    """
    text = output.tail(TAIL_BYTES).decode("utf-8", "replace")
    return clean(text)


def clean(text: str) -> str:
    """Return ``text`` without what only steers a terminal."""
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = _OVERWRITTEN.sub("", text)
    return without_boxes(_PREFIX.sub("", text))


def is_cut(output: Output) -> bool:
    """Whether the stream is longer than what `readable_tail` returns of it."""
    return output.size_bytes > TAIL_BYTES
