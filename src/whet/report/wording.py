"""Text of programs and payloads, made harmless to show."""

from whet.core.text.shown_text import visible

_BYTES_A_ROW = 16
_PRINTABLE = range(0x20, 0x7F)  # ASCII
_LONGEST_LINE = 300


def unbroken(text: str) -> str:
    """Return ``text`` on one line, all of it."""
    return " ".join(visible(text).split())


def one_line(text: str) -> str:
    """Return ``text`` on one line of bounded length."""
    line = unbroken(text)
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."


def fence(text: str, language: str = "") -> str:
    """Return ``text`` as a fenced Markdown block, whatever backticks it holds."""
    body = visible(text).rstrip("\n")
    longest = max((len(run) for run in _runs_of_backticks(body)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{body}\n{marks}"


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


def _runs_of_backticks(text: str) -> list[str]:
    runs = [""]
    for character in text:
        if character == "`":
            runs[-1] += character
        elif runs[-1]:
            runs.append("")
    return runs
