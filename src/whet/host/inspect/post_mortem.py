"""pdb on recorded frames: the sources as the trial ran them, with any standard input."""

import linecache
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from pdb import Pdb
from types import FrameType, TracebackType


class _PostMortem(Pdb):
    """pdb that begins at a chosen frame of a traceback."""

    def __init__(self, depth: int) -> None:
        super().__init__(nosigint=True, readrc=False)
        with suppress(OSError):  # the user's own; one in a project may come from anybody
            lines = Path("~/.pdbrc").expanduser().read_text("utf-8").splitlines(keepends=True)
            self.rcLines.extend(lines)
        self._depth = depth

    def setup(self, f: FrameType | None, tb: TracebackType | None) -> None:
        super().setup(f, tb)
        self.curindex = min(self._depth, len(self.stack) - 1)
        self.curframe = self.stack[self.curindex][0]
        self.curframe_locals = self.curframe.f_locals


def open_pdb(trace: TracebackType, depth: int, sources: Mapping[str, str]) -> None:
    """Let the user look around until they leave.

    Args:
        trace: where it failed.
        depth: the frame to begin at; 0 is the outermost.
        sources: text of files by path, to be shown in place of what is there now.
    """
    before = dict(linecache.cache)
    for path, text in sources.items():
        # Without a time: it is never compared with the file, which may have been edited since.
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    pdb = _PostMortem(depth)
    if not sys.stdin.isatty():
        pdb.use_rawinput = False
    try:
        pdb.reset()
        pdb.interaction(None, trace)
    finally:
        linecache.cache.clear()
        linecache.cache.update(before)
