"""The names of the files that agents leave: `7.failures`, `7-0.torch.json`. A program may leave others."""

import re
from pathlib import Path

_PROCESS = re.compile(r"([0-9]{1,9})(?![0-9])")


def process_of(path: Path) -> int:
    """Return the process that wrote a file of the agent's folder; 0: its name has no number."""
    number = _PROCESS.match(path.name)
    return int(number[1]) if number else 0
