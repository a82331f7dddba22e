"""A value that was kept, in one line: the same in the program and in whet.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

from .arrays import is_exactly
from .secret_rule import MASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Node = Any
    Data = dict[str, Any]

_BRACKETS = {
    "list": ("[", "]"),
    "tuple": ("(", ")"),
    "set": ("{", "}"),
    "frozenset": ("frozenset({", "})"),
    "deque": ("deque([", "])"),
}
_LEAST_WIDTH = 12


def value_line(node: Node, width: int = 100) -> str:
    """Return a value as one line that is cut to ``width`` characters."""
    line = _line(node, width)
    line = "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)
    return line if len(line) <= width else f"{line[: max(width - 1, 0)]}…"


def _line(node: Node, width: int) -> str:
    if node is None or isinstance(node, (bool, int, float)):
        return repr(node)
    if isinstance(node, str):
        return _quoted(node, len(node), width)
    data: Data | None = _record(node)
    if data is None:
        return "?"
    return _LINES.get(str(data.get("k")), _opaque)(data, width)


def _quoted(text: str, size: int, width: int) -> str:
    line = repr(text)
    if len(line) <= width and size == len(text):
        return line
    note = f"… {size:,} characters"
    return f"{repr(text[: max(width - len(note) - 2, _LEAST_WIDTH)])[:-1]}{note}"


def _text(data: Data, width: int) -> str:
    return _quoted(str(data["text"]), _size(data), width)


def _bytes(data: Data, width: int) -> str:
    raw, size = str(data["text"]).encode("latin-1", "replace"), _size(data)
    cut = raw[: max(width // 2, _LEAST_WIDTH)]
    note = "" if len(cut) == size else f"… {size:,} bytes"
    return f"{cut!r}{note}"


def _sequence(data: Data, width: int) -> str:
    opening, closing = _BRACKETS[str(data["k"])]
    items, size = _items(data["of"]), _size(data)
    names = _items(data.get("names"))
    if data["k"] in {"set", "frozenset"} and not size:
        opening, closing = f"{data['k']}(", ")"
    kind = str(data["type"])
    if kind.rpartition(".")[2] != data["k"]:
        opening, closing = (
            (f"{_short(kind)}(", ")") if names else (f"{_short(kind)}({opening}", f"{closing})")
        )
    if names:
        shown = [f"{names[at]}={_line(item, width)}" for at, item in enumerate(items[: len(names)])]
    else:
        shown = [_line(item, width // 2) for item in items]
    if data["k"] == "tuple" and size == 1 and not names:
        closing = f",{closing}"
    return _joined(opening, shown, closing, size, width)


def _dictionary(data: Data, width: int) -> str:
    pairs = [_items(pair) for pair in _items(data["of"])]
    shown = [f"{_line(pair[0], width // 2)}: {_line(pair[1], width // 2)}" for pair in pairs]
    kind = str(data["type"])
    opening, closing = ("{", "}") if kind == "dict" else (f"{_short(kind)}({{", "})")
    return _joined(opening, shown, closing, _size(data), width)


def _joined(opening: str, shown: list[str], closing: str, size: int, width: int) -> str:
    """Return as many items as there is room for, and how many there are more."""
    line, count = opening, 0
    for each in shown:
        part = each if count == 0 else f", {each}"
        if count and len(line) + len(part) > width - _LEAST_WIDTH:
            break
        line, count = line + part, count + 1
    left = size - count
    if left > 0:
        line += f", … {left:,} more" if count else f"… {left:,}"
    return line + closing


def _object(data: Data, width: int) -> str:
    pairs = [_items(pair) for pair in _items(data["at"])]
    shown = [f"{pair[0]}={_line(pair[1], width // 2)}" for pair in pairs]
    size = max(_size(data), len(shown))
    return _joined(f"{_short(str(data['type']))}(", shown, ")", size, width)


def _array(data: Data, width: int) -> str:
    shape = "x".join(map(str, _items(data["shape"]))) or "scalar"
    words = [_short(str(data["type"])), shape, str(data.get("dtype", ""))]
    if data.get("device"):
        words.append(str(data["device"]))
    if data.get("grad"):
        words.append("grad")
    if "true" in data:
        words.append(f"true={data['true']}")
    if "values" not in data:
        told = [name for name in ("min", "mean", "max") if name in data]
        words += [f"{name}={_number(data[name])}" for name in told]
    for name, sign in (("nan", "NaN"), ("inf", "Inf")):
        if data.get(name):
            words.append(f"{sign}={data[name]}")
    if "sampled" in data:
        words.append(f"(from {data['sampled']:,} of its values)")
    if "unread" in data:
        words.append(f"(unreadable values: {data['unread']})")
    if "values" in data:
        words.append(_numbers(data["values"], width))
    return " ".join(filter(None, words))


def _number(value: Node) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    data = _record(value)
    return str(value) if data is None else str(data["text"])


def _numbers(values: Node, width: int) -> str:
    if isinstance(values, list):
        shown = [_numbers(each, width) for each in _items(values)]
        return f"[{', '.join(shown)}]"
    return _number(values) if isinstance(values, float) else _line(values, width)


def _table(data: Data, width: int) -> str:
    rows, columns = _items(data["shape"])
    shown: list[str] = []
    for column in _items(data["columns"]):
        name, kind, missing, first = _items(column)
        note = f" {missing} missing" if missing else ""
        sample = f" {', '.join(map(str, _items(first)))}…" if _items(first) else ""
        shown.append(f"{name} {kind}{note}{sample}")
    head = f"{_short(str(data['type']))} {rows}x{columns} ("
    return _joined(head, shown, ")", int(str(columns)), width)


def _plain(data: Data, _width: int) -> str:
    return str(data["text"])


def _cut(data: Data, _width: int) -> str:
    words = {"deep": "…", "itself": "itself", "no time": "skipped: no time left"}
    why = str(data["why"])
    return f"<{_short(str(data['type']))} {words.get(why, why)}>"


def _secret(data: Data, _width: int) -> str:
    return f"{data['type']} {MASK}"


def _whole(data: Data, _width: int) -> str:
    return f"int of {data['bits']:,} bits" if "bits" in data else str(data["text"])


def _opaque(data: Data, _width: int) -> str:
    kind = _short(str(data.get("type", "?")))
    return f"<{kind} {data['text']}>" if "text" in data else f"<{kind}>"


def _items(value: Node) -> list[Node]:
    return value if is_exactly(value, list) else []


def _record(value: Node) -> Data | None:
    return value if is_exactly(value, dict) else None


def _size(data: Data) -> int:
    size = data.get("n", 0)
    return size if isinstance(size, int) else 0


def _short(kind: str) -> str:
    return kind.rpartition(".")[2]


_LINES: dict[str, Callable[[Data, int], str]] = {
    "str": _text,
    "bytes": _bytes,
    "bytearray": _bytes,
    **dict.fromkeys(_BRACKETS, _sequence),
    "dict": _dictionary,
    "object": _object,
    "array": _array,
    "table": _table,
    "plain": _plain,
    "scalar": _plain,
    "float": _plain,
    "complex": _plain,
    "int": _whole,
    "cut": _cut,
    "secret": _secret,
    "opaque": _opaque,
}
