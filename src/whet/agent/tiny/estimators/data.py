"""Tiny tables at random to fit an estimator to: with the columns that its transformers name."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterator
from typing import Any, Tuple

from .. import fields, libraries

Sample = Tuple[Any, Any]

_ROWS, _COLUMNS = 24, 8
_TEXTS = ("red apple", "green pear", "blue plum")
_MOST_CHOICES = 16


def samples(estimator: Any) -> Iterator[Sample]:
    """Yield rows, and what they are to be fitted to, the most likely first."""
    for rows in _tables(estimator):
        for answers in _answers(estimator):
            yield rows, answers


def fitted(estimator: Any, sample: Sample) -> Any:
    """Fit an estimator, in this process alone."""
    rows, answers = sample
    with libraries.library("joblib").parallel_backend("sequential"):
        return estimator.fit(rows) if answers is None else estimator.fit(rows, answers)


def _answers(estimator: Any) -> Iterator[Any]:
    numpy, base = libraries.library("numpy"), libraries.library("sklearn.base")
    labels = numpy.arange(_ROWS) % 2
    values = _random((_ROWS,))
    if not base.is_regressor(estimator):
        yield labels
    if not base.is_classifier(estimator):
        yield values
    if not base.is_regressor(estimator) and not base.is_classifier(estimator):
        yield None
    yield numpy.stack([labels, labels[::-1]], 1)


def _random(shape: tuple[int, ...]) -> Any:
    """Return numbers above nothing, which every estimator takes."""
    return libraries.library("numpy").random.default_rng(0).random(shape) + 0.1


def _tables(estimator: Any) -> Iterator[Any]:
    groups = list(_groups(estimator))
    if not groups or any(callable(columns) for _, columns in groups):
        yield from _without_names()
        return
    guess = [_takes_texts(*each) for each in groups]
    yield _table(groups, guess)
    choices = itertools.product((False, True), repeat=len(groups))
    for choice in itertools.islice(choices, _MOST_CHOICES):
        if list(choice) != guess:
            yield _table(groups, list(choice))


def _without_names() -> Iterator[Any]:
    numpy = libraries.library("numpy")
    texts = [_TEXTS[row % len(_TEXTS)] for row in range(_ROWS)]
    numbers = _random((_ROWS, _COLUMNS))
    yield numbers
    yield texts
    if importlib.util.find_spec("pandas") is not None:
        frame = libraries.library("pandas").DataFrame(numbers)
        frame.columns = ["number_%d" % each for each in range(_COLUMNS)]
        yield frame.assign(text_0=texts, text_1=texts[::-1])
    yield numpy.array([texts, texts[::-1]], dtype=object).T
    yield [{"number": float(row), "text": text} for row, text in enumerate(texts)]
    yield numbers[:, 0]


def _groups(estimator: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each transformer that takes some of the columns, with these columns."""
    for name, value in estimator.get_params(deep=True).items():
        if name.rpartition("__")[2] == "transformers" and fields.is_list(value):
            yield from ((each[1], each[2]) for each in value if len(each) == len("abc"))


def _listed(columns: Any) -> list[Any]:
    """Return names or places of columns as a list."""
    if hasattr(columns, "indices"):  # a slice
        end = columns.stop if columns.stop is not None else (columns.start or 0) + 2
        return list(range(*columns.indices(end)))
    if isinstance(columns, (str, int)):
        return [columns]
    found = list(columns)
    if found and all(isinstance(each, bool) for each in found):
        return [place for place, each in enumerate(found) if each]
    return found


def _table(groups: list[tuple[Any, Any]], texts: list[bool]) -> Any:
    """Return a table with all columns that are named, each group's of texts or numbers."""
    columns: dict[Any, list[Any]] = {}
    for (transformer, named), is_text in zip(groups, texts):
        names = _listed(named)
        columns.update(zip(names, _values(transformer, len(names), is_text=is_text)))
    if any(isinstance(name, str) for name in columns):
        named = {name: values for name, values in columns.items() if isinstance(name, str)}
        return libraries.library("pandas").DataFrame(named)
    width = max([*columns, 0]) + 1
    table = _random((_ROWS, width)).astype(object if any(texts) else float)
    for place, values in columns.items():
        table[:, place] = values
    return table


def _values(transformer: Any, count: int, *, is_text: bool) -> list[list[Any]]:
    if not is_text:
        return [list(each) for each in _random((count, _ROWS)).tolist()]
    known = _categories(transformer, count) or [list(_TEXTS)] * count
    return [[each[row % len(each)] for row in range(_ROWS)] for each in known]


def _categories(transformer: Any, count: int) -> list[list[Any]]:
    """Return the values that a transformer knows of each column, where it was given them."""
    if not hasattr(transformer, "get_params"):
        return []
    parameters: dict[str, Any] = transformer.get_params(deep=True)
    for name, value in parameters.items():
        is_known = fields.is_list(value) and len(value) == count
        if name.rpartition("__")[2] == "categories" and is_known:
            return [list(each) for each in value]
    return []


def _takes_texts(transformer: Any, columns: Any) -> bool:
    """Whether a transformer takes columns of texts."""
    if not hasattr(transformer, "fit"):
        return False
    table = _table([(transformer, columns)], [True])
    part = table[columns] if hasattr(table, "columns") else table[:, columns]
    try:
        fitted(libraries.library("sklearn.base").clone(transformer), (part, None))
    except Exception:
        return False
    return True
