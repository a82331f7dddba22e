"""Settings of one language said in another: what is text in the one may be a number in the other."""

import json
from collections.abc import Iterator, Mapping
from typing import cast

from whet.reduction.between import Between, Step
from whet.reduction.settings.documents import DocumentKind, UnreadableError, check_walkable


def said_in(kind: DocumentKind, data: object, like: object, *, was_text: bool) -> object:
    """Return ``data`` as it reads in another language.

    Args:
        kind: the language that it is to be written in.
        data: the settings.
        like: settings of that language: a value that means the same there is taken from there.
        was_text: whether the settings come from a language whose values are all texts.

    Raises:
        UnreadableError: if a value can't be written in it; the message names the setting.
    """
    said = _said(data, like, is_text=kind.is_text, was_text=was_text)
    _check(kind, said)
    return said


def _said(data: object, like: object, *, is_text: bool, was_text: bool) -> object:
    if isinstance(data, dict):
        others = _table(like)
        return {
            (str(key) if is_text else key): _said(
                value, others.get(key), is_text=is_text, was_text=was_text
            )
            for key, value in _table(cast("object", data)).items()
        }
    if not is_text and isinstance(data, list):
        old = cast("list[object]", like) if isinstance(like, list) else []
        items = cast("list[object]", data)
        return [
            _said(item, old[at] if at < len(old) else None, is_text=False, was_text=was_text)
            for at, item in enumerate(items)
        ]
    return _said_alone(data, like, is_text=is_text, was_text=was_text)


def _said_alone(value: object, like: object, *, is_text: bool, was_text: bool) -> object:
    if (is_text or was_text) and like is not None and _text(like) == _text(value):
        return like
    if is_text:
        return _spelled(value)
    return _guessed(value, like) if was_text else value


def _table(value: object) -> Mapping[object, object]:
    return cast("Mapping[object, object]", value) if isinstance(value, dict) else {}


def _spelled(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, default=str)


def _text(value: object) -> str:
    """Return how a value is told apart from others where all are texts: `True` is `true`."""
    return (value if isinstance(value, str) else json.dumps(value, default=str)).strip().lower()


def _guessed(value: object, like: object) -> object:
    """Return the value that a text stands for, where the other language has no text."""
    if not isinstance(value, str) or isinstance(like, str):
        return value
    try:
        found: object = json.loads(value.lower() if value.lower() in {"true", "false"} else value)
        check_walkable(found)
    except (ValueError, RecursionError):
        return value
    return found


def _check(kind: DocumentKind, data: object) -> None:
    if _reads_back(kind, data):
        return
    for path, value in _values(data, ()):
        if not _reads_back(kind, _nested(path, value)):
            name = ".".join(map(str, path))
            raise UnreadableError(f"`{name}`, which is {value!r}, cannot be written in {kind.name}")
    raise UnreadableError(f"{kind.name} can't express its settings")


def _reads_back(kind: DocumentKind, data: object) -> bool:
    try:
        return not Between(kind.read(kind.write(data)), data).leaves
    except (ValueError, TypeError, AttributeError, KeyError):
        return False


def _values(data: object, path: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], object]]:
    if isinstance(data, dict) and data:
        for key, value in cast("Mapping[str, object]", data).items():
            yield from _values(value, (*path, key))
    else:
        yield path, data


def _nested(path: tuple[Step, ...], value: object) -> object:
    for step in reversed(path):
        value = {step: value}
    return value
