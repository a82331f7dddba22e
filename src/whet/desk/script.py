"""A trial as a script to read and to run: files are here-documents, and each step has its line."""

import base64
import re
from collections.abc import Mapping, Sequence

from whet.core.text.quantity import shown_bytes
from whet.core.text.shown_text import visible_line
from whet.desk.one_liner import ask_for, pieces_of, quote_in_script, quote_word, write_file

_SPECIAL = re.compile(r"[\\\\$`]")
_MARK = "END_OF_FILE"


def as_script(
    comment: str, steps: Sequence[str], *, secrets: Sequence[str] = (), start: str = ""
) -> str:
    """Return a script for any POSIX shell.

    Args:
        comment: what it shows, for its first lines.
        steps: what it does.
        secrets: variables that must be set.
        start: what it does before that.
    """
    said = [f"# {visible_line(text)}" for text in comment.split("\n") if text]
    begin = [start] if start else []
    return "\n".join(["#!/bin/sh", *said, "set -eu", *map(ask_for, secrets), *begin, *steps, ""])


def file_in_script(path: str, content: bytes, secrets: Mapping[str, str]) -> str:
    """Return lines that write a file: readable, if it is text.

    Args:
        path: the file.
        content: what it will hold.
        secrets: variables that stand in it, and their values.
    """
    pieces = list(pieces_of(content, secrets))
    if not all(_is_text(text) for text, _ in pieces):
        if len(pieces) > 1:
            return write_file(path, content, secrets)
        size = visible_line(f"# {path}: {shown_bytes(len(content))} that are no text")
        return f"{size}\nbase64 -d > {quote_word(path)} <<'{_MARK}'\n{_base64(content)}{_MARK}"
    if len(pieces) == 1 and not content.endswith(b"\n"):
        return f"printf '%s' {quote_in_script(content.decode())} > {quote_word(path)}"
    if not content.endswith(b"\n"):
        return write_file(path, content, secrets)
    mark = _MARK
    while mark.encode() in content:
        mark += "_"
    if len(pieces) == 1:
        return f"cat > {quote_word(path)} <<'{mark}'\n{content.decode()}{mark}"
    text = "".join(
        _SPECIAL.sub(r"\\\g<0>", text.decode()) + (f"${{{name}}}" if name else "")
        for text, name in pieces
    )
    return f"cat > {quote_word(path)} <<{mark}\n{text}{mark}"


def _is_text(content: bytes) -> bool:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return False
    return text.replace("\n", "").replace("\t", "").isprintable()


def _base64(content: bytes) -> str:
    return base64.encodebytes(content).decode("ascii")
