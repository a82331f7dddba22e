"""How whet talks: results on stdout, talk on stderr, errors in one shape."""

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from typing import TextIO

from whet.core.errors import SOFTWARE, CannotWrite, InternalFault, WhetError
from whet.core.text.shown_text import visible_line
from whet.core.verdict import Verdict
from whet.host.process.own_command import as_called

SCHEMA_VERSION = 1
"""The version of everything that ``--json`` prints. It rises when a field changes its meaning or goes."""

_STYLES = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "dim": "2", "cyan": "36"}
_MARK = f"\x1b{os.urandom(8).hex()}"
"""Starts one of whet's colours until the line is written: no file name can hold it."""

_VERDICT_STYLES = {Verdict.BAD: "red", Verdict.GOOD: "green", Verdict.SKIP: "yellow"}


def wants_colour(stream: TextIO) -> bool:
    """Whether ``stream`` may be coloured: a terminal, and nobody said no."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def styled(text: str, style: str, stream: TextIO) -> str:
    """Return ``text`` in a colour if ``stream`` may be coloured. Colour never carries meaning."""
    return f"{_MARK}{_STYLES[style]}m{text}{_MARK}0m" if wants_colour(stream) else text


def shown(text: str) -> str:
    """Return one line as it is written: whet's own colours count, and nothing else is obeyed."""
    return "\x1b[".join(visible_line(part) for part in text.split(_MARK))


def say(text: str) -> None:
    """Write one line for the user; a stream that can't take it doesn't stop the work."""
    with suppress(OSError):  # a full disk, a reader or a terminal that has gone
        _write(sys.stderr, as_called(text))


def answer(text: str) -> None:
    """Write one line of the result.

    Raises:
        BrokenPipeError: if whoever read it has gone.
        CannotWrite: if it can't be written.
    """
    with _result_written():
        _write(sys.stdout, as_called(text))


def answer_lines(text: str) -> None:
    """Write lines of the result, such as a diff or what a program said; raises as `answer` does."""
    with _result_written():
        for line in _veiled(text).replace("\r\n", "\n").split("\n"):
            _write(sys.stdout, line)


def answer_json(data: Mapping[str, object], *, on_one_line: bool = False) -> None:
    """Write the result as one JSON object; raises as `answer` does."""
    import json

    indent = None if on_one_line else 2
    answer_lines(json.dumps({"schema_version": SCHEMA_VERSION, **data}, indent=indent))


def answer_bytes(data: bytes, stream: TextIO) -> None:
    """Write what a program wrote, its secrets masked; raises as `answer` does."""
    from whet.host.trial.known_secrets import veiled_data

    with _result_written():
        stream.flush()
        stream.buffer.write(veiled_data(data))
        stream.flush()


def verdict_word(verdict: Verdict, stream: TextIO) -> str:
    """Return the verdict as it is shown."""
    return styled(verdict.value.upper(), _VERDICT_STYLES[verdict], stream)


def report_error(error: WhetError, *, as_json: bool = False) -> int:
    """Show an error with its next step and return its exit code; as JSON, on standard output too."""
    if as_json:
        fields = {"slug": error.slug, "message": str(error), "hint": error.hint}
        with suppress(WhetError, OSError):
            answer_json({"error": {**fields, "exit_code": error.exit_code}}, on_one_line=True)
    say(f"{styled('error', 'red', sys.stderr)}: {error}")
    say("")
    say(f"hint: {error.hint}")
    say(f"see:  {as_called('`whet explain`').strip('`')} {error.slug}")
    return error.exit_code


def report_fault(error: Exception, *, as_json: bool = False) -> int:
    """Keep the traceback of whet's own bug in a file, name it, and return the exit code."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="whet-fault-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.write(_veiled("".join(traceback.format_exception(error))))
    return (
        report_error(
            InternalFault(
                f"whet itself failed: {type(error).__name__}: {error}",
                hint=f"please report this bug and attach `{file.name}`",
            ),
            as_json=as_json,
        )
        or SOFTWARE
    )


def _veiled(text: str) -> str:
    from whet.host.trial.known_secrets import veiled  # `whet --help` needs none of it

    return veiled(text)


@contextmanager
def _result_written() -> Generator[None, None, None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotWrite(
            f"whet can't write the result: {error.strerror}",
            hint="check where standard output goes: is the disk full, or the terminal closed?",
        ) from error


def _write(stream: TextIO, text: str) -> None:
    line = f"{shown(_veiled(text))}\n"
    try:
        stream.write(line)
    except UnicodeEncodeError:  # a terminal that isn't UTF-8
        stream.write(line.encode("ascii", "backslashreplace").decode())
    stream.flush()
