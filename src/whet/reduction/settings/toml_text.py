"""Writing TOML, which the standard library only reads."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import TypeGuard, cast

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(data: object) -> str:
    """Return the text of a document: plain values first, then a table for each mapping."""
    return "\n".join(_table((), cast("Mapping[str, object]", data))).lstrip("\n") + "\n"


def _table(path: tuple[str, ...], table: Mapping[str, object]) -> Iterator[str]:
    tables = {name: value for name, value in table.items() if _is_table(value)}
    rows = {name: value for name, value in table.items() if _is_tables(value)}
    values = {
        name: value for name, value in table.items() if name not in tables and name not in rows
    }
    if path and (values or not table):
        yield from ("", f"[{_dotted(path)}]")
    for name, value in values.items():
        yield f"{_key(name)} = {_value(value)}"
    for name, value in tables.items():
        yield from _table((*path, name), value)
    for name, value in rows.items():
        for row in cast("list[Mapping[str, object]]", value):
            yield from ("", f"[[{_dotted((*path, name))}]]")
            for key, each in row.items():
                yield f"{_key(key)} = {_value(each)}"


def _is_table(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, dict)


def _is_tables(value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(row, dict) for row in cast("list[object]", value))


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(map(_key, path))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    # A JSON string is a TOML string, but for one control character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, cast('list[object]', value)))}]"
    if _is_table(value):
        inside = ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items())
        return f"{{{inside}}}"
    return repr(value)
