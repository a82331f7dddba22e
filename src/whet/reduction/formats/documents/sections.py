"""TOML, INI and logs: units that may take several lines, and groups of them below a header."""

import re
from collections.abc import Callable, Iterator, Sequence

from whet.core.text.toml import toml_data
from whet.core.value_class import value_class
from whet.reduction.edit import Edit, delete_pieces, make_changes
from whet.reduction.reduction_pass import Format, PassSearch, ReductionPass, Stage, last_view

LARGEST_READ_BYTES = 1024 * 1024
"""whet cuts a larger one by lines until it is smaller: the standard library reads it slowly."""


@value_class
class SectionText:
    """A text of sections.

    Attributes:
        payload: the text.
        sections: where each header and what is below it is.
        entries: where each option is, with all its lines; comments and blank lines are none.
    """

    payload: bytes
    sections: tuple[tuple[int, int], ...]
    entries: tuple[tuple[int, int], ...]


_LINE_END = rb"[^\r\n]*+(?:\r?\n|\r|\Z)"
_NOTE = re.compile(rb"[ \t]*+(?:[#;]" + _LINE_END + rb"|\r?\n|\r)|[ \t]++\Z")
_HEADER = re.compile(rb"[ \t]*+\[[^\r\n]*\][ \t]*+(?:[#;]" + _LINE_END + rb"|\r?\n|\r|\Z)")
_INI_OPTION = re.compile(
    rb"(?:export )?[^\s=:\[\]#;][^\r\n=:]*+(?P<value>[=:]" + _LINE_END + rb"|(?:\r?\n|\r|\Z))"
    rb"(?:[ \t]++[^\s][^\r\n]*+(?:\r?\n|\r|\Z))*"
)
_TOML_VALUE = re.compile(
    rb'''"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"|'[^'\n]*+'|\#[^\n]*+'''
    rb"""|(?P<open>[\[{])|(?P<close>[\]}])|(?P<end>\n)|[^\[\]{}"'\#\n]++""",
    re.DOTALL | re.VERBOSE,
)


def parse_ini(payload: bytes) -> SectionText | None:
    """Return the sections and options; None where a line is neither, nor a comment."""
    return _parse(payload, _ini_option_end)


def parse_toml(payload: bytes) -> SectionText | None:
    """Return the tables and keys; None if it is no TOML, or larger than `LARGEST_READ_BYTES`."""
    if len(payload) > LARGEST_READ_BYTES:
        return None
    try:
        toml_data(payload.decode().replace("\r\n", "\n"))
    except ValueError:
        return None
    return _parse(payload, _toml_entry_end)


def _parse(payload: bytes, end_of: Callable[[bytes, int], int]) -> SectionText | None:
    headers: list[int] = []
    entries: list[tuple[int, int]] = []
    position = len(b"\xef\xbb\xbf") * payload.startswith(b"\xef\xbb\xbf")
    while position < len(payload):
        start = position
        note = _NOTE.match(payload, start)
        header = None if note else _HEADER.match(payload, start)
        if note is not None:
            position = note.end()
        elif header is not None:
            headers.append(start)
            position = header.end()
        else:
            position = end_of(payload, start)
            entries.append((start, position))
        if position <= start:
            return None
    if not headers and not entries:
        return None
    ends = [*headers[1:], len(payload)]
    return SectionText(payload, tuple(zip(headers, ends, strict=False)), tuple(entries))


def _ini_option_end(payload: bytes, start: int) -> int:
    match = _INI_OPTION.match(payload, start)
    return start if match is None else match.end()


def _toml_entry_end(payload: bytes, start: int) -> int:
    depth = 0
    for match in _TOML_VALUE.finditer(payload, start):
        kind = match.lastgroup
        depth += (kind == "open") - (kind == "close")
        if kind == "end" and depth == 0:
            return match.end()
    return len(payload)


INI = Format(name="ini", parse=last_view(parse_ini))
TOML = Format(name="toml", parse=last_view(parse_toml))


def _cutting(spans: Sequence[tuple[int, int]], payload: bytes) -> PassSearch:
    return make_changes(payload, [[Edit(start, end)] for start, end in spans])


def _delete_sections(text: SectionText) -> PassSearch:
    return _cutting(text.sections, text.payload)


def _delete_entries(text: SectionText) -> PassSearch:
    return _cutting(text.entries, text.payload)


def _empty_options(text: SectionText) -> PassSearch:
    """Put nothing for the values of options."""
    return make_changes(text.payload, [[edit] for edit in _values(text)])


def _values(text: SectionText) -> Iterator[Edit]:
    for start, end in text.entries:
        match = _INI_OPTION.match(text.payload, start)
        if match is not None and match.end("value") - match.start("value") > 1:
            last = start + len(text.payload[start:end].rstrip(b"\r\n"))
            if last > match.start("value") + 1:
                yield Edit(match.start("value") + 1, last)


def _passes(unit: str, group: str) -> tuple[ReductionPass[SectionText], ...]:
    return (
        ReductionPass(
            name=f"delete {group}", stage=Stage.STRUCTURE, search=_delete_sections, unit=group
        ),
        ReductionPass(
            name=f"delete {unit}", stage=Stage.STRUCTURE, search=_delete_entries, unit=unit
        ),
    )


INI_PASSES = (
    *_passes("options", "sections"),
    ReductionPass(name="empty options", stage=Stage.VALUES, search=_empty_options),
)
TOML_PASSES = _passes("keys", "TOML tables")

_INI_NAMES = (".ini", ".cfg", ".conf", ".env", ".properties", ".desktop", ".service")


def is_ini(payload: bytes, name: str) -> bool:
    """Return whether a payload is INI: by its name, or by a header before options."""
    is_named = name.lower().endswith(_INI_NAMES)
    start = payload[:256].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not is_named and not _HEADER.match(start):
        return False
    text = INI.parse(payload)
    return text is not None and (is_named or bool(text.sections and text.entries))


_TOML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t]*+(?:#[^\n]*+)?\r?\n)*[ \t]*+"
    rb"""(?:\[\[?[\w."' \t-]++\]|[\w."'-]++[ \t]*+=[ \t]*+["'\[{\dtfin+-])"""
)


def is_toml(payload: bytes, _name: str) -> bool:
    """Return whether a payload is TOML."""
    return _TOML_START.match(payload) is not None and TOML.parse(payload) is not None


_STAMP = re.compile(
    rb"^(?:[\[(]?(?:[A-Z]+[ \t]*[: |-][ \t]*)?"
    rb"(?:\d{4}[-/.]\d\d[-/.]\d\d[T _]?|\d\d[/.-]\w{2,3}[/.-]\d{4}[: ]|[A-Z][a-z]{2} [ \d]\d )?"
    rb"\d\d:\d\d:\d\d)",
    re.MULTILINE,
)


@value_class
class LogText:
    """A log.

    Attributes:
        payload: its text.
        bounds: where each record starts, then the end of all. A record is a line that starts with a
            time, and the lines below it that don't, such as a traceback.
    """

    payload: bytes
    bounds: tuple[int, ...]


def parse_log(payload: bytes) -> LogText | None:
    """Return the records; None if less than two lines start with a time."""
    starts = [match.start() for match in _STAMP.finditer(payload)]
    return LogText(payload, (*starts, len(payload))) if len(starts) > 1 else None


LOG = Format(name="log", parse=last_view(parse_log))


def _delete_records(log: LogText) -> PassSearch:
    return delete_pieces(log.payload, log.bounds)


LOG_PASSES = (
    ReductionPass(
        name="delete records", stage=Stage.STRUCTURE, search=_delete_records, unit="records"
    ),
)


def is_log(payload: bytes, _name: str) -> bool:
    """Return whether one of the first lines starts with a time, and others do."""
    is_stamped = _STAMP.search(payload, 0, 4096) is not None
    return is_stamped and LOG.parse(payload) is not None
