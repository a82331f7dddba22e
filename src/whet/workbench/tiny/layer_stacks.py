"""The stacks of layers in a checkpoint, and what a configuration says of them.

Nothing here knows the name of a model: a stack is where names of tensors count from 0 to n-1 and
the configuration has a number of layers that is n.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import cast

from whet.core.errors import CheckpointUnreadable
from whet.core.value_class import value_class

Settings = Mapping[str, object]

_COUNT = re.compile(
    r"((num|n)_)?((hidden|encoder|decoder|text|vision|audio|transformer)_)*(layers?|blocks?)$|depth$"
)
_NUMBER = re.compile(r"[0-9]{1,9}")
_DEEPEST = 50
_ROLES = {"encoder", "decoder", "vision", "visual", "text", "audio", "language", "image"}
_SAME_ROLE = {"visual": "vision", "image": "vision", "language": "text"}
_EXTRA = "num_nextn_predict_layers"
_LIST_OF_LAYERS = re.compile(r"layer|block|type")
_POSITIONS = re.compile(r"layers?(_|$)|indic|index|idx")
_CONVOLUTIONS = re.compile(r"conv_|kernel|stride")
_FROM_FIRST = re.compile(r"^first_k_|^max_window_layers$|^num_dense_layers$")
_PLENTY = 4
"""A list as long as this has one value for each layer if there are as many layers."""


@value_class(kw_only=True)
class Stack:
    """Layers that follow one another.

    Attributes:
        prefix: what the names of their tensors begin with, up to the number.
        count: how many there are.
        section: the path to the part of the configuration that counts them.
        field: the name of their number there.
        kinds: what each is: equal for layers that are the same but for their numbers.
    """

    prefix: tuple[str, ...]
    count: int
    section: tuple[str, ...]
    field: str
    kinds: tuple[object, ...] = ()

    @property
    def name(self) -> str:
        """As a reader sees it."""
        return ".".join(self.prefix)

    def chosen(self, most: int) -> tuple[int, ...]:
        """Return the layers that stay: the first of each kind, and the earliest others up to ``most``."""
        first = {kind: number for number, kind in reversed([*enumerate(self.kinds)])}
        kept = {*first.values()}
        for number in range(self.count):
            if len(kept) >= most:
                break
            kept.add(number)
        return tuple(sorted(kept))


def stacks_of(tensors: Mapping[str, object], settings: Settings) -> list[Stack]:
    """Return the stacks of layers.

    Args:
        tensors: for each tensor's name, what tells it from others: its type and shape.
        settings: the whole configuration.

    Raises:
        CheckpointUnreadable: if there are none.
    """
    counts = [*_counts(settings, ())]
    extra = settings.get(_EXTRA)
    more = extra if isinstance(extra, int) else 0
    found: list[Stack] = []
    for prefix, numbers in _numbered(tensors):
        if any(prefix[: len(each.prefix)] == each.prefix for each in found):
            continue
        fitting = [
            each
            for each in counts
            if each[2] <= len(numbers) <= each[2] + more and numbers.issuperset(range(each[2]))
        ]
        if fitting:
            section, field, count = max(fitting, key=lambda each: _likeness(prefix, each))
            found.append(Stack(prefix=prefix, count=count, section=section, field=field))
    if not found:
        shown = ", ".join(f"{field} = {count}" for _, field, count in counts) or "none"
        raise CheckpointUnreadable(
            f"no tensors are numbered as the configuration counts layers ({shown})",
            hint="a model with random weights needs none: leave `--keep-weights` out",
        )
    return [_with_kinds(each, tensors, settings) for each in found]


def renamed(name: str, stacks: Sequence[tuple[Stack, Sequence[int]]]) -> str | None:
    """Return the name of a tensor when only some layers stay; None if it goes with its layer."""
    parts = name.split(".")
    for stack, kept in stacks:
        depth = len(stack.prefix)
        if (
            tuple(parts[:depth]) == stack.prefix
            and len(parts) > depth
            and _NUMBER.fullmatch(parts[depth])
        ):
            number = int(parts[depth])
            if number not in kept:
                return None
            return ".".join([*parts[:depth], str(kept.index(number)), *parts[depth + 1 :]])
    return name


def with_layers(
    given: Settings, whole: Settings, stacks: Sequence[tuple[Stack, Sequence[int]]]
) -> dict[str, object]:
    """Return a configuration of the layers that stay.

    Args:
        given: the configuration as it is written in the file.
        whole: the same with the values that the library fills in: a list of the layers' types,
            for one, which the file may say by a pattern.
        stacks: each with the layers that stay.
    """
    changed = dict(given)
    taken = {(stack.section, stack.field) for stack, _ in stacks}
    for stack, kept in stacks:
        target = _section(changed, stack.section, is_copied=True)
        before = {**_section(whole, stack.section), **_section(given, stack.section)}
        for key, value in before.items():
            new = _changed(key, value, stack.count, kept)
            if new is not None and (stack.section, key) not in taken:
                target[key] = new
                taken.add((stack.section, key))
        target[stack.field] = len(kept)
    return changed


def _changed(key: str, value: object, count: int, kept: Sequence[int]) -> object:
    """Return the value that a field has with fewer layers; None: the same."""
    if isinstance(value, list | tuple):
        items = [*cast("Iterable[object]", value)]
        if positions := _positions(key, items, count):
            return [kept.index(each) for each in positions if each in kept]
        if _is_per_layer(key, items, count):
            return [items[number] for number in kept]
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    if _COUNT.match(key) and value == count:
        return len(kept)
    if _FROM_FIRST.match(key):
        return sum(number < value for number in kept)
    return None


def _positions(key: str, items: Sequence[object], count: int) -> list[int]:
    """Return the numbers of layers that a list names."""
    numbers = [each for each in items if isinstance(each, int) and not isinstance(each, bool)]
    is_rising = all(one < other for one, other in pairwise(numbers))
    if len(numbers) != len(items) or not is_rising or not _POSITIONS.search(key):
        return []
    return numbers if numbers and numbers[0] >= 0 and numbers[-1] < count else []


def _is_per_layer(key: str, items: Sequence[object], count: int) -> bool:
    if len(items) != count or _CONVOLUTIONS.match(key):
        return False
    return count >= _PLENTY or (count > 1 and _LIST_OF_LAYERS.search(key) is not None)


def _counts(
    settings: Settings, section: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str, int]]:
    for key, value in settings.items():
        if isinstance(value, dict) and len(section) < _DEEPEST:
            yield from _counts(cast("Settings", value), (*section, key))
        elif (
            isinstance(value, int)
            and not isinstance(value, bool)
            and value > 0
            and _COUNT.match(key)
        ):
            yield section, key, value


def _numbered(tensors: Iterable[str]) -> list[tuple[tuple[str, ...], set[int]]]:
    """Return each beginning of names that a number follows, the shortest first, with the numbers."""
    found: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    for name in tensors:
        parts = name.split(".")
        for place, part in enumerate(parts):
            if _NUMBER.fullmatch(part):
                found[tuple(parts[:place])].add(int(part))
    return sorted(found.items(), key=lambda item: (len(item[0]), item[0]))


def _likeness(
    prefix: Sequence[str], count: tuple[tuple[str, ...], str, int]
) -> tuple[int, int, int]:
    """Return how well the name of a number of layers fits the names of a stack."""
    section, field, value = count
    own, other = _roles(prefix), _roles([*section, field])
    return len(own & other) - len(other - own), value, -len(section)


def _roles(names: Iterable[str]) -> set[str]:
    words = {word for name in names for word in re.split(r"[._]", name)}
    return {_SAME_ROLE.get(word, word) for word in words & _ROLES}


def _section(
    settings: Settings, path: Sequence[str], *, is_copied: bool = False
) -> dict[str, object]:
    found = settings
    for key in path:
        inner = found.get(key)
        held = dict(cast("Settings", inner)) if isinstance(inner, dict) else {}
        if is_copied:
            cast("dict[str, object]", found)[key] = held
        found = held
    return cast("dict[str, object]", found)


def _with_kinds(stack: Stack, tensors: Mapping[str, object], settings: Settings) -> Stack:
    inside: defaultdict[int, set[object]] = defaultdict(set)
    depth = len(stack.prefix)
    for name, form in tensors.items():
        parts = name.split(".")
        if (
            tuple(parts[:depth]) == stack.prefix
            and len(parts) > depth
            and _NUMBER.fullmatch(parts[depth])
        ):
            inside[int(parts[depth])].add((tuple(parts[depth + 1 :]), form))
    said = [
        (key, [*cast("Iterable[object]", value)])
        for key, value in _section(settings, stack.section).items()
        if isinstance(value, list | tuple)
    ]
    kinds = tuple(
        (frozenset(inside[number]), tuple(_said(said, number, stack.count)))
        for number in range(stack.count)
    )
    return Stack(
        prefix=stack.prefix,
        count=stack.count,
        section=stack.section,
        field=stack.field,
        kinds=kinds,
    )


def _said(lists: Sequence[tuple[str, list[object]]], number: int, count: int) -> Iterator[object]:
    """Yield what the configuration's lists say of one layer."""
    for key, items in lists:
        if positions := _positions(key, items, count):
            yield number in positions
        elif _is_per_layer(key, items, count):
            yield repr(items[number])
