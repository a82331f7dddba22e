"""What a program wrote to a stream, as a reader would see it on a terminal."""

import re
from collections.abc import Iterator, Sequence

from whet.core.output import Output
from whet.evidence.printed.rich_box import without_boxes

TAIL_BYTES = 256 * 1024
"""How much of the end of a stream is read: 1000 frames of a RecursionError are about 200 KB."""

_FAR_BYTES = 4 * 1024 * 1024
"""How far back the traceback is looked for of which the end shows the message alone."""

_HEADER = "Traceback (most recent call last):"

# CSI and OSC sequences and the two-byte escapes of ECMA-48. No part overlaps its neighbour,
# so that no input makes the search quadratic.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
# torchrun and pytest put these before each line of a traceback.
_PREFIX = re.compile(r"^(?:\[rank\d+\]: ?|INTERNALERROR> ?)", re.MULTILINE)
# `-X importtime` writes to the very end of the interpreter, behind the traceback.
_IMPORT_TIMES = re.compile(r"^import time: [^\n]*(?:\n|$)", re.MULTILINE)
# What `whet probe` says in the middle of it; a stack or several values may be more than one line.
_PROBES = re.compile(r"\[whet (?:[^\s\]]+:\d+ )?\d\d:\d\d:\d\d\.\d{3} \d+\] [^\n]*(?:\n|$)")
# What the end of a progress bar leaves on its line: "\r" takes the cursor back to its start.
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\n\r])", re.MULTILINE)


def readable_tail(output: Output) -> str:
    r"""Return the last 256 KiB of ``output`` as clean text; bytes that aren't UTF-8 become U+FFFD.

    Colours, cursor movements, overwritten progress bars, times of imports, what probes say and
    the prefixes that launchers put before each line are gone; line ends are ``\n``. A traceback with a message longer than that
    is there from its beginning on.
    """
    data = _long_traceback(output) or output.tail(TAIL_BYTES)
    return clean(data.decode("utf-8", "replace"))


def clean(text: str) -> str:
    """Return ``text`` without what only steers a terminal."""
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = "\n".join(_without_overwritten(text.split("\n")))
    if "import time: " in text:
        text = _IMPORT_TIMES.sub("", text)
    if "[whet " in text:
        text = _PROBES.sub("", text)
    return without_boxes(_PREFIX.sub("", text))


def _without_overwritten(lines: Sequence[str]) -> Iterator[str]:
    """Remove progress bars; a message isn't one, even if it contains a carriage return."""
    is_in_stack = False
    for line in lines:
        if is_in_stack and line and not line.startswith((" ", "\t")):
            is_in_stack = False
            yield line
        else:
            is_in_stack = is_in_stack or _HEADER in line
            yield _OVERWRITTEN.sub("", line) if "\r" in line else line


def is_cut(output: Output) -> bool:
    """Whether `readable_tail` may begin in the middle of a traceback."""
    return output.size_bytes > TAIL_BYTES and _long_traceback(output) is None


def _long_traceback(output: Output) -> bytes | None:
    """Return the end of ``output`` from the traceback on whose message is longer than the tail."""
    header = _HEADER.encode()
    if output.size_bytes <= TAIL_BYTES or header in output.tail(TAIL_BYTES):
        return None
    data = output.tail(_FAR_BYTES)
    at = data.rfind(header)
    # Behind an empty line the program had something else to say.
    if at < 0 or b"\n\n" in data[at:].rstrip():
        return None
    return data[data.rfind(b"\n", 0, at) + 1 :]
