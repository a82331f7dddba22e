"""Libraries that would read a payload's format and aren't installed."""

import importlib
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from whet.host.process.tool import ToolMissingError, call_tool
from whet.reduction.formats.source.grammars import parser_of
from whet.reduction.lacking import lacking_reader

_INSTALL = (sys.executable, "-m", "pip", "install", "whet[formats]")
INSTALL_LINE = shlex.join(_INSTALL)
"""What adds them all."""

_HEAD_BYTES = 64


def lacking_readers(paths: Iterable[Path]) -> dict[str, str]:
    """Return the libraries that read these files and aren't installed, each with a file's name."""
    readers: dict[str, str] = {}
    for path in paths:
        if path.is_file():
            with path.open("rb") as file:
                library = lacking_reader(file.read(_HEAD_BYTES), path.name)
            if library:
                readers.setdefault(library, path.name)
    return readers


def install_readers() -> str:
    """Install them for whet's own Python; return why that failed, or nothing."""
    try:
        answer = call_tool(_INSTALL)
    except ToolMissingError as error:
        return str(error)
    importlib.invalidate_caches()
    parser_of.cache_clear()
    return answer.complaint if answer.exit_code else ""
