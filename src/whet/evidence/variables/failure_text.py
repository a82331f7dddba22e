"""A recorded failure as a traceback with the values of its variables."""

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import PurePath

from whet.evidence.variables.kept_failure import KeptError, KeptFailure, KeptFrame
from whet.evidence.variables.kept_value import value_line

_RELATIONS = {
    "cause": "which was raised from",
    "context": "which came while this was handled:",
    "member": "in the group:",
}
_MOST_VARIABLES = 25
_WIDTH = 100
_NAME_WIDTH = 24


def failure_lines(failure: KeptFailure, *, is_whole: bool = False, frames: int = 6) -> list[str]:
    """Return the lines about one failure.

    Args:
        failure: the recorded failure.
        is_whole: all frames, including those of libraries.
        frames: number of innermost frames of the user's own code.
    """
    telling = _Telling(failure, is_whole=is_whole, frames=frames)
    return [f"in {failure.title}", *telling.error(failure.error, "")]


def error_words(error: KeptError) -> str:
    """Return what Python says in the last line of a traceback, as far as it is known."""
    kind = error.type.removeprefix("__main__.")
    if not error.arguments:
        return kind
    first = error.arguments[0]
    if len(error.arguments) > 1:
        return f"{kind}: ({', '.join(value_line(each, _WIDTH) for each in error.arguments)})"
    is_quoted = kind == "KeyError" or not isinstance(first, str)
    words = value_line(first, 2 * _WIDTH) if is_quoted else str(first).split("\n", 1)[0]
    return f"{kind}: {words[: 2 * _WIDTH]}"


class _Telling:
    """One failure on its way into lines."""

    def __init__(self, failure: KeptFailure, *, is_whole: bool, frames: int) -> None:
        self._sources = failure.sources
        self._is_whole = is_whole
        self._frames = frames

    def error(self, error: KeptError, indent: str) -> Iterator[str]:
        """Yield the lines of an error, then of the one that it came from."""
        yield f"{indent}{error_words(error)}"
        yield from self._stack(error, f"{indent}  ")
        for member in error.members:
            yield f"{indent}  {_RELATIONS['member']}"
            yield from self.error(member, f"{indent}    ")
        if error.earlier is not None:
            yield f"{indent}{_RELATIONS.get(error.earlier.relation, '')}"
            yield from self.error(error.earlier, indent)

    def _stack(self, error: KeptError, indent: str) -> Iterator[str]:
        if error.skipped:
            yield f"{indent}… {error.skipped} frames in the middle weren't kept"
        if self._is_whole:
            for frame in error.frames:
                yield from self._frame(frame, indent)
            return
        own = [each for each in error.frames if each.frame.in_user_code] or error.frames[-1:]
        identities = {id(each) for each in own[-self._frames :]}
        if len(own) > self._frames:
            yield f"{indent}… {len(own) - self._frames} more frames of yours above: --locals"
        for kind, group in groupby(error.frames, lambda each: _kind(each, identities)):
            frames = list(group)
            if kind == "shown":
                for frame in frames:
                    yield from self._frame(frame, indent)
            elif kind == "library":
                yield f"{indent}… {_folded(frames)}"

    def _frame(self, kept: KeptFrame, indent: str) -> Iterator[str]:
        frame = kept.frame
        yield f"{indent}{PurePath(frame.path).name}:{frame.line} in {frame.function}"
        yield from self._statement(kept, f"{indent}    ")
        variables = kept.variables
        if variables is not None:  # pytest's own, in assertions that it has rewritten
            variables = tuple(each for each in variables if not each.name.startswith("@py_"))
        if variables is None:
            yield f"{indent}      (whet didn't look at its variables)"
            return
        width = min(max((len(each.name) for each in variables), default=0), _NAME_WIDTH)
        for each in variables[:_MOST_VARIABLES]:
            sign = "·" if each.is_global else "="
            yield f"{indent}      {each.name:<{width}} {sign} {value_line(each.value, _WIDTH)}"
        if len(variables) > _MOST_VARIABLES:
            yield f"{indent}      … {len(variables) - _MOST_VARIABLES} more variables"

    def _statement(self, kept: KeptFrame, indent: str) -> Iterator[str]:
        """Yield the line that was run, and below it a mark under what was being evaluated."""
        lines = self._sources.get(kept.frame.path, "").splitlines()
        if not 0 < kept.frame.line <= len(lines):
            return
        line = lines[kept.frame.line - 1]
        body = line.strip()
        yield f"{indent}{body}"
        if kept.position is None or kept.position[0] != kept.frame.line:
            return
        first, last, begins, ends = kept.position
        margin = len(line) - len(line.lstrip())
        start = _columns(line, begins) - margin
        end = (
            _columns(line, ends) if last == first else _columns(line.rstrip(), len(line) * 4)
        ) - margin
        if 0 <= start < end and (start, end) != (0, _columns(body, len(body) * 4)):
            yield f"{indent}{' ' * start}{'^' * (end - start)}"


def _kind(frame: KeptFrame, wanted: set[int]) -> str:
    if id(frame) in wanted:
        return "shown"
    return "older" if frame.frame.in_user_code else "library"


def _folded(frames: Sequence[KeptFrame]) -> str:
    last = frames[-1].frame
    where = f"{PurePath(last.path).name}:{last.line} in {last.function}"
    return where if len(frames) == 1 else f"{len(frames)} frames of libraries, the last: {where}"


def _columns(line: str, offset: int) -> int:
    """Return how many columns of a terminal stand before a byte of a line."""
    before = line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in before)
