"""Reading the tracebacks of CPython 3.6 and later."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum

from whet.core.failure import Frame
from whet.core.text.quantity import bounded
from whet.core.value_class import value_class
from whet.evidence.printed.printed_path import path_printed


class Origin(Enum):
    """How a traceback came to be printed."""

    MAIN = "nothing caught the exception"
    LOGGED = "a log record shows it"
    CHILD = "a child process ended with it"
    THREAD = "a thread ended with it"
    IGNORED = "Python ignored it"


@value_class(kw_only=True)
class Traceback:
    """One printed exception with its stack.

    Attributes:
        exception: qualified type, as printed; empty if the traceback breaks off.
        message: what stands behind the type, over all its lines; notes included.
        stack: frames, outermost first, each with how often it is there.
        sources: the lines of source shown with each frame, in the same order.
        marks: the columns that carets mark in each of them, ``line:first-end`` counted from 0 within
            what is shown; empty: none.
        syntax_file: for a SyntaxError, the place that could not be parsed.
        previous: the exception that it was raised from, or while handling.
        is_remote: it was printed in another process and raised again in this one.
        leaves: the exceptions at the ends of an exception group, in order.
        origin: how it came to be printed.
        first_line: index of the line it starts in.
        end_line: index of the line behind its last one.
    """

    exception: str
    message: str = ""
    stack: tuple[tuple[Frame, int], ...] = ()
    sources: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    syntax_file: Frame | None = None
    previous: "Traceback | None" = None
    is_remote: bool = False
    leaves: tuple["Traceback", ...] = ()
    origin: Origin = Origin.MAIN
    first_line: int = 0
    end_line: int = 0

    @property
    def chain(self) -> Iterator["Traceback"]:
        """What came before this exception, the latest first."""
        earlier = self.previous
        while earlier is not None:
            yield earlier
            earlier = earlier.previous


_HEADER_TEXT = "Traceback (most recent call last):"
_GROUP_HEADER = re.compile(r"(?P<indent> *)\+ Exception Group Traceback \(most recent call last\):")
_FRAME = re.compile(r' *File "(?P<path>.+)", line (?P<line>\d+)(?:, in (?P<function>.+))?')
_REPEATED = re.compile(r" *\[Previous line repeated (?P<times>\d+) more times?\]")
_SYNTAX_LOCATION = re.compile(r'  File "[^"]+", line \d+')
_EXCEPTION = re.compile(
    r"(?P<type>[^\W\d]\w*(?:\.(?:\w+|<locals>))*(?:\([\w.]{1,80}\))?)(?::(?: (?P<message>.*))?)?"
)
_AT_A_MARGIN = re.compile(r" *[|+]")
_SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")
_CHAINED = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)
_INTRODUCTIONS = (
    (re.compile(r"Exception in thread"), Origin.THREAD),
    (
        re.compile(
            r"Exception ignored |Error in (?:atexit|sys\.excepthook|sys\.unraisablehook)"
            r"|Task exception was never retrieved|Future exception was never retrieved"
            r"|future: <|Exception in callback |handle: <"
        ),
        Origin.IGNORED,
    ),
    (re.compile(r"Process [\w.: -]{1,80}:$"), Origin.CHILD),
    (re.compile(r"--- Logging error ---"), Origin.LOGGED),
)
_LOG_LEVEL = re.compile(r"\b(?:ERROR|CRITICAL|FATAL|WARNING|WARN|EXCEPTION)\b")
_LOG_RECORD = re.compile(
    r"(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d)[^\n]*\b(?:ERROR|CRITICAL|FATAL|WARNING|INFO|DEBUG)\b"
    r"|(?:ERROR|CRITICAL|WARNING|INFO|DEBUG):[\w.]+:"
)
# What those who started a program, or other parts of it, print below its traceback.
_NOISE = re.compile(
    r"(?:g?make|ninja)(?:\[\d+\])?: |srun: |slurmstepd: |sys:1: |npm ERR!|\[?[WIEF]\d{3,4} "
    r"|Extension modules: |Exception ignored |\S+:\d+: \w*Warning: |error: Recipe `"
    r"|Fatal Python error: |Segmentation fault|Aborted|resource_tracker: |Sentry is attempting "
    r"|Task exception was never retrieved|Future exception was never retrieved"
)
_CARETS = re.compile(r" +[~^](?:[ ~^]*[~^])? *")
_REMOTE_EDGE = '"""'
_CHILD_OF_TORCH = re.compile(r"-- Process \d+ terminated with the following error:")
_MESSAGE_LINES = 200
_GROUP_DEPTH = 20
_SOURCE_CHARACTERS = 1_000
_LINES_WITHOUT_MARGIN = 8


def find_tracebacks(lines: Sequence[str], *, is_cut: bool = False) -> list[Traceback]:
    """Return the tracebacks in ``lines``, in order, each the last of its chain.

    Args:
        lines: what a program printed, without line ends.
        is_cut: the first lines are missing, and with them perhaps the start of a traceback.
    """
    reader = _Reader(lines)
    tracebacks: list[Traceback] = []
    if is_cut and reader.skip_to_first_frame():
        tracebacks += reader.read_chain(reader.read_plain())
    while reader.at < len(lines):
        traceback = reader.read_any()
        if traceback is not None:
            tracebacks += reader.read_chain(traceback)
    return tracebacks


def is_noise(line: str) -> bool:
    """Whether ``line`` says nothing about why the program failed, though it came last."""
    return _NOISE.match(line) is not None


class _Reader:
    """Goes through the lines once, from the first to the last."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.at = 0
        self.origin = Origin.MAIN

    def skip_to_first_frame(self) -> bool:
        """Go to a frame near the start; False if there is none: no traceback was cut."""
        for offset, line in enumerate(self.lines[:8]):
            if _FRAME.fullmatch(line) is not None:
                self.at = offset
                return True
        return False

    def read_any(self) -> Traceback | None:
        """Read the traceback that starts in this line; go to the next line if none does."""
        line, start = self.lines[self.at], self.at
        self.origin = origin = self._origin()
        traceback: Traceback | None = None
        if _HEADER_TEXT in line:
            group = _GROUP_HEADER.fullmatch(line.rstrip())
            self.at += 1
            if group is not None:
                traceback = self._read_group(len(group["indent"]))
            elif line.rstrip().endswith(_HEADER_TEXT):
                traceback = self.read_plain()
        elif _SYNTAX_LOCATION.fullmatch(line.rstrip()):
            traceback = self.read_plain()
            if traceback is not None and not traceback.exception.endswith(_SYNTAX_ERRORS):
                traceback = None
        if traceback is None:
            # Not back to the start: what was passed are frames and source, and going through
            # them once more for each line would make the time quadratic.
            self.at = max(self.at, start + 1)
            return None
        return replace(traceback, origin=origin, first_line=start)

    def read_chain(self, traceback: Traceback | None) -> list[Traceback]:
        """Read on while exceptions follow that were raised because of ``traceback``."""
        while traceback is not None:
            if self._line(0) == _REMOTE_EDGE:
                traceback = replace(traceback, is_remote=True)
                self.at += 1
            start = self.at
            following = self._read_following()
            if following is None:
                self.at = start
                return [replace(traceback, end_line=self.at)]
            traceback = replace(
                following,
                previous=traceback if following.previous is None else following.previous,
                origin=traceback.origin,
                first_line=traceback.first_line,
            )
        return []

    def read_plain(self) -> Traceback | None:
        """Read from the line behind a header up to the end of the exception's message."""
        first = self._line(0)
        indent = max(0, len(first) - len(first.lstrip(" ")) - 2)
        stack, sources, marks, syntax_file = self._read_stack(indent)
        traceback = None
        if self.at < len(self.lines):
            traceback = _EXCEPTION.fullmatch(self.lines[self.at][indent:].rstrip())
        if traceback is None:
            # It breaks off, or the output of another process came between.
            if not stack:
                return None
            return Traceback(
                exception="", stack=tuple(stack), sources=tuple(sources), marks=tuple(marks)
            )
        self.at += 1
        exception = traceback["type"].removeprefix("__main__.")
        message = self._read_message(traceback["message"] or "", indent)
        return Traceback(
            exception=exception,
            message=message,
            stack=tuple(stack),
            sources=tuple(sources),
            marks=tuple(marks),
            syntax_file=syntax_file if exception.endswith(_SYNTAX_ERRORS) else None,
            previous=self._read_embedded(exception),
        )

    def _line(self, offset: int) -> str:
        index = self.at + offset
        return self.lines[index] if 0 <= index < len(self.lines) else ""

    def _origin(self) -> Origin:
        introduction = self._line(-1) or self._line(-2)
        for pattern, origin in _INTRODUCTIONS:
            if pattern.match(introduction):
                return origin
        line = self._line(0)
        is_in_record = not line.startswith((_HEADER_TEXT, " "))
        logged = _LOG_LEVEL.search(line if is_in_record else introduction)
        return Origin.MAIN if logged is None else Origin.LOGGED

    def _read_stack(
        self, indent: int
    ) -> tuple[list[tuple[Frame, int]], list[str], list[str], Frame | None]:
        stack: list[tuple[Frame, int]] = []
        sources: list[str] = []
        marks: list[str] = []
        syntax_file: Frame | None = None
        while self.at < len(self.lines):
            line = self.lines[self.at]
            match = _FRAME.fullmatch(line.rstrip())
            repeated = None if match else _REPEATED.fullmatch(line.rstrip())
            if match is not None:
                frame = _frame(match["path"], match["line"], match["function"])
                if match["function"] is None:
                    syntax_file = frame
                else:
                    stack.append((frame, 1))
                    sources.append("")
                    marks.append("")
            elif repeated is not None and stack:
                stack[-1] = (stack[-1][0], 1 + bounded(repeated["times"]))
            elif _HEADER_TEXT in line or not self._is_source(line, indent):
                break
            elif sources and len(sources[-1]) < _SOURCE_CHARACTERS:
                if sources[-1] and _CARETS.fullmatch(line):
                    marks[-1] += _mark(sources[-1].count("\n") - 1, line, self._line(-1))
                sources[-1] += line.strip() + "\n"
            self.at += 1
        return stack, sources, marks, syntax_file

    def _is_source(self, line: str, indent: int) -> bool:
        """Whether ``line`` shows source or marks a part of it: it is indented by more."""
        if line.strip():
            return line.startswith(" " * (indent + 1))
        return self._line(1).startswith(" " * (indent + 2))

    def _read_message(self, first: str, indent: int) -> str:
        message = [first]
        # A program continues after what it logged: only indented lines belong to the message.
        margin = "" if self.origin is Origin.MAIN else " "
        while self.at < len(self.lines) and not self._ends_message(self.lines[self.at]):
            if not self.lines[self.at].startswith(margin):
                break
            if len(message) < _MESSAGE_LINES:
                message.append(self.lines[self.at][indent:])
            self.at += 1
        return "\n".join(message)

    def _ends_message(self, line: str) -> bool:
        return (
            not line.strip()
            or _HEADER_TEXT in line
            or line == _REMOTE_EDGE
            or _NOISE.match(line) is not None
            or _LOG_RECORD.match(line) is not None
            or any(pattern.match(line) for pattern, _ in _INTRODUCTIONS)
        )

    def _read_embedded(self, exception: str) -> Traceback | None:
        """Read the traceback of another process that is in the message of this one."""
        if exception.endswith("ProcessRaisedException"):
            for offset in range(4):
                if _CHILD_OF_TORCH.match(self._line(offset)):
                    self.at += offset + 1
                    break
        elif not self._line(0).startswith("Original " + _HEADER_TEXT):
            return None
        if _HEADER_TEXT not in self._line(0):
            return None
        inner = self.read_any()
        chain = [] if inner is None else self.read_chain(inner)
        return replace(chain[0], is_remote=True) if chain else None

    def _read_following(self) -> Traceback | None:
        while self.at < len(self.lines) and not self.lines[self.at].strip():
            self.at += 1
        if self._line(0).strip() not in _CHAINED:
            return None
        self.at += 1
        while self.at < len(self.lines) and not self.lines[self.at].strip():
            self.at += 1
        return self.read_any() if _HEADER_TEXT in self._line(0) else None

    def _read_group(self, indent: int) -> Traceback | None:
        start = self.at
        margin = re.compile(f" {{{indent},}}[|+]")
        while self.at < len(self.lines):
            # 3.11 prints the further lines of a message without the margin.
            following = self.lines[self.at : self.at + _LINES_WITHOUT_MARGIN]
            if not any(margin.match(line) for line in following) or (
                self.at > start and _GROUP_HEADER.fullmatch(self.lines[self.at].rstrip())
            ):
                break
            self.at += 1
        return _group(self.lines[start : self.at], indent, _GROUP_DEPTH)


def _group(lines: Sequence[str], indent: int, depth: int) -> Traceback | None:
    """Read an exception group, or an exception in one, from the lines at its margin."""
    margin = " " * indent + "|"
    edge = re.compile(rf" {{{indent}}}(?: {{2}}|\+-)\+-{{4,}}(?: (?:\d+|\.\.\.) -+)?")
    own: list[str] = []
    parts: list[list[str]] = []
    for line in lines:
        if edge.fullmatch(line):
            parts.append([])
        elif parts:
            parts[-1].append(line)
        elif line.startswith(margin):
            own.append(line[len(margin) + 1 :])
        elif not _AT_A_MARGIN.match(line):
            own.append(line)
    reader = _Reader(own)
    head: Traceback | None = None
    while reader.at < len(own):
        # An exception that was never raised has no header and no frames.
        traceback = reader.read_any() if _HEADER_TEXT in own[reader.at] else reader.read_plain()
        if traceback is None:
            reader.at += 1
        else:
            head = reader.read_chain(traceback)[-1]
    if head is None or depth == 0:
        return head
    inner = [_group(part, indent + 2, depth - 1) for part in parts]
    leaves = [leaf for one in inner if one is not None for leaf in (one.leaves or (one,))]
    return replace(head, leaves=tuple(leaves))


def _mark(number: int, carets: str, source: str) -> str:
    """Return which columns of a line of source are marked in the line below it."""
    shift = len(source) - len(source.lstrip())
    first, end = len(carets) - len(carets.lstrip()), len(carets.rstrip())
    return f"{number}:{first - shift}-{end - shift} "


def _frame(path: str, line: str, function: str | None) -> Frame:
    return Frame(
        path=path_printed(path),
        line=bounded(line),
        function=(function or "").strip(),
        in_user_code=False,
    )
