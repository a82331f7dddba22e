"""Examples for readers, made out of seeds: bytes, texts, and trees of values with a shape.

All chance comes from one `random.Random`, so that a number makes an example again; Hypothesis hands
in its own and so shrinks what it finds.
"""

import json
import marshal
import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from random import Random
from typing import cast

MOST_BYTES = 64 * 1024
_MOST_PATHS = 3000

ODD_NUMBERS = (
    0,
    -1,
    1,
    2,
    255,
    256,
    2**31 - 1,
    2**31,
    2**32,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63),
    10**400,
)
ODD_DECIMALS = (0.0, -0.0, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan)
ODD_TEXTS = (
    "", " ", "\n", "\0", "\ud800", "\x1b[31m", "\u202e", "é", "\U0001f600", "a" * 3000, "../../x", "/",
    "/nowhere/at/all.py", "/dev/stdin", "<string>", "-", "--", "%s", "{}", "\\", "'", '"', "nan", "inf",
    "1e999", "-1", "0x10", "٣", "²", "1_000", "1.2.3", ".", "..", "9" * 5000, "None", "a.b.c", "(" * 300,
)  # fmt: skip
ODD_BYTES = (
    b"\0", b"\xff", b"\x80", b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f", b"\r", b"\r\n",
    b"\n\n", b"\t", b"\\", b'"', b"'", b"\x1b[0m", b"\xef\xbb\xbf", b"\xff\xfe", b"<!", b"<![", b"]]>", b"&#",
    b"&#x110000;", b"\\u", b"\\ud800", b"\\U00110000", b"\\x", b"%ff", b"..", b"../", b"://", b"http://[", b"@",
    b"1e999", b"NaN", b"-", b"=", b"==", b"<<", b"*", b"&a", b"!!python/object:os.system", b"9" * 5000,
)  # fmt: skip
_NUMBER = re.compile(rb"\d+")


class Shape(Enum):
    """How the seeds of a reader are to be taken apart."""

    BYTES = "bytes"
    JSON = "json"
    JSON_LINES = "lines of json"
    MARSHAL = "marshal"


def example(seeds: Sequence[bytes], shape: Shape, chance: Random) -> bytes:
    """Return an example: a seed, changed in its shape, in its bytes, or in both."""
    data = chance.choice(seeds) if seeds else b""
    if shape is not Shape.BYTES and not _one_in(5, chance):
        data = _reshaped(data, shape, chance)
        if not _one_in(5, chance):
            return data[:MOST_BYTES]
    if not data or _one_in(50, chance):
        data = chance.randbytes(chance.choice((0, 1, 4, 100)))
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        data = chance.choice(_CHANGES)(data, seeds, chance)[:MOST_BYTES]
    return data


def _one_in(count: int, chance: Random) -> bool:
    return not chance.randrange(count)


# ---- bytes ----

_Change = Callable[[bytes, Sequence[bytes], Random], bytes]


def _place(data: bytes, chance: Random) -> int:
    return chance.randint(0, len(data))


def _span(data: bytes, chance: Random) -> tuple[int, int]:
    start = _place(data, chance)
    longest = chance.choice((1, 4, 16, 200, len(data) or 1))
    return start, min(len(data), start + chance.randint(0, longest))


def _put(data: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    del seeds
    at = _place(data, chance)
    gone = chance.choice((0, 0, 1, 4))
    return data[:at] + chance.choice(ODD_BYTES) + data[at + gone :]


def _flip(data: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    del seeds
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8)) if changed else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(data: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    del seeds
    start, end = _span(data, chance)
    return data[:start] + data[end:]


def _end(data: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    del seeds
    return data[: _place(data, chance)]


def _repeat(data: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    del seeds
    start, end = _span(data, chance)
    return data[:end] + data[start:end] * chance.choice((1, 1, 2, 50, 2000)) + data[end:]


def _graft(data: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    other = chance.choice(seeds)
    start, end = _span(other, chance)
    at = _place(data, chance)
    return data[:at] + other[start:end] + data[at + chance.choice((0, end - start)) :]


def _swap(data: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    del seeds
    lines = data.split(b"\n")
    one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return b"\n".join(lines)


def _drop_line(data: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    del seeds
    lines = data.split(b"\n")
    del lines[chance.randrange(len(lines))]
    return b"\n".join(lines)


def _renumber(data: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    del seeds
    found = list(_NUMBER.finditer(data[:MOST_BYTES]))
    if not found:
        return data
    number = chance.choice(found)
    odd = chance.choice((*(str(each).encode() for each in ODD_NUMBERS), b"9" * 5000, b"1e999", b""))
    return data[: number.start()] + odd + data[number.end() :]


def _overwrite(data: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    """Put a number where a binary format may have one."""
    del seeds
    at = _place(data, chance)
    width = chance.choice((1, 2, 4, 8))
    number = chance.choice(ODD_NUMBERS) % (1 << 8 * width)
    packed = number.to_bytes(width, chance.choice(("little", "big")))
    return data[:at] + packed + data[at + width :]


def _nest(data: bytes, seeds: Sequence[bytes], chance: Random) -> bytes:
    del seeds
    opens, closes = chance.choice(
        ((b"[", b"]"), (b"{", b"}"), (b"(", b")"), (b'{"a":', b"}"), (b"<a>", b"</a>"), (b"-", b""), (b"- ", b""),
         (b"!", b""), (b"a.", b"a"), (b"[x.", b"]"), (b"not ", b"1"), (b"f(", b")"), (b"> ", b""))
    )  # fmt: skip
    depth = chance.choice((3, 30, 300, 3000, 15000))
    at = _place(data, chance)
    inner = data[at:] if _one_in(2, chance) else b""
    return data[:at] + opens * depth + inner + closes * depth


_CHANGES: tuple[_Change, ...] = (
    _put, _put, _flip, _flip, _cut, _end, _repeat, _graft, _swap, _drop_line, _renumber, _overwrite, _nest,
)  # fmt: skip


# ---- trees of values ----


def _reshaped(data: bytes, shape: Shape, chance: Random) -> bytes:
    try:
        if shape is Shape.MARSHAL:
            loaded: object = marshal.loads(data)
            return marshal.dumps(cast("str", changed_tree(loaded, chance)))
        if shape is Shape.JSON:
            return _json(changed_tree(cast("object", json.loads(data)), chance), chance)
        lines = data.splitlines()
        at = chance.randrange(len(lines))
        lines[at] = _json(changed_tree(cast("object", json.loads(lines[at])), chance), chance)
        return b"\n".join(lines) + b"\n"
    except (ValueError, RecursionError, EOFError, TypeError):
        return data


def _json(value: object, chance: Random) -> bytes:
    text = json.dumps(value, ensure_ascii=not _one_in(10, chance))
    return text.encode("utf-8", "surrogatepass")


def changed_tree(value: object, chance: Random) -> object:
    """Return a tree of values with a few changes, each at a place of its own."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        paths = _paths(value)
        path = chance.choice(paths)
        value = _changed_at(value, path, chance)
    return value


def _children(value: object) -> Sequence[tuple[object, object]]:
    if isinstance(value, dict):
        return [*cast("Mapping[object, object]", value).items()]
    if isinstance(value, list | tuple):
        return [*enumerate(cast("Sequence[object]", value))]
    return ()


def _paths(value: object) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    left: list[tuple[tuple[object, ...], object]] = [((), value)]
    while left and len(found) < _MOST_PATHS:
        path, each = left.pop()
        found.append(path)
        left += [((*path, key), inner) for key, inner in _children(each)]
    return found


def _changed_at(value: object, path: tuple[object, ...], chance: Random) -> object:
    if not path:
        return chance.choice(_TREE_CHANGES)(value, chance)
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        named = cast("Mapping[object, object]", value)
        return {**named, key: _changed_at(named[key], rest, chance)}
    items = [*cast("Sequence[object]", value)]
    at = cast("int", key)
    items[at] = _changed_at(items[at], rest, chance)
    return tuple(items) if isinstance(value, tuple) else items


def odd_value(chance: Random) -> object:
    """Return a value that no reader expects."""
    made: tuple[Callable[[], object], ...] = (
        lambda: None,
        lambda: _one_in(2, chance),
        lambda: chance.choice(ODD_NUMBERS),
        lambda: chance.choice(ODD_DECIMALS),
        lambda: chance.choice(ODD_TEXTS),
        list[object],
        dict[str, object],
        lambda: [odd_value(chance)],
        lambda: {chance.choice(ODD_TEXTS): odd_value(chance)},
        lambda: [[1, 2], [3]],
    )
    return chance.choice(made)()


def _odd(value: object, chance: Random) -> object:
    del value
    return odd_value(chance)


def _less(value: object, chance: Random) -> object:
    children = _children(value)
    if not children:
        return odd_value(chance)
    gone = chance.randrange(len(children))
    kept = [each for at, each in enumerate(children) if at != gone]
    if isinstance(value, dict):
        return dict(kept)
    items = [inner for _, inner in kept]
    return tuple(items) if isinstance(value, tuple) else items


def _more(value: object, chance: Random) -> object:
    if isinstance(value, dict):
        return {
            **cast("Mapping[object, object]", value),
            chance.choice(ODD_TEXTS): odd_value(chance),
        }
    if isinstance(value, list | tuple):
        items = [*cast("Sequence[object]", value)]
        new = chance.choice(items) if items and not _one_in(3, chance) else odd_value(chance)
        items.insert(chance.randint(0, len(items)), new)
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, str):
        at = chance.randint(0, len(value))
        return value[:at] + chance.choice(ODD_TEXTS) + value[at:]
    if isinstance(value, bytes):
        at = chance.randint(0, len(value))
        return value[:at] + chance.choice(ODD_BYTES) + value[at:]
    if isinstance(value, int):
        return value + chance.choice((-1, 1, 1000, -1000))
    return odd_value(chance)


def _wrapped(value: object, chance: Random) -> object:
    depth = chance.choice((1, 1, 1, 30, 400))
    for _ in range(depth):
        value = [value] if _one_in(2, chance) else {"a": value}
    return value


def _unwrapped(value: object, chance: Random) -> object:
    children = _children(value)
    return chance.choice(children)[1] if children else odd_value(chance)


def _mixed(value: object, chance: Random) -> object:
    """Move what stands at one place to another one."""
    children = _children(value)
    if not children[1:]:
        return odd_value(chance)
    values = [inner for _, inner in children]
    chance.shuffle(values)
    if isinstance(value, dict):
        return dict(zip((key for key, _ in children), values, strict=True))
    return tuple(values) if isinstance(value, tuple) else values


_TREE_CHANGES: tuple[Callable[[object, Random], object], ...] = (
    _odd, _odd, _odd, _less, _less, _more, _more, _wrapped, _unwrapped, _mixed,
)  # fmt: skip
