"""The question whether to install what reads a file, asked once and on a terminal alone."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from whet.cli.console import say


def offer_readers(
    folder: str, files: Sequence[str], *, as_json: bool, says_it: bool = False
) -> None:
    """Ask, and install it if the user says so. In CI, or where nobody sits, nothing is asked.

    Args:
        folder: in which the files are named.
        files: what is made smaller.
        as_json: a program reads the answers.
        says_it: say what is missing even if nothing is asked: no search says it at its start.
    """
    is_asked = sys.stdin.isatty() and sys.stderr.isatty() and not as_json
    is_asked = is_asked and not os.environ.get("CI")
    if not is_asked and not says_it:
        return
    from whet.workbench.shrink.readers import INSTALL_LINE, install_readers, lacking_readers

    lacking: dict[str, str] = {}
    with suppress(OSError):  # a file that can't be read is the search's to report
        lacking = lacking_readers(Path(folder or ".", name) for name in files)
    if not lacking:
        return
    what = ", ".join(f"{library}, which reads `{name}`," for library, name in lacking.items())
    say(f"whet: {what} isn't installed; as text or bytes it takes more trials and ends larger")
    if not is_asked:
        say(f"whet: to install it: `{INSTALL_LINE}`")
        return
    if not click.confirm(f"Install it with `{INSTALL_LINE}`?", default=False, err=True):
        return
    if why := install_readers():
        say(f"whet: that failed, so the file is shrunk without it: {why}")
