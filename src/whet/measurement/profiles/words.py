"""How numbers and places of a profile are written."""

import re

from whet.core.observations.profile import BYTES, COUNT, CPU_SECONDS, GPU_SECONDS, SECONDS
from whet.core.text.quantity import shown_bytes, shown_seconds

UNIT_WORDS = {
    CPU_SECONDS: "CPU",
    GPU_SECONDS: "GPU",
    BYTES: "memory",
    SECONDS: "waiting",
    COUNT: "times",
}
"""What a unit is called."""

_LIBRARY = re.compile(r"^.*[/\\](?:(?:site|dist)-packages|lib(?:64)?[/\\]python\d[\d.]*t?)[/\\]")
_NAMESPACES = re.compile(r"(?:\w+|\(anonymous namespace\))::")
_MOST_NAME = 70


def short_path(path: str) -> str:
    """Return the path of a library's file as from the folder of all libraries; another one as it is."""
    return _LIBRARY.sub("", path)


def short_kernel(name: str) -> str:
    """Return the signature of a function of C++ without namespaces, cut to what a line holds."""
    short = _NAMESPACES.sub("", name).removeprefix("void ") if "(" in name else name
    return short if len(short) <= _MOST_NAME else f"{short[:_MOST_NAME]}…"


def shown_amount(amount: float, unit: str) -> str:
    """Return a number of a profile with its unit."""
    if unit == BYTES:
        return shown_bytes(round(amount))
    return f"{amount:,g}" if unit == COUNT else shown_seconds(amount)
