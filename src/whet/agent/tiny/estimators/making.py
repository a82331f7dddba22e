"""An estimator with small sizes, from the parameters that it was given, and the proof of it."""

from __future__ import annotations

import json
import os
import pickle
import re
import warnings
from collections.abc import Iterator
from typing import Any, Optional

from .. import fields, libraries
from ..checks import Checks
from ..factories import Named
from ..refusals import RefusedError, brief
from . import data
from .sizes import Sizes, changed, plain, sizes_of

_OBJECT, _PARAMETERS = "estimator.joblib", "estimator.json"
_LEVELS = (2, 4, 8, 16, 32)
_MOST_FITS = 200
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def made(named: Named, request: dict[str, Any]) -> dict[str, Any]:
    """Find small sizes, build the estimator, check it and write its folder."""
    reference = Reference(named, request)
    sizes = reference.small()
    return reference.written(sizes, str(request["output"]))


class Reference:
    """An estimator as the user's program makes it."""

    def __init__(self, named: Named, request: dict[str, Any]) -> None:
        warnings.simplefilter("ignore")  # few rounds don't converge, which is what is asked for
        self._named = named
        self._name = type(named.value).__name__
        for option in ("params", "tokenizer"):
            if request.get(option) is not None:
                raise RefusedError(
                    "usage",
                    "`--%s` is for models, and `%s` is an estimator" % (option, self._name),
                    "leave it out",
                )
        self._parameters: dict[str, Any] = named.value.get_params(deep=True)
        self._sizes = sizes_of(self._parameters)
        self._sample: Optional[data.Sample] = None
        self._fits_left = _MOST_FITS
        if not self._sizes:
            raise RefusedError(
                "unsolved",
                "no parameter of `%s` that is over 2 decides its size" % self._name,
                "use it as it is: it is small",
            )

    # ---- sizes ----

    def small(self) -> Sizes:
        """Return sizes as small as the estimator can be fitted with.

        Raises:
            RefusedError: if it can't be fitted.
        """
        complaint = ""
        for sizes in self._guesses():
            said = self._complaint(sizes)
            if not said:
                return sizes
            complaint = complaint or said
        raise RefusedError(
            "unsolved",
            "no tiny table was found to which `%s` can be fitted: %s" % (self._name, complaint),
            "name a part of it that takes rows of numbers or texts, or columns by their names",
        )

    def _guesses(self) -> Iterator[Sizes]:
        least = self._at(_LEVELS[0])
        yield least
        for name, size in self._sizes.items():  # one may need more than the others
            yield from ({**least, name: min(size, level)} for level in _LEVELS[1:])
        yield from map(self._at, _LEVELS[1:])

    def _at(self, level: int) -> Sizes:
        return {name: min(size, level) for name, size in self._sizes.items()}

    def _complaint(self, sizes: Sizes) -> str:
        """Return why an estimator of these sizes can't be fitted; or nothing."""
        first = ""
        tried = data.samples(self.made(sizes)) if self._sample is None else [self._sample]
        for sample in tried:
            if self._fits_left == 0:
                return first or "too many tries"
            self._fits_left -= 1
            try:
                data.fitted(self.made(sizes), sample)
            except Exception as error:
                first = first or brief(error)
            else:
                self._sample = sample
                return ""
        return first

    # ---- the estimator ----

    def made(self, sizes: Sizes) -> Any:
        """Return an estimator of these sizes, not fitted."""
        new = libraries.library("sklearn.base").clone(self._named.value)
        return new.set_params(**changed(self._parameters, sizes))

    def written(self, sizes: Sizes, folder: str) -> dict[str, Any]:
        """Check an estimator, write its folder, and say how it differs."""
        assert self._sample is not None
        rows = self._sample[0]
        os.makedirs(folder, exist_ok=True)
        model = data.fitted(self.made(sizes), self._sample)
        checked = Checks()
        checked.run("fit", lambda: "")
        checked.run("predict or transform", lambda: _finite(_used(model, rows)))
        checked.run("clone", lambda: self._cloned(model))
        checked.run("save and load", lambda: self._saved(model, rows, folder))
        checked.run("same other parameters", lambda: self._same_others(sizes))
        self._save(sizes, folder)
        return {
            "tokenizer": None,
            "class": self._name,
            "counts": "sizes",
            "params": sum(sizes.values()),
            "reference_params": sum(self._sizes.values()),
            "changes": self._changes(sizes),
            "checks": checked.results,
            "line": self._line(sizes),
        }

    def _changes(self, sizes: Sizes) -> list[list[object]]:
        new = _as_data(changed(self._parameters, sizes))
        old = _as_data({name: self._parameters[name] for name in new})
        return [list(each) for each in fields.differences(old, new)]

    def _line(self, sizes: Sizes) -> str:
        """Return what makes the estimator in the user's program; empty: a value can't be written down."""
        new = {name: plain(value) for name, value in changed(self._parameters, sizes).items()}
        if not all(_is_plain(value) for value in new.values()):
            return ""
        if all(name.isidentifier() for name in new):
            given = ", ".join("%s=%r" % item for item in new.items())
        else:
            given = "**%r" % new
        return "%s.set_params(%s)" % (self._named.expression, given)

    def _save(self, sizes: Sizes, folder: str) -> None:
        facts = {
            "made_by": self._named.name,
            "class": "%s.%s" % (type(self._named.value).__module__, self._name),
            "parameters": _as_data(changed(self._parameters, sizes)),
            "line": self._line(sizes),
        }
        with open(os.path.join(folder, _PARAMETERS), "w", encoding="utf-8") as file:
            json.dump(facts, file, indent=2)
        if not self._unpickled:
            libraries.library("joblib").dump(self.made(sizes), os.path.join(folder, _OBJECT))

    # ---- checks ----

    @property
    def _unpickled(self) -> str:
        """Why the user's own estimator can't be pickled; or nothing."""
        try:
            pickle.dumps(self._named.value)
        except Exception as error:
            return brief(error)
        return ""

    def _cloned(self, model: Any) -> str:
        new = libraries.library("sklearn.base").clone(model)
        assert _described(new) == _described(model), "a clone has other parameters"
        return ""

    def _saved(self, model: Any, rows: Any, folder: str) -> str:
        if self._unpickled:
            return "your own can't be pickled either: %s" % self._unpickled
        joblib = libraries.library("joblib")
        place = os.path.join(folder, _OBJECT)
        joblib.dump(model, place)
        assert _is_same(_used(model, rows), _used(joblib.load(place), rows)), (
            "it answers differently after loading"
        )
        return ""

    def _same_others(self, sizes: Sizes) -> str:
        new = changed(self._parameters, sizes)
        old, now = _described(self._named.value), _described(self.made(sizes))
        others = [name for name in old if name not in new and old[name] != now.get(name)]
        assert not others, "`%s` differs" % others[0]
        return ""


class OpenEstimator(Reference):
    """An estimator and its sizes, between the requests of a search."""

    def facts(self) -> dict[str, Any]:
        """Say which sizes there are."""
        if self._unpickled:
            raise RefusedError(
                "unsolved",
                "`%s` can't be pickled, so a command can't read it: %s"
                % (self._named.name, self._unpickled),
                "put what it names into a module of its own, or leave the command out",
            )
        small = self.small()
        return {
            "class": self._name,
            "counts": "sizes",
            "reference_params": sum(self._sizes.values()),
            "dimensions": [
                [name, size, small[name], 1]
                for name, size in self._sizes.items()
                if small[name] < size
            ],
        }

    def build(self, sizes: Sizes, folder: str) -> dict[str, Any]:
        """Write an estimator of these sizes."""
        whole = {**self._sizes, **sizes}
        os.makedirs(folder, exist_ok=True)
        self._save(whole, folder)
        return {"params": sum(whole.values()), "sizes": whole}


def _used(model: Any, rows: Any) -> Any:
    """Return what an estimator says of rows; None: it can't be asked."""
    for name in ("predict", "transform"):
        if hasattr(model, name):
            return getattr(model, name)(rows)
    return None


def _finite(found: Any) -> str:
    if found is None:
        return "it has neither"
    numpy = libraries.library("numpy")
    values = numpy.asarray(found.toarray() if hasattr(found, "toarray") else found)
    assert values.dtype.kind not in "fc" or numpy.isfinite(values).all(), (
        "not all that comes out is finite"
    )
    return ""


def _is_same(one: Any, other: Any) -> bool:
    numpy = libraries.library("numpy")
    if hasattr(one, "toarray"):
        one, other = one.toarray(), other.toarray()
    return bool(numpy.array_equal(numpy.asarray(one), numpy.asarray(other)))


def _described(estimator: Any) -> dict[str, str]:
    """Return each parameter in words that are the same for an estimator made like it."""
    return {name: _in_words(value) for name, value in estimator.get_params(deep=True).items()}


def _in_words(value: Any) -> str:
    if hasattr(value, "get_params"):
        return type(value).__qualname__
    if fields.is_list(value):
        return "[%s]" % ", ".join(map(_in_words, value))
    return _ADDRESS.sub("", repr(value))


def _as_data(value: Any) -> Any:
    """Return a value as JSON data; what is none is said in words."""
    value = plain(value)
    if fields.is_mapping(value):
        return {str(key): _as_data(each) for key, each in value.items()}
    if fields.is_list(value):
        return [_as_data(each) for each in value]
    return value if _is_plain(value) else _in_words(value)


def _is_plain(value: Any) -> bool:
    value = plain(value)
    if fields.is_mapping(value):
        return all(_is_plain(each) for each in value.values())
    if fields.is_list(value):
        return all(_is_plain(each) for each in value)
    return value is None or isinstance(value, (bool, int, float, str))
