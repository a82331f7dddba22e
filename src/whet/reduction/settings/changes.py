"""In which settings two documents differ, and documents that lie between the two."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from whet.core.difference import Change

Step: TypeAlias = "str | int"


class _Missing:
    """Stands for a setting that is not there."""


MISSING = _Missing()


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """One setting that differs.

    Attributes:
        path: keys and numbers of list items, from the root.
        before: its default, or `MISSING`.
        after: its value, or `MISSING`.
    """

    path: tuple[Step, ...]
    before: object
    after: object

    def as_change(self) -> Change:
        """Return it as a change to be shown."""
        return Change(
            what="setting",
            name=".".join(map(str, self.path)),
            before=None if self.before is MISSING else shown(self.before),
            after=None if self.after is MISSING else shown(self.after),
        )


def shown(value: object) -> str:
    """Return a value in one line."""
    return json.dumps(value, ensure_ascii=False, default=str)


def differences(before: object, after: object, path: tuple[Step, ...] = ()) -> Iterator[Setting]:
    """Yield each setting in which two documents differ, in the order of the second."""
    if _are_tables(before, after):
        old = {} if before is MISSING else cast("dict[str, object]", before)
        new = cast("dict[str, object]", after)
        for key, value in new.items():
            yield from differences(old.get(key, MISSING), value, (*path, key))
        for key, value in old.items():
            if key not in new:
                yield Setting((*path, key), value, MISSING)
    elif _are_lists_of_one_length(before, after):
        pairs = zip(cast("list[object]", before), cast("list[object]", after), strict=True)
        for index, (left, right) in enumerate(pairs):
            yield from differences(left, right, (*path, index))
    elif not _is_same(before, after):
        yield Setting(path, before, after)


def _are_tables(before: object, after: object) -> bool:
    """Whether the second is a table that can be compared key by key."""
    if type(after) is not dict:
        return False
    return type(before) is dict or (before is MISSING and after != {})


def _are_lists_of_one_length(before: object, after: object) -> bool:
    if not isinstance(before, list) or not isinstance(after, list):
        return False
    return len(cast("list[object]", before)) == len(cast("list[object]", after))


def _is_same(before: object, after: object) -> bool:
    # 1, 1.0 and true are equal, and three settings.
    return type(before) is type(after) and (before == after or repr(before) == repr(after))


def applied(defaults: object, settings: Iterable[Setting]) -> object:
    """Return the defaults with some settings as they are in the other document."""
    document = _copied(defaults)
    for setting in settings:
        _set(document, setting.path, setting.after)
    return document


def _set(document: object, path: tuple[Step, ...], value: object) -> None:
    place = cast("dict[Step, object]", document)
    for step in path[:-1]:
        try:
            place = cast("dict[Step, object]", place[step])
        except KeyError:  # a table that only the other document has: made for its first setting
            place[step] = {}
            place = cast("dict[Step, object]", place[step])
    if value is MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = _copied(value)


def _copied(value: object) -> object:
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list):
        return [_copied(each) for each in cast("list[object]", value)]
    return value
