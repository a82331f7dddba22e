"""Processes that died instead of raising: faulthandler, abort messages, the shell's words."""

import re
import signal
from collections.abc import Sequence

from whet.core.failure import Frame
from whet.core.value_class import value_class


@value_class(kw_only=True)
class FatalError:
    """What a dying process still said.

    Attributes:
        line: the most specific line, as printed; empty if there is none.
        signal: name of the signal that the text speaks of; empty if it names none.
        exception: type of an uncaught C++ exception.
        message: what tells this death from others with the same signal.
        function: ``file.c:function`` of a failed assertion or a sanitizer's report.
        stack: Python frames of the thread that died, outermost first.
    """

    line: str = ""
    signal: str = ""
    exception: str = ""
    message: str = ""
    function: str = ""
    stack: tuple[Frame, ...] = ()


_FATAL = re.compile(r"Fatal Python error: (?P<message>.+)")
_FAULT_SIGNALS = {
    "Segmentation fault": "SIGSEGV",
    "Bus error": "SIGBUS",
    "Aborted": "SIGABRT",
    "Floating point exception": "SIGFPE",
    "Floating-point exception": "SIGFPE",
    "Illegal instruction": "SIGILL",
    "Killed": "SIGKILL",
    "Terminated": "SIGTERM",
    "User defined signal 1": "SIGUSR1",
    "Trace/breakpoint trap": "SIGTRAP",
    "Bad system call": "SIGSYS",
    "CPU time limit exceeded": "SIGXCPU",
    "File size limit exceeded": "SIGXFSZ",
    "Hangup": "SIGHUP",
    "Quit": "SIGQUIT",
}
_THREAD = re.compile(r"(?P<current>Current )?[Tt]hread 0x[0-9a-f]+.*\(most recent call first\):")
_FRAME = re.compile(r'  File "(?P<path>.+)", line (?P<line>\d+|\?\?\?) in (?P<function>.+)')
# `script.sh: line 3: 12345 Segmentation fault  (core dumped) ./program`
_SHELL_WORDS = re.compile(
    r"(?:[^\n:]{1,200}: (?:line \d+: )?)?(?:\d+ )?(?P<words>"
    + "|".join(re.escape(words) for words in _FAULT_SIGNALS)
    + r")(?: +\(core dumped\))?(?: .*)?"
)
_TERMINATE = re.compile(
    r"terminate called after throwing an instance of '(?P<type>[^\n]{1,300})'"
    r"|libc\+\+abi: terminating due to uncaught exception of type (?P<other>[^\n:]{1,300})"
    r"(?:: (?P<told>.*))?"
)
_WHAT = re.compile(r"  what\(\):  (?P<what>.*)")
_ASSERTION = re.compile(
    r"[^\n:]{1,200}: (?P<file>[^\n:]{1,300}):\d+: (?P<function>[^\n]{0,400}?): "
    r"Assertion [`'](?P<claim>.+)' failed\."
)
_ALLOCATOR = re.compile(
    r"(?:.{0,200}: )?(?P<message>(?:free|malloc|realloc|munmap_chunk|corrupted|double free|tcache|"
    r"calloc)\b[^\n]{0,20}(?:\(|: | )[^\n]{3,80}|\*\*\* [\w ]{3,60} \*\*\*: terminated)"
)
_SANITIZER = re.compile(
    r"SUMMARY: (?P<tool>\w+Sanitizer): (?P<what>[\w-]+) (?P<file>\S+?)(?::\d+){1,2} in (?P<function>\S+)"
)
_LAST_LINES = 400


def read_fatal_error(lines: Sequence[str]) -> FatalError | None:
    """Return what the last lines say about the death of a process, or None if nothing."""
    for index in range(len(lines) - 1, max(-1, len(lines) - 1 - _LAST_LINES), -1):
        fatal = _of_python(lines, index) or _of_native_code(lines, index)
        if fatal is not None:
            return fatal
    return None


def signal_in_words(line: str) -> str:
    """Return the name of the signal by which, as a shell says in ``line``, a program died."""
    match = _SHELL_WORDS.fullmatch(line)
    return "" if match is None else _FAULT_SIGNALS[match["words"]]


def signal_name(number: int) -> str:
    """Return the name of a signal, such as ``SIGSEGV``."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def signal_number(exit_code: int | None) -> int | None:
    """Return the signal that a shell's exit code stands for, or None if for none."""
    if exit_code is None:
        return None
    number = exit_code - 128
    return number if number in {item.value for item in signal.Signals} else None


def _of_python(lines: Sequence[str], index: int) -> FatalError | None:
    match = _FATAL.match(lines[index])
    if match is None:
        return None
    message = match["message"].strip()
    name = _FAULT_SIGNALS.get(message, "")
    return FatalError(
        line=lines[index].strip(),
        signal=name,
        message="" if name else message,
        stack=_current_stack(lines[index + 1 :]),
    )


def _current_stack(lines: Sequence[str]) -> tuple[Frame, ...]:
    """Read the stack of the current thread, else that of the only one."""
    stack: list[Frame] = []
    is_current = False
    for line in lines:
        thread = _THREAD.match(line)
        if thread is not None:
            if is_current and stack:
                break
            is_current, stack = thread["current"] is not None, []
            continue
        frame = _FRAME.fullmatch(line.rstrip())
        if frame is not None:
            number = frame["line"]
            stack.append(
                Frame(
                    path=frame["path"],
                    line=int(number[:9]) if number.isdigit() else 0,
                    function=frame["function"],
                    in_user_code=False,
                )
            )
    return tuple(reversed(stack))


def _of_native_code(lines: Sequence[str], index: int) -> FatalError | None:
    line = lines[index]
    if "Assertion" in line and (match := _ASSERTION.fullmatch(line)) is not None:
        file = match["file"].rsplit("/", 1)[-1]
        return FatalError(
            line=line,
            signal="SIGABRT",
            message=f"Assertion {match['claim']} failed",
            function=f"{file}:{_c_function(match['function'])}",
        )
    if "terminat" in line and (match := _TERMINATE.match(line)) is not None:
        explanation = _WHAT.match(lines[index + 1]) if index + 1 < len(lines) else None
        what = explanation["what"] if explanation is not None else (match["told"] or "")
        exception = match["type"] or match["other"]
        return FatalError(
            line=f"{exception}: {what}" if what else exception,
            signal="SIGABRT",
            exception=exception,
            message=what,
        )
    if line.startswith("SUMMARY: ") and (match := _SANITIZER.match(line)) is not None:
        file = match["file"].rsplit("/", 1)[-1]
        return FatalError(
            line=line, message=match["what"], function=f"{file}:{match['function']}",
            exception=match["tool"],
        )  # fmt: skip
    if (match := _ALLOCATOR.fullmatch(line)) is not None:
        return FatalError(line=line, signal="SIGABRT", message=match["message"])
    return None


def _c_function(declaration: str) -> str:
    """Return the name in a declaration such as ``int N::f(char*) const``."""
    name = declaration.split("(", 1)[0].split()
    return name[-1].lstrip("*&") if name else ""
