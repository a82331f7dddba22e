"""Models of chosen sizes, for the search for the smallest one on which a command fails.

The reference stays open between requests: only the sizes change.
"""

from __future__ import annotations

import copy
import itertools
import os
import shutil
from collections.abc import Iterator
from typing import Any, Dict, List, Union

from . import factories, fields, making, skeleton
from .estimators import making as estimators
from .fields import Path
from .refusals import RefusedError, brief

Sizes = Dict[str, int]
_MOST_TRIES = 60
_TIMES = (1, 2, 4, 8, 16)
_ORDER = (
    fields.LAYERS, fields.KEY_VALUE, fields.HEADS, fields.EXPERTS, fields.CHOSEN, fields.GROUPS,
    fields.POSITIONS, fields.WINDOW, fields.VOCABULARY,
)  # fmt: skip
_COUNTS = (fields.LAYERS, fields.HEADS, fields.EXPERTS, fields.CHOSEN)
"""What is counted, and may be one; a width is never one."""

_BESIDE = (
    "tokenizer", "vocab", "merges", "special_tokens", "added_tokens", "chat_template", "spiece",
    "sentencepiece", "preprocessor_config", "processor_config",
)  # fmt: skip

_open: List[Union["OpenModel", estimators.OpenEstimator]] = []


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Open a model, or build it in chosen sizes."""
    if request["task"] == "open":
        _open[:] = [_opened(request)]
        return _open[0].facts()
    return _open[0].build(request["sizes"], str(request["output"]))


def _opened(request: dict[str, Any]) -> Union[OpenModel, estimators.OpenEstimator]:
    found = factories.named(request)
    if found is not None and found.is_estimator:
        return estimators.OpenEstimator(found, request)
    reference = making.read_reference(request, found)
    return OpenModel(reference, making.solved(reference, request))


class OpenModel:
    """A reference and its small dimensions, between requests."""

    def __init__(self, reference: Any, found: Any) -> None:
        self._reference = reference
        self._found = found
        self._layers = {path: places for path, places in found.layers.items() if places}
        self._beside = _files_beside(reference.folder)
        if self._beside:  # the command reads its texts with the real tokenizer
            for path, value in fields.numbers(reference.tree):
                if fields.VOCABULARY.search(fields.name_of(path)):
                    fields.put(found.tree, path, value)
        self._paths = {fields.shown(path): path for path in self._changed()}

    def facts(self) -> dict[str, Any]:
        """Say which dimensions there are, and how many parameters the reference has."""
        return {
            "class": self._reference.name,
            "reference_params": skeleton.size(self._found.whole),
            "dimensions": [
                [
                    name,
                    fields.get(self._reference.tree, path),
                    fields.get(self._found.tree, path),
                    _least(path),
                ]
                for name, path in self._paths.items()
            ],
        }

    def _changed(self) -> list[Path]:
        """Return the dimensions that differ from the reference, those that bugs need most often first."""
        paths = [
            path
            for path, value in fields.numbers(self._reference.tree)
            if fields.may_be_dimension(path, value)
            and _is_smaller(self._found.tree, path, value)
            and _is_as_long(self._reference.tree, self._found.tree, path)
            and not (self._beside and fields.VOCABULARY.search(fields.name_of(path)))
        ]
        return sorted(paths, key=_rank)

    def build(self, sizes: Sizes, folder: str) -> dict[str, Any]:
        """Build and save a model; what isn't asked for is adjusted if it has to be."""
        tree = making.inside(self._fitting(sizes))
        try:
            model = self._reference.build(tree, is_real=True)
        except Exception as error:
            raise RefusedError("unsolved", brief(error), "choose other sizes") from error
        os.makedirs(folder, exist_ok=True)
        self._reference.save(model, tree, folder)
        for file in self._beside:
            shutil.copy(file, folder)
        now = {name: fields.get(tree, path) for name, path in self._paths.items()}
        return {"params": skeleton.size(model), "sizes": now}

    def _fitting(self, sizes: Sizes) -> Any:
        asked = {self._paths[name]: value for name, value in sizes.items()}
        if all(fields.get(self._reference.tree, path) == value for path, value in asked.items()):
            return self._reference.tree
        tree = self._with(asked)
        complaint = self._complaint(tree)
        if not complaint:
            return tree
        others = [
            path for path in self._paths.values()
            if fields.get(tree, path) == fields.get(self._found.tree, path) and path not in self._layers
        ]  # fmt: skip
        raised = [
            value for path, value in asked.items() if value != fields.get(self._found.tree, path)
        ]
        tries = itertools.chain(
            itertools.islice(self._one_raised(tree, others, list(asked.values())), _MOST_TRIES),
            itertools.islice(self._two_raised(tree, others, raised), _MOST_TRIES),
        )
        for other in tries:
            if not self._complaint(other):
                return other
        raise RefusedError("unsolved", complaint, "choose other sizes")

    def _with(self, asked: dict[Path, int]) -> Any:
        tree = copy.deepcopy(self._found.tree)
        for path, value in asked.items():
            if path in self._layers:
                kinds = self._layers[path]
                fields.keep_layers(tree, self._reference.tree, path, kinds, value)
            else:
                fields.put(tree, path, value)
        return tree

    def _one_raised(self, tree: Any, others: list[Path], asked: list[int]) -> Iterator[Any]:
        """Yield trees with one other dimension raised: first to a multiple of what was asked for.

        None is lowered: what a failure needs of it could be lost.
        """
        for times in _TIMES:
            for path in sorted(others, key=_rank, reverse=True):
                for value in dict.fromkeys(asked):
                    if self._may_be(tree, path, value * times):
                        yield _with_values(tree, {path: value * times})

    def _two_raised(self, tree: Any, others: list[Path], raised: list[int]) -> Iterator[Any]:
        """Yield trees with a count raised to what was asked for, and a width to a multiple of it."""
        counts = [path for path in sorted(others, key=_rank) if _least(path)]
        widths = [path for path in others if _rank(path) == len(_ORDER)]
        for value, count, width in itertools.product(dict.fromkeys(raised), counts, widths):
            for times in _TIMES:
                if self._may_be(tree, count, value) and self._may_be(tree, width, value * times):
                    yield _with_values(tree, {count: value, width: value * times})

    def _may_be(self, tree: Any, path: Path, value: int) -> bool:
        return bool(
            fields.get(tree, path) < value <= max(4096, fields.get(self._reference.tree, path))
        )

    def _complaint(self, tree: Any) -> str:
        tree = making.inside(tree)
        try:
            model = self._reference.build(tree)
            if skeleton.size(model) < making.FOR_REAL:
                self._reference.run(tree)
        except Exception as error:
            return brief(error)
        return ""


def _with_values(tree: Any, values: dict[Path, int]) -> Any:
    """Return a copy of a configuration with other numbers in some places."""
    other = copy.deepcopy(tree)
    for path, value in values.items():
        fields.put(other, path, value)
    return other


def _files_beside(folder: str) -> list[str]:
    """Return the files that read texts, images and sound for a model."""
    names = sorted(os.listdir(folder)) if folder else []
    return [os.path.join(folder, name) for name in names if name.startswith(_BESIDE)]


def _rank(path: Path) -> int:
    name = fields.name_of(path)
    return next((place for place, each in enumerate(_ORDER) if each.search(name)), len(_ORDER))


def _least(path: Path) -> int:
    """Return the least that is tried of a dimension; 0: the small value."""
    name = fields.name_of(path)
    is_count = any(each.search(name) for each in _COUNTS) and not fields.HEAD_SIZE.search(name)
    return 1 if is_count else 0


def _is_as_long(tree: Any, other: Any, path: Path) -> bool:
    """Whether a list has the same places in both: one with an entry a layer may have lost some."""
    return not isinstance(path[-1], int) or len(fields.get(tree, path[:-1])) == len(
        fields.get(other, path[:-1])
    )


def _is_smaller(tree: Any, path: Path, value: int) -> bool:
    try:
        return bool(fields.get(tree, path) < value)
    except (KeyError, IndexError, TypeError):
        return False
