"""The search for small dimensions: a guess, tried on the model itself, and repaired until it fits."""

from __future__ import annotations

import copy
import itertools
import re
from typing import Any, Callable, Dict, Optional

from . import fields
from .fields import Path
from .guess import equal_as_before, guessed
from .refusals import RefusedError, brief

Values = Dict[Path, int]
_MOST_TRIES = 400
_LEVELS = 4
_LITTLE = 16
_MOST_LEVELS = 14
_LADDER = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)


class Model:
    """What the solver asks of a model; scripted ones answer in tests.

    Attributes:
        tree: the reference configuration.
        shapes: the shape of each parameter with a configuration; raises if it can't be built.
        complaint: why a configuration isn't the same architecture and doesn't run; empty: it does, or
            it is too large to be run and need not be.
        layers: for each list of layers of the reference, how many there are and the kind of each.
    """

    def __init__(
        self,
        tree: Any,
        *,
        shapes: Callable[[Any], dict[str, tuple[int, ...]]],
        complaint: Callable[..., str],
        layers: list[tuple[int, list[Any]]],
    ) -> None:
        self.tree = tree
        self.shapes = shapes
        self.complaint = complaint
        self.layers = layers


class Solver:
    """Finds small dimensions for a model.

    Attributes:
        tries: how many configurations were tried.
        chosen_layers: for each count of layers, the places of the layers that show each kind.
    """

    def __init__(
        self,
        model: Model,
        most_params: int,
        fixed: Optional[dict[str, int]] = None,
        *,
        is_least: bool = True,
    ) -> None:
        self._model = model
        self._most_params = most_params
        self._is_least = is_least
        self._fixed = fixed or {}
        self._complaint = ""
        self._known: dict[str, str] = {}
        self.tries = 0
        self.chosen_layers: dict[Path, list[int]] = {}

    def solve(self) -> Any:
        """Return the configuration with small dimensions.

        Raises:
            RefusedError: if none is found: which constraint holds, and between which dimensions.
        """
        tree = self._few_layers(copy.deepcopy(self._model.tree))
        dimensions = self.dimensions(tree)
        small = None
        for level in range(_LEVELS):
            dimensions.update(self._named_numbers(tree, dimensions))
            guess = self._guess(tree, dimensions, level)
            if self.fits(guess, must_run=level > 0):
                small = guess
                break
        if small is None:
            small = self._repaired(tree, self._guess(tree, dimensions, 0), dimensions)
        small = self._within(small, dimensions)
        return small if self._is_least else self._near(tree, small, dimensions)

    def fits(self, tree: Any, *, must_run: bool = False) -> bool:
        """Whether a configuration is the same architecture, and runs."""
        self.tries += 1
        if self.tries > _MOST_TRIES:
            raise RefusedError(
                "unsolved",
                "no small dimensions after %d tries: %s" % (_MOST_TRIES, self._complaint),
                "fix one of them yourself: `--set NAME=VALUE`",
            )
        complaint = str(self._model.complaint(tree, must_run=must_run))
        if complaint:
            self._complaint = complaint
        return not complaint

    # ---- layers ----

    def _few_layers(self, tree: Any) -> Any:
        """Return the configuration with one layer of each kind, in their order."""
        lists = self._model.layers
        counts = {
            path: value
            for path, value in fields.numbers(tree)
            if not isinstance(path[-1], int)
            and fields.LAYERS.search(fields.name_of(path))
            and value > 1
        }
        chosen = {
            path: _firsts([kinds for length, kinds in lists if length == value])
            for path, value in counts.items()
        }
        self.chosen_layers = chosen
        for is_prefix in (False, True):
            fewer = copy.deepcopy(tree)
            for path, places in chosen.items():
                if places:
                    _cut(
                        fewer,
                        path,
                        counts[path],
                        list(range(places[-1] + 1)) if is_prefix else places,
                    )
            if fewer != tree and self._is_same(fewer):
                return self._listed_layers(fewer)
        for path, places in chosen.items():
            fewer = copy.deepcopy(tree)
            _cut(fewer, path, counts[path], list(range(places[-1] + 1)) if places else [0])
            tree = fewer if self._is_same(fewer) else tree
        return self._listed_layers(tree)

    def _listed_layers(self, tree: Any) -> Any:
        """Lower counts of layers that stand in a list, as `depths` does, one by one."""
        for path, value in fields.numbers(tree):
            if isinstance(path[-1], int) and "depth" in fields.name_of(path) and value > 1:
                for fewer in range(1, value):
                    other = _with(tree, path, fewer)
                    if self._is_same(other):
                        tree = other
                        break
        return tree

    def _is_same(self, tree: Any) -> bool:
        self.tries += 1
        return not str(self._model.complaint(tree, must_run=False))

    # ---- dimensions ----

    def dimensions(self, tree: Any) -> Values:
        """Return the numbers that change the shape of a parameter, or of what goes in."""
        before = self._shapes(tree)
        found: Values = {}
        lists: set[Path] = set()
        for path, value in fields.numbers(tree):
            if not fields.may_be_dimension(path, value) or fields.shown(path) in self._fixed:
                continue
            if isinstance(path[-1], int) and path[:-1] in lists:
                found[path] = value
            elif self._matters(tree, path, value, before):
                found[path] = value
                if isinstance(path[-1], int):
                    lists.add(path[:-1])
        return found

    def _matters(self, tree: Any, path: Path, value: int, before: Any) -> bool:
        name = fields.name_of(path)
        hints = (
            fields.IMAGE, fields.PATCH, fields.WINDOW, fields.CHOSEN, fields.SECTIONS, fields.HEADS, fields.GROUPS,
            fields.HEAD_SIZE,
        )  # fmt: skip
        if any(hint.search(name) for hint in hints):
            return True
        if fields.LAYERS.search(name):
            return False
        changed = copy.deepcopy(tree)
        fields.put(changed, path, value + 1)
        try:
            return bool(self._model.shapes(changed) != before)
        except Exception:  # whatever a model's constructor raises
            return True  # it can't be changed alone: other numbers hang together with it

    def _shapes(self, tree: Any) -> dict[str, tuple[int, ...]]:
        try:
            return self._model.shapes(tree)
        except Exception as error:
            raise RefusedError(
                "unsolved",
                "the reference can't be built: %s" % brief(error),
                "check its configuration",
            ) from error

    def _named_numbers(self, tree: Any, dimensions: Values) -> Values:
        """Return further numbers of the reference that the last complaint mentions."""
        mentioned = {int(number) for number in re.findall(r"\d+", self._complaint)}
        return {
            path: value
            for path, value in fields.numbers(tree)
            if value in mentioned
            and value > _LITTLE
            and path not in dimensions
            and fields.may_be_dimension(path, value)
            and not fields.LAYERS.search(fields.name_of(path))
        }

    # ---- the guess, and repairs of it ----

    def _guess(self, tree: Any, dimensions: Values, level: int) -> Any:
        small = copy.deepcopy(tree)
        found: Values = {}
        for section in _by_section(dimensions):
            found.update(guessed(section, level))
        for path, value in equal_as_before(dimensions, found).items():
            if value != dimensions[path]:
                fields.put(small, path, value)
        for name, value in self._fixed.items():
            fields.put(small, tuple(name.split(".")), value)
        return small

    def _repaired(self, reference: Any, small: Any, dimensions: Values) -> Any:
        """Return dimensions that fit, from a guess that doesn't: by the fewest that have to change."""
        changed = [path for path in dimensions if fields.get(small, path) != dimensions[path]]
        named = [path for path in changed if fields.name_of(path) in self._complaint]
        for path in (*named, *(path for path in changed if path not in named)):
            better = self._one_repaired(small, path, dimensions[path], is_quick=path not in named)
            if better is not None:
                return better
        needed = self._needed(reference, small, changed)
        tree = copy.deepcopy(small)
        for path in needed:
            fields.put(tree, path, dimensions[path])
        for path in needed:
            better = self._one_repaired(tree, path, dimensions[path], is_quick=False)
            tree = tree if better is None else better
        return tree

    def _one_repaired(self, small: Any, path: Path, most: int, *, is_quick: bool) -> Any:
        """Return it with the least other value in one place with which it fits."""
        now = fields.get(small, path)
        values = {most, *(now * times for times in (2, 3, 4))}
        if not is_quick:
            values |= {*_LADDER, *(value for _, value in fields.numbers(small) if value < most)}
        for value in sorted(values):
            if 0 < value <= most and value != now:
                tree = copy.deepcopy(small)
                fields.put(tree, path, value)
                if self._model_fits(tree):
                    return tree
        return None

    def _model_fits(self, tree: Any) -> bool:
        key = repr(tree)
        if key not in self._known:
            self._known[key] = "" if self.fits(tree, must_run=True) else "no"
        return not self._known[key]

    def _needed(self, reference: Any, small: Any, changed: list[Path]) -> list[Path]:
        """Return the few dimensions that have to stay as in the reference for the rest to be small."""
        if not self.fits(reference):
            raise RefusedError(
                "unsolved",
                "the reference itself doesn't run: %s" % self._complaint,
                "check its configuration",
            )
        first = self._complaint
        needed = list(changed)
        for path in changed:
            fewer = [each for each in needed if each != path]
            tree = copy.deepcopy(small)
            for each in fewer:
                fields.put(tree, each, fields.get(reference, each))
            if self.fits(tree):
                needed = fewer
        if len(needed) == len(changed) > 1:
            names = " and ".join("`%s`" % fields.shown(path) for path in needed[:2])
            raise RefusedError(
                "unsolved",
                "no small values for %s: %s" % (names, first),
                "fix one of them: `--set NAME=VALUE`",
            )
        return needed

    # ---- the number of parameters ----

    def _within(self, tree: Any, dimensions: Values) -> Any:
        """Lower what costs most until there are few enough parameters."""
        stuck: set[Path] = set()
        while self.params(tree) > self._most_params:
            path = self._dearest(tree, dimensions, stuck)
            if path is None:
                return tree
            lower = _with(tree, path, max(1, fields.get(tree, path) // 2))
            if self.fits(lower):
                tree = lower
            else:
                stuck.add(path)
        return tree

    def _near(self, tree: Any, small: Any, dimensions: Values) -> Any:
        """Raise all dimensions together, then the number of layers, while there are few enough parameters."""
        for level in range(1, _MOST_LEVELS):
            larger = self._guess(tree, dimensions, level)
            if self.params(larger) > self._most_params:
                break
            small = larger if self.fits(larger) else small
        low, high = (
            0,
            max((fields.get(self._model.tree, path) for path in self.chosen_layers), default=0),
        )
        while high - low > 1:
            middle = (low + high) // 2
            deeper = self._with_layers(small, middle)
            if self.params(deeper) <= self._most_params and self.fits(deeper):
                low = middle
            else:
                high = middle
        return self._with_layers(small, low)

    def _with_layers(self, small: Any, count: int) -> Any:
        tree = copy.deepcopy(small)
        for path, kinds in self.chosen_layers.items():
            if kinds and count > fields.get(small, path):
                fields.keep_layers(tree, self._model.tree, path, kinds, count)
        return tree

    def params(self, tree: Any) -> int:
        """Return how many parameters a configuration makes; very many if it can't be built."""
        try:
            shapes = self._model.shapes(tree)
        except Exception:  # whatever a model's constructor raises
            return 1 << 62
        return sum(_product(shape) for shape in shapes.values())

    def _dearest(self, tree: Any, dimensions: Values, stuck: set[Path]) -> Optional[Path]:
        best, least = None, self.params(tree)
        for path in dimensions:
            value = fields.get(tree, path)
            if path in stuck or value <= 1:
                continue
            lower = _with(tree, path, max(1, value // 2))
            if not self._keeps_groups(lower, dimensions):
                continue
            params = self.params(lower)
            if params < least:
                best, least = path, params
        return best

    @staticmethod
    def _keeps_groups(tree: Any, dimensions: Values) -> bool:
        """Whether counts that were several are, and those that differed do: heads, groups of keys, experts."""
        for section in _by_section(dimensions):
            counts = [path for path in section if _is_grouped(path)]
            now = {path: fields.get(tree, path) for path in counts}
            if any(now[path] == 1 < section[path] for path in counts):
                return False
            for one, other in itertools.combinations(counts, 2):
                if section[one] != section[other] and now[one] == now[other]:
                    return False
        return True


def _is_grouped(path: Path) -> bool:
    name = fields.name_of(path)
    is_heads = fields.HEADS.search(name) and not fields.HEAD_SIZE.search(name)
    return bool(is_heads or fields.EXPERTS.search(name) or fields.CHOSEN.search(name))


def _product(shape: tuple[int, ...]) -> int:
    number = 1
    for each in shape:
        number *= each
    return number


def _firsts(lists: list[list[Any]]) -> list[int]:
    """Return the place of the first layer of each kind, over lists of layers that are as long."""
    seen: set[Any] = set()
    places: set[int] = set()
    for number, kinds in enumerate(lists):
        for place, kind in enumerate(kinds):
            if (number, kind) not in seen:
                seen.add((number, kind))
                places.add(place)
    return sorted(places)


def _with(tree: Any, path: Path, value: int) -> Any:
    """Return a copy of a configuration with another number in a place."""
    other = copy.deepcopy(tree)
    fields.put(other, path, value)
    return other


def _cut(tree: Any, path: Path, count: int, places: list[int]) -> None:
    """Leave these layers alone, in the count and in each list beside it that says something of layers."""
    fields.put(tree, path, len(places))
    section = fields.get(tree, path[:-1])
    section.update(fields.lists_of(section, count, places))


def _by_section(dimensions: Values) -> list[Values]:
    found: dict[Path, Values] = {}
    for path, value in dimensions.items():
        found.setdefault(fields.section_of(path), {})[path] = value
    return list(found.values())
