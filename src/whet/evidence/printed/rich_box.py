"""Removing the boxes that `rich` and `typer` draw around tracebacks and messages."""

import re
from collections.abc import Iterator

_TOP = re.compile(r"[╭┌+][─-]+ Traceback \(most recent call last\) [─-]+[╮┐+]")
_BOTTOM = re.compile(r"[╰└+][─-]+[╯┘+]")
_TITLE = re.compile(r"[╭┌][─-]+ .* [─-]+[╮┐]")
_SIDE = re.compile(r"[│|] ?(?P<content>.*?) *[│|]")
_FRAME = re.compile(r"(?P<path>\S.*):(?P<line>\d+) in (?P<function>\S+)")
_FAILING_LINE = re.compile(r"[❱>] *\d+ [│|] ?(?P<source>.*)")
_PATH_PART = re.compile(r"(?:/|~|[A-Z]:\\|<)\S*")


def without_boxes(text: str) -> str:
    """Return ``text`` with its boxes opened; a boxed traceback as CPython would print it."""
    if "╭─" not in text and "┌─" not in text and "+- Traceback (" not in text:
        return text
    lines: list[str] = []
    traceback: list[str] | None = None
    for line in text.split("\n"):
        bare = line.rstrip()
        if _TOP.fullmatch(bare):
            traceback = []
            lines.append("Traceback (most recent call last):")
        elif traceback is not None and _BOTTOM.fullmatch(bare):
            lines += _frames(traceback)
            traceback = None
        elif (side := _SIDE.fullmatch(bare)) is not None and (traceback is not None or "│" in bare):
            (lines if traceback is None else traceback).append(side["content"])
        elif not (_TITLE.fullmatch(bare) or _BOTTOM.fullmatch(bare)):
            lines.append(line)
    return "\n".join([*lines, *_frames(traceback or [])])


def _frames(contents: list[str]) -> Iterator[str]:
    """Write the frames in a box as CPython does: the place, and below it the failing line."""
    path = ""
    for content in contents:
        frame = _FRAME.fullmatch(path + content)
        failing = _FAILING_LINE.fullmatch(content)
        # A path that is too long for the box is broken into two lines.
        path = content if frame is None and _PATH_PART.fullmatch(content) else ""
        if frame is not None:
            yield f'  File "{frame["path"]}", line {frame["line"]}, in {frame["function"]}'
        elif failing is not None:
            yield f"    {failing['source'].strip()}"
