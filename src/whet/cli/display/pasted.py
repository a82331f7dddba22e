"""A line to paste, on a terminal."""

import sys

from whet.cli.console import answer, styled
from whet.workbench.trials.investigation import PastedLine


def show_line(line: PastedLine, before: str = "") -> None:
    """Show a line on its own, and below it why it proves nothing, if it doesn't."""
    answer(f"{before}{line.text}")
    if line.complaint:
        indent = " " * (len(before) - len(before.lstrip()))
        answer(f"{indent}{styled('not proved', 'yellow', sys.stdout)}: {line.complaint}")
