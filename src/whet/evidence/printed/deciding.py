"""Which of many tracebacks ended the program."""

from collections.abc import Sequence

from whet.evidence.printed.python_traceback import Origin, Traceback, is_noise

_EXIT_CODE_OF_UNCAUGHT = 1
_OF_A_LAUNCHER = "ChildFailedError"
_OF_A_CALLED_PROGRAM = "CalledProcessError"


def deciding_traceback(
    tracebacks: Sequence[Traceback], lines: Sequence[str], exit_code: int | None
) -> Traceback | None:
    """Return the traceback that explains a program's exit, or None if another thing does.

    It is the last uncaught one. One that was logged, or that ended a thread or a child,
    explains the exit only if the program said nothing after it; so does one that can't have
    come from the main thread, because Python exits with 1 then.
    """
    for origins in (
        (Origin.MAIN, Origin.LOGGED),
        (Origin.CHILD,),
        (Origin.THREAD,),
        (Origin.IGNORED,),
    ):
        of_origin = [item for item in tracebacks if item.origin in origins]
        if not of_origin:
            continue
        last = of_origin[-1]
        is_certain = last.origin is Origin.MAIN and exit_code == _EXIT_CODE_OF_UNCAUGHT
        if is_certain or not _says_more(last, tracebacks, lines):
            return _root_cause(last, tracebacks)
        return None
    return None


def called_exception(decided: Traceback, tracebacks: Sequence[Traceback]) -> str:
    """Return the exception that ended a Python program which the failed one had called."""
    if not decided.exception.endswith(_OF_A_CALLED_PROGRAM):
        return ""
    before = [item for item in tracebacks if item.end_line <= decided.first_line]
    return before[-1].exception if before else ""


def outside(tracebacks: Sequence[Traceback], lines: Sequence[str]) -> list[str]:
    """Return the lines that stand neither in a traceback nor right above one."""
    words: list[str] = []
    end = 0
    for traceback in tracebacks:
        # The line above a traceback introduces it.
        words += lines[end : max(end, traceback.first_line - 1)]
        end = traceback.end_line
    return [*words, *lines[end:]]


def _root_cause(last: Traceback, tracebacks: Sequence[Traceback]) -> Traceback:
    """Look behind torchrun, which raises an error of its own for that of a worker.

    The worker that failed first prints first; the others lose their peer and fail after it.
    """
    if not last.exception.endswith(_OF_A_LAUNCHER):
        return last
    workers = [item for item in tracebacks if item.origin is Origin.MAIN and item is not last]
    return workers[0] if workers else last


def _says_more(traceback: Traceback, tracebacks: Sequence[Traceback], lines: Sequence[str]) -> bool:
    """Whether the program wrote anything of weight below ``traceback``."""
    upto = [item for item in tracebacks if item.first_line <= traceback.first_line]
    words = outside(tracebacks, lines)[len(outside(upto, lines[: traceback.end_line])) :]
    return any(line.strip() and not is_noise(line) for line in words)
