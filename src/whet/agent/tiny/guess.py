"""The first guess at small dimensions: from the names of fields, keeping what divides what."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from typing import Pattern

from . import fields
from .fields import Path

HEAD_SIZE = 8
VOCABULARY = 256
POSITIONS = 64
IMAGE_PATCHES = 4
EXPERTS = 4
_MORE_HEADS = 3  # from this level on, there are more heads too
_PATCH = 4
_MIDDLE = re.compile(r"hidden|embed|width|dims?$|filters|channels$")
_PROJECTED = re.compile(r"projection_dim$|^out_hidden_size$|embed_proj_dim$")
_LEAST_WIDTH = 4
_LITTLE, _FEW = 16, 64  # a width is greater, and what isn't called a width greater still


def guessed(section: dict[Path, int], level: int = 0) -> dict[Path, int]:
    """Return small values for the numbers of one part of a configuration.

    Heads become few, with the grouping kept; every width is scaled by one factor, so that what is
    equal stays equal and what divides stays so.

    Args:
        section: the numbers that are dimensions, by their place.
        level: how large; each level doubles what a dimension starts from.
    """
    heads = _heads(section, level)
    scales = _scales(section, heads, HEAD_SIZE << level)
    new: dict[Path, int] = {}
    for path, value in section.items():
        new[path] = _one(path, value, heads, scales)
        if _is(fields.VOCABULARY, path):
            new[path] = VOCABULARY << level
        if _is(fields.POSITIONS, path):
            new[path] = POSITIONS << level
    _products(section, new)
    _patches(section, new, IMAGE_PATCHES << level)
    _experts(section, new, EXPERTS << level)
    _rotary(section, new)
    return {path: max(1, min(value, section[path])) for path, value in new.items()}


def equal_as_before(dimensions: dict[Path, int], new: dict[Path, int]) -> dict[Path, int]:
    """Return new widths such that those that were equal are so, in whatever part they stand.

    What one part puts out another takes in. The part with the vocabulary decides.
    """
    textual = {fields.section_of(path) for path in dimensions if _is(fields.VOCABULARY, path)}
    decided: dict[int, int] = {}
    widths = [path for path in dimensions if _is(fields.MAIN_WIDTH, path) or _is(_PROJECTED, path)]
    for path in sorted(widths, key=lambda path: fields.section_of(path) not in textual):
        decided.setdefault(dimensions[path], new[path])
    return {
        path: decided[dimensions[path]] if path in widths else value for path, value in new.items()
    }


def _is(pattern: Pattern[str], path: Path) -> bool:
    return bool(pattern.search(fields.name_of(path)))


def _heads(section: dict[Path, int], level: int) -> dict[Path, int]:
    """Return few heads for each count of heads, such that a smaller count divides a greater one."""
    found = {path: value for path, value in section.items() if _is_heads(path)}
    listed = [path for path in found if isinstance(path[-1], int)]
    counts = sorted({found[path] for path in found if path not in listed})
    few = dict(zip(counts, _few(counts, max(0, level - _MORE_HEADS))))
    new = {path: few[value] for path, value in found.items() if path not in listed}
    if listed:
        least = min(found[path] for path in listed)
        new.update({path: max(1, found[path] // least) for path in listed})
    return new


def _is_heads(path: Path) -> bool:
    return _is(fields.HEADS, path) and not _is(fields.HEAD_SIZE, path)


def _few(counts: list[int], doubled: int) -> list[int]:
    few: list[int] = []
    for count in counts:
        before = few[-1] if few else 0
        least = before * 2 if before else (1 if count == 1 else 2)
        few.append(min(count, least << doubled if count > 1 else 1))
    return few


def _scales(
    section: dict[Path, int], heads: dict[Path, int], head_size: int
) -> tuple[Fraction, Fraction]:
    """Return by how much widths are scaled, and sizes of heads."""
    widths = [value for path, value in section.items() if _is(fields.MAIN_WIDTH, path)]
    if not widths:
        named = [value for path, value in section.items() if _is(_MIDDLE, path)]
        widths = (
            [min(each for each in named if each > _LITTLE)] if max([*named, 0]) > _LITTLE else []
        )
    width = widths[0] if widths else 64
    main = [
        path for path in heads if not _is(fields.KEY_VALUE, path) and not isinstance(path[-1], int)
    ]
    if not main:
        listed = [section[path] for path in heads]
        per_head = width // listed[0] if listed and listed[0] else width
        scale = Fraction(head_size, per_head) if per_head > head_size else Fraction(1)
        if listed:
            scale *= Fraction(heads[next(iter(heads))], listed[0])
        return (scale if listed else Fraction(min(16, width), width)), scale
    first = main[0]
    head_sizes = [
        value
        for path, value in section.items()
        if _is(fields.HEAD_SIZE, path) and not _is_of_others(value, first, section, heads)
    ]
    size = head_sizes[0] if head_sizes else max(1, width // section[first])
    head_scale = min(Fraction(1), Fraction(head_size, size))
    return head_scale * Fraction(heads[first], section[first]), head_scale


def _is_of_others(size: int, first: Path, section: dict[Path, int], heads: dict[Path, int]) -> bool:
    """Whether a size makes up a number with other heads than these, such as those of a state space."""
    others = [path for path in heads if path != first and not _is(fields.KEY_VALUE, path)]
    widths = [value for path, value in section.items() if _is(fields.MAIN_WIDTH, path)]
    values = set(section.values())
    return size * section[first] not in widths and any(
        size * section[path] in values for path in others
    )


def _one(path: Path, value: int, heads: dict[Path, int], scales: tuple[Fraction, Fraction]) -> int:
    if path in heads:
        return heads[path]
    if _is(fields.HEAD_SIZE, path) or _is(fields.ROTARY, path):
        return aligned(value * scales[1])
    if _is(fields.LAYERS, path) or _is(fields.GROUPS, path) or _is(fields.CHOSEN, path):
        return value
    most = _LITTLE if _is(fields.WIDTH, path) else _FEW
    if value <= most and not _is(fields.MAIN_WIDTH, path):
        return value
    return aligned(value * scales[0])


def aligned(value: Fraction) -> int:
    """Return a whole number near a fraction that memory can be aligned to."""
    whole = int(value)
    if value == whole and whole % _LEAST_WIDTH == 0:
        return whole
    return max(_LEAST_WIDTH, 8 * math.ceil(value / 8))


def _products(section: dict[Path, int], new: dict[Path, int]) -> None:
    """Let heads by their size make up a width, or the expansion of one, if they did before."""
    mains = [path for path in section if _is(fields.MAIN_WIDTH, path)]
    factors = [path for path in section if _is(fields.EXPANSION, path)]
    sizes = [path for path in section if _is(fields.HEAD_SIZE, path)]
    heads = [path for path in section if _is_heads(path) and not isinstance(path[-1], int)]
    wholes = [(main,) for main in mains] + list(itertools.product(mains, factors))
    others = [path for path in section if path not in (*mains, *sizes, *heads)]
    for head, size in itertools.product(heads, sizes):
        made = section[head] * section[size]
        for whole in wholes:
            if made == math.prod(section[each] for each in whole):
                _divided(section, new, (head, size), math.prod(new[each] for each in whole))
        for other in others:
            if section[other] == made and not _is(fields.VOCABULARY, other):
                new[other] = new[head] * new[size]


def _divided(
    section: dict[Path, int], new: dict[Path, int], heads: tuple[Path, Path], whole: int
) -> None:
    """Let a number of heads, or else their size, make up a width."""
    head, size = heads
    if whole % new[size] == 0 and 1 < whole // new[size] <= section[head]:
        new[head] = whole // new[size]
    elif whole % new[head] == 0:
        new[size] = whole // new[head]


def _patches(section: dict[Path, int], new: dict[Path, int], count: int) -> None:
    """Let an image have a few small patches."""
    patches = [path for path in section if _is(fields.PATCH, path)]
    for path in patches:
        new[path] = min(section[path], _PATCH)
    for path, value in section.items():
        if _is(fields.IMAGE, path):
            patch = new[patches[0]] if patches else _PATCH
            new[path] = min(value, count * patch)


def _experts(section: dict[Path, int], new: dict[Path, int], count: int) -> None:
    """Choose fewer experts than there are, in no fewer groups than two."""
    experts = [path for path in section if _is(fields.EXPERTS, path)]
    for path in experts:
        new[path] = min(section[path], count)
        for other, value in section.items():
            if _is(fields.CHOSEN, other) and value < section[path]:
                new[other] = min(value, 2)
            if _is(fields.GROUPS, other) and value <= section[path]:
                new[other] = min(value, 2)
    for path in section:  # groups that are chosen are fewer than groups
        if experts and _is(fields.CHOSEN, path) and _is(fields.GROUPS, path):
            new[path] = 1


def _rotary(section: dict[Path, int], new: dict[Path, int]) -> None:
    """Let the sections of a rotation make up what they made up before."""
    listed: dict[Path, list[Path]] = {}
    for path in section:
        if _is(fields.SECTIONS, path) and isinstance(path[-1], int):
            listed.setdefault(path[:-1], []).append(path)
    for paths in listed.values():
        total = sum(section[path] for path in paths)
        least = max(len(paths), HEAD_SIZE // 2)
        parts = shares([section[path] for path in paths], least)
        if total > least:
            new.update(zip(paths, parts))


def shares(parts: list[int], total: int) -> list[int]:
    """Return parts in nearly the same proportion that make up a smaller whole; none is nothing."""
    whole = sum(parts)
    exact = [Fraction(part * total, whole) for part in parts]
    new = [max(1, int(each)) for each in exact]
    while sum(new) < total:
        at = max(range(len(new)), key=lambda each: exact[each] - new[each])
        new[at] += 1
    while sum(new) > total and max(new) > 1:
        at = max(
            (each for each in range(len(new)) if new[each] > 1),
            key=lambda each: new[each] - exact[each],
        )
        new[at] -= 1
    return new
