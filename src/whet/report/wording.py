"""Text of programs and payloads, made harmless to show."""

import unicodedata

_KEPT = {"\n", "\t"}
_BYTES_A_ROW = 16
_PRINTABLE = range(0x20, 0x7F)  # ASCII
_LONGEST_LINE = 300


def visible(text: str) -> str:
    """Return ``text`` with control characters and broken ones shown as escapes."""
    return "".join(
        character if character in _KEPT or not _is_hidden(character) else _escape(character)
        for character in text.replace("\r\n", "\n")
    )


def unbroken(text: str) -> str:
    """Return ``text`` on one line, all of it."""
    return " ".join(visible(text).split())


def one_line(text: str) -> str:
    """Return ``text`` on one line of bounded length."""
    line = unbroken(text)
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."


def fence(text: str, language: str = "") -> str:
    """Return ``text`` as a fenced Markdown block, whatever backticks it holds."""
    shown = visible(text).rstrip("\n")
    longest = max((len(run) for run in _runs_of_backticks(shown)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{shown}\n{marks}"


def is_text(data: bytes) -> bool:
    """Whether ``data`` can be read as text: UTF-8 without NUL."""
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False


def hex_dump(data: bytes) -> str:
    """Return ``data`` as rows of offset, hexadecimal and ASCII."""
    rows: list[str] = []
    for offset in range(0, len(data), _BYTES_A_ROW):
        row = data[offset : offset + _BYTES_A_ROW]
        readable = "".join(chr(byte) if byte in _PRINTABLE else "." for byte in row)
        rows.append(f"{offset:08x}  {row.hex(' '):47}  {readable}")
    return "\n".join(rows)


def _is_hidden(character: str) -> bool:
    # Format characters (Cf) include those that turn the writing direction and deceive readers.
    return unicodedata.category(character) in {"Cc", "Cf", "Cs"}


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _runs_of_backticks(text: str) -> list[str]:
    runs = [""]
    for character in text:
        if character == "`":
            runs[-1] += character
        elif runs[-1]:
            runs.append("")
    return runs
