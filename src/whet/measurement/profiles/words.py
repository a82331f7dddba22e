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


def short_path(path: str) -> str:
    """Return the path of a library's file as from the folder of all libraries; another one as it is."""
    return _LIBRARY.sub("", path)


def shown_amount(amount: float, unit: str) -> str:
    """Return a number of a profile with its unit."""
    if unit == BYTES:
        return shown_bytes(round(amount))
    return f"{amount:,g}" if unit == COUNT else shown_seconds(amount)
