"""What other languages print when they crash: Node.js, Java, Go, Rust."""

import re
from collections.abc import Sequence

from whet.core.value_class import value_class


@value_class(kw_only=True)
class ForeignCrash:
    """An uncaught error of a program that isn't written in Python.

    Attributes:
        exception: its type as printed, or ``panic``.
        message: what it said.
        function: innermost function or file of the program's own code, if the crash names it.
        causes: types of the errors that it was raised from.
    """

    exception: str
    message: str
    function: str = ""
    causes: tuple[str, ...] = ()


_LAST_LINES = 2_000

_NODE_FRAME = re.compile(
    r"    at (?:(?:async |new )?(?P<function>[^(\n]{1,200}) \()?(?P<file>[^()\n]+?):\d+:\d+\)?"
)
_ERROR_LINE = re.compile(
    r"(?:Uncaught )?(?P<type>(?:[A-Z][\w$]*(?:Error|Exception)|Error|DOMException)(?: \[\w+\])?)"
    r"(?:: (?P<message>.*))?"
)
_JAVA_START = re.compile(
    r'Exception in thread "[^"\n]{0,200}" (?P<type>[\w.$]+)(?:: (?P<message>.*))?'
)
_JAVA_FRAME = re.compile(
    r"\tat (?:[\w.@-]{1,80}/)*(?P<function>[\w.$<>]+)\((?P<file>[^():]+)(?::\d+)?\)"
)
_JAVA_CAUSE = re.compile(r"Caused by: (?P<type>[\w.$]+)(?:: .*)?")
_GO_START = re.compile(r"(?P<what>panic|fatal error): (?P<message>.*)")
_GO_FUNCTION = re.compile(r"(?P<function>[\w./*()-]+)\(.*\)")
_RUST_START = re.compile(
    r"thread '(?P<thread>[^'\n]{0,200})'(?: \(\d+\))? panicked at "
    r"(?:'(?P<old>.*)', (?P<old_file>[^\n:]+):\d+:\d+|(?P<file>[^\n:]+):\d+:\d+:)"
)


def read_foreign_crash(lines: Sequence[str]) -> ForeignCrash | None:
    """Return the last crash in ``lines``, or None."""
    first = max(0, len(lines) - _LAST_LINES)
    for index in range(len(lines) - 1, first - 1, -1):
        line = lines[index]
        crash = None
        if line.startswith("Exception in thread"):
            crash = _java(lines, index)
        elif line.startswith("thread '"):
            crash = _rust(lines, index)
        elif line.startswith(("panic: ", "fatal error: ")):
            crash = _go(lines, index)
        elif line.startswith("    at ") and not lines[index - 1].startswith("    at "):
            crash = _node(lines, index)
        if crash is not None:
            return crash
    return None


def _node(lines: Sequence[str], index: int) -> ForeignCrash | None:
    """Read upwards from the first line of the stack to the error's own line."""
    for above in range(index - 1, max(-1, index - 30), -1):
        match = _ERROR_LINE.fullmatch(lines[above])
        if match is None:
            continue
        message = [match["message"] or "", *lines[above + 1 : index]]
        function = ""
        for line in lines[index : index + 50]:
            frame = _NODE_FRAME.match(line)
            if frame is None:
                break
            if not frame["file"].startswith(("node:", "internal/")) and (
                "node_modules" not in frame["file"]
            ):
                function = f"{_basename(frame['file'])}:{frame['function'] or '<anonymous>'}"
                break
        return ForeignCrash(exception=match["type"], message="\n".join(message), function=function)
    return None


def _java(lines: Sequence[str], index: int) -> ForeignCrash | None:
    match = _JAVA_START.fullmatch(lines[index])
    if match is None:
        return None
    functions: list[str] = []
    causes: list[str] = []
    for line in lines[index + 1 : index + 500]:
        frame = _JAVA_FRAME.match(line)
        cause = _JAVA_CAUSE.match(line)
        if frame is not None and not causes:
            functions.append(frame["function"])
        elif cause is not None:
            causes.append(cause["type"])
        elif not line.startswith(("\t", " ")):
            break
    own = [name for name in functions if not name.startswith(("java.", "javax.", "jdk.", "sun."))]
    return ForeignCrash(
        exception=match["type"],
        message=match["message"] or "",
        function=(own or functions or [""])[0],
        causes=tuple(causes),
    )


def _go(lines: Sequence[str], index: int) -> ForeignCrash | None:
    match = _GO_START.fullmatch(lines[index])
    if match is None:
        return None
    for below in range(index + 1, min(len(lines), index + 60)):
        if not lines[below].startswith("goroutine "):
            continue
        for line in lines[below + 1 : below + 100]:
            function = _GO_FUNCTION.match(line)
            if not line:
                break
            if function is not None and not function["function"].startswith(("runtime.", "panic")):
                return ForeignCrash(
                    exception=match["what"],
                    message=match["message"],
                    function=function["function"],
                )
        return ForeignCrash(exception=match["what"], message=match["message"])
    return None


def _rust(lines: Sequence[str], index: int) -> ForeignCrash | None:
    match = _RUST_START.match(lines[index])
    if match is None:
        return None
    below = lines[index + 1] if index + 1 < len(lines) else ""
    return ForeignCrash(
        exception="panic",
        message=below if match["old"] is None else match["old"],
        function=_basename(match["old_file"] or match["file"]),
    )


def _basename(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
