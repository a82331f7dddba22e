"""In which order the edits of a change make sense one after the other.

What binds a new name comes before what uses it, and what takes a name away after all that stop using it:
a change in small steps, each of which leaves a program. Edits that need each other both ways are one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whet.core.value_class import value_class
from whet.reduction.edits.names import VARIABLE, Key, NamesOfSource, Signature

_IN_SCOPE = ("kind", "file", "scope", "name")
"""What the key of a variable consists of."""

_MOST_EDITS = 1000
"""With more, whet takes them as they come: finding out what needs what takes the square of their number."""


@value_class(kw_only=True)
class EditLines:
    """The lines that an edit changes.

    Attributes:
        before: a position in the old versions: the file and its lines; those of a file that goes are all.
        after: the same in the new versions.
    """

    before: tuple[str, frozenset[int]]
    after: tuple[str, frozenset[int]]


@value_class(kw_only=True)
class Ordered:
    """Edits in an order that makes sense.

    Attributes:
        groups: the edits in that order; those of one file that need each other are a group, and such groups of
            several files stand together.
        needs: for each group the places of all that it needs: earlier ones, and those that need it too.
    """

    groups: tuple[tuple[int, ...], ...]
    needs: tuple[frozenset[int], ...]


@dataclass(slots=True)
class _Users:
    """Which edits bind and use a name, by version; and whether anything else binds it."""

    binders: tuple[set[int], set[int]] = field(default_factory=lambda: (set[int](), set[int]()))
    users: tuple[set[int], set[int]] = field(default_factory=lambda: (set[int](), set[int]()))
    is_bound: list[bool] = field(default_factory=lambda: [False, False])
    is_bound_elsewhere: bool = False


def in_order(
    edits: Sequence[EditLines],
    old: Mapping[str, NamesOfSource],
    new: Mapping[str, NamesOfSource],
) -> Ordered:
    """Return the edits in an order in which each beginning makes sense.

    Args:
        edits: the edits, in the order of the diff.
        old: the names of the old files that are Python.
        new: those of the new files.
    """
    count = len(edits)
    needs = [0] * count
    if count <= _MOST_EDITS:
        for before, after in _edges(edits, old, new):
            needs[after] |= 1 << before
        _close(needs)
    # What needs more comes later; what it needs, needs less. What need each other need the same.
    masks = [mask | 1 << each for each, mask in enumerate(needs)]
    found: dict[tuple[int, int, str], list[int]] = {}
    first: dict[int, int] = {}
    for each, mask in enumerate(masks):
        key = (mask.bit_count(), first.setdefault(mask, each), edits[each].after[0])
        found.setdefault(key, []).append(each)
    groups = [found[key] for key in sorted(found)]
    place = {each: at for at, group in enumerate(groups) for each in group}
    return Ordered(
        groups=tuple(map(tuple, groups)),
        needs=tuple(
            frozenset(place[each] for each in range(count) if masks[group[0]] >> each & 1) - {at}
            for at, group in enumerate(groups)
        ),
    )


def _close(needs: list[int]) -> None:
    """Add what is needed by what is needed."""
    for middle in range(len(needs)):
        bit = 1 << middle
        for each in range(len(needs)):
            if needs[each] & bit:
                needs[each] |= needs[middle]


def _edges(
    edits: Sequence[EditLines],
    old: Mapping[str, NamesOfSource],
    new: Mapping[str, NamesOfSource],
) -> list[tuple[int, int]]:
    """Return pairs of edits of which the second needs the first."""
    names: dict[Key, _Users] = {}
    owners = (_owners(edits, is_new=False), _owners(edits, is_new=True))
    renamed = _renamed(owners, old, new)
    for side, sources in enumerate((old, new)):
        for path, source in sources.items():
            for use in source.uses:
                key = use.key if side or len(use.key) < len(_IN_SCOPE) else _moved(use.key, renamed)
                known = names.setdefault(key, _Users())
                owner = owners[side].get((path, use.line))
                if use.binds:
                    known.is_bound[side] = True
                    known.is_bound_elsewhere |= owner is None
                if owner is not None:
                    (known.binders if use.binds else known.users)[side].add(owner)
    edges: list[tuple[int, int]] = []
    for key, known in names.items():
        edges += _edges_of(known)
        if key[0] == VARIABLE:
            edges += _edges_of_variable(known)
    edges += _edges_of_signatures(owners, names, old, new)
    return [(one, other) for one, other in edges if one != other]


def _renamed(
    owners: tuple[Mapping[tuple[str, int], int], Mapping[tuple[str, int], int]],
    old: Mapping[str, NamesOfSource],
    new: Mapping[str, NamesOfSource],
) -> dict[tuple[str, str], str]:
    """Return the new names of functions that an edit renames, by the file and the old name."""
    renamed: dict[tuple[str, str], str] = {}
    for path in old.keys() & new.keys():
        by_edit: list[dict[int, list[str]]] = [{}, {}]
        for side, source in enumerate((old[path], new[path])):
            for each in source.signatures:
                owner = owners[side].get((path, each.line))
                if owner is not None:
                    by_edit[side].setdefault(owner, []).append(each.scope)
        for owner, (scope, *more) in by_edit[0].items():
            scopes = by_edit[1].get(owner, [])
            if not more and len(scopes) == 1:
                renamed[path, scope] = scopes[0]
    return renamed


def _moved(key: Key, renamed: Mapping[tuple[str, str], str]) -> Key:
    """Return the key of a variable of a function as the function is called now."""
    kind, path, scope, name = key
    return (kind, path, renamed.get((path, scope), scope), name)


def _owners(edits: Sequence[EditLines], *, is_new: bool) -> dict[tuple[str, int], int]:
    return {
        (path, line): number
        for number, edit in enumerate(edits)
        for path, lines in [edit.after if is_new else edit.before]
        for line in lines
    }


def _edges_of(known: _Users) -> list[tuple[int, int]]:
    old, new = known.binders
    if not known.is_bound[0]:
        return [(binder, user) for binder in new for user in known.users[1]]
    if not known.is_bound[1]:
        return [(user, binder) for binder in old for user in known.users[0]]
    if known.is_bound_elsewhere:
        return []
    return [(one, other) for one in new - old for other in old - new]


def _edges_of_variable(known: _Users) -> list[tuple[int, int]]:
    """Return what follows from a variable of a function that is set elsewhere: it may hold something else."""
    old, new = known.binders
    if not old - new or not new - old:
        return []
    binders = (old - new) | (new - old)
    users = known.users[0] | known.users[1]
    return [pair for one in binders for other in users for pair in ((one, other), (other, one))]


def _edges_of_signatures(
    owners: tuple[dict[tuple[str, int], int], dict[tuple[str, int], int]],
    names: Mapping[Key, _Users],
    old: Mapping[str, NamesOfSource],
    new: Mapping[str, NamesOfSource],
) -> list[tuple[int, int]]:
    """Return what follows from functions that take other arguments than before, for edits that call them."""
    edges: list[tuple[int, int]] = []
    for path, source in new.items():
        for signature in source.signatures:
            owner = owners[1].get((path, signature.line))
            before = _before(old.get(path), signature, owners[0], path, owner)
            if owner is None or before is None:
                continue
            if (signature.least, signature.most) == (before.least, before.most):
                continue
            callers = {
                user
                for key, known in names.items()
                if key[-1] == signature.name
                for user in known.users[0] & known.users[1]
            }
            if not before.takes_more_than(signature):
                edges += [(owner, caller) for caller in callers]
            if not signature.takes_more_than(before):
                edges += [(caller, owner) for caller in callers]
    return edges


def _before(
    source: NamesOfSource | None,
    signature: Signature,
    owners: Mapping[tuple[str, int], int],
    path: str,
    owner: int | None,
) -> Signature | None:
    """Return the signature that a function had before, if one edit changes it."""
    for each in source.signatures if source is not None else ():
        if each.name == signature.name and owners.get((path, each.line)) == owner:
            return each
    return None
