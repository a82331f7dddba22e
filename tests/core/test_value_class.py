"""Laws of value classes: what `dataclass` makes of a class, `value_class` makes of it too."""

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.value_class import value_class

Decorate = Callable[..., Callable[[type], type]]

FORMS: dict[str, Callable[[], object]] = {
    "default": lambda: 3,
    "factory": lambda: field(default_factory=list),
    "not compared": lambda: field(default=(), compare=False),
    "not shown": lambda: field(default="x", repr=False),
    "not given": lambda: field(default=7, init=False),
    "made": lambda: field(default_factory=dict, init=False),
    "by name": lambda: field(default=None, kw_only=True),
    "required by name": lambda: field(kw_only=True),
}


def class_of(decorate: Decorate, required: int, forms: list[str], **options: bool) -> type:
    names = [f"field{number}" for number in range(required + len(forms))]
    values = {name: FORMS[form]() for name, form in zip(names[required:], forms, strict=True)}
    body = {"__annotations__": dict.fromkeys(names, object), "__qualname__": "Made", **values}
    return decorate(**options)(type("Made", (), body))


def answer(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except (TypeError, FrozenInstanceError) as error:
        return f"{type(error).__name__}: {error}"


@given(
    required=st.integers(1, 2),
    forms=st.lists(st.sampled_from(list(FORMS)), max_size=4),
    options=st.fixed_dictionaries({"kw_only": st.booleans(), "eq": st.booleans()}),
    given_values=st.lists(st.lists(st.integers(0, 1), max_size=6), min_size=2, max_size=2),
)
def test_a_value_class_makes_compares_shows_and_refuses_what_a_dataclass_does(
    required: int, forms: list[str], options: dict[str, bool], given_values: list[list[int]]
) -> None:
    def answers(decorate: Decorate) -> list[object]:
        cls = class_of(decorate, required, forms, **options)
        ways = [
            way
            for values in given_values
            for named in ({f"field{number}": each for number, each in enumerate(values)},)
            for way in (partial(cls, *values), partial(cls, **named))
        ]
        said = [answer(each) for each in ways]
        made: list[Any] = [each for each in said if isinstance(each, cls)]
        return [
            str(inspect.signature(cls)),
            [repr(each) if options["eq"] else str(each).split(" at ")[0] for each in said],
            [[getattr(each, f.name) for f in fields(cls)] for each in made],
            [[each == other for other in made] for each in made],
            [repr(copy.deepcopy(each)) for each in made],
            [answer(partial(replace, each)) == each for each in made],
            [
                answer(partial(hash, each)) == answer(partial(hash, copy.copy(each)))
                for each in made
            ],
            [answer(partial(setattr, each, "field0", 1)) for each in made],
            [answer(partial(delattr, each, "field0")) for each in made],
        ]

    assert answers(value_class) == answers(
        lambda **asked: dataclass(frozen=True, slots=True, **asked)
    )


@value_class
class Point:
    """A place; its length is asked of it."""

    x: int
    y: int = 0

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError(self.x)

    def shown(self) -> str:
        return f"({self.x}, {self.y})"


@value_class(kw_only=True)
class Named(Point):
    """A place with a name, which counts alone."""

    name: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name

    def __repr__(self) -> str:
        return self.shown()

    def __hash__(self) -> int:
        return hash(self.name)

    def shown(self) -> str:
        return f"{self.name}{super().shown()}"


def test_methods_that_a_class_has_of_its_own_stay_and_super_leads_to_the_base() -> None:
    assert repr(Named(1, 2, name="a")) == "a(1, 2)"
    assert Named(1, name="a") == Named(2, name="a")
    assert hash(Named(1, name="a")) == hash("a")


def test_what_a_value_checks_at_its_making_is_checked_in_each_class_and_each_time() -> None:
    for cls in (Named, Point, Named, Point):
        with pytest.raises(ValueError, match="-1"):
            cls(-1)


def test_a_value_goes_through_pickle() -> None:
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)


def test_the_init_is_compiled_when_it_is_first_asked_for() -> None:
    fresh: type = value_class(type("Fresh", (), {"__annotations__": {"x": int}}))
    assert not inspect.isfunction(vars(fresh)["__init__"])
    fresh(1)
    assert inspect.isfunction(vars(fresh)["__init__"])
