"""Text that may come from anybody, made harmless to show."""

import re

_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # what a terminal obeys
    # What turns the direction of a text, so that it reads otherwise than it is (CVE-2021-42574).
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
    "\u2028\u2029"  # ends of lines
    "\u00ad\u180e\u200b\u2060-\u2065\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # isn't seen
    "\ud800-\udfff"  # bytes that are no text
)
_IN_TEXT, _IN_LINE = re.compile(f"[{_HIDDEN}]"), re.compile(f"[\n{_HIDDEN}]")
_LINE_END = "\n"
_BYTES, _FIRST_BYTE, _LAST_BYTE = 0xDC00, 0xDC80, 0xDCFF


def visible(text: str) -> str:
    """Return ``text``, of many lines, with what isn't seen or is obeyed shown as escapes."""
    return _IN_TEXT.sub(_escape, text.replace("\r\n", _LINE_END))


def visible_line(text: str) -> str:
    """Return ``text`` as one line: a line end in it is shown as an escape, too."""
    return _IN_LINE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    if _FIRST_BYTE <= number <= _LAST_BYTE:  # as `os.fsdecode` keeps a byte that is no UTF-8
        return f"\\x{number - _BYTES:02x}"
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")
