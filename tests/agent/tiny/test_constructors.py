"""What makes a model of the user's: the sizes among its arguments, also those inside of objects."""

import enum
from argparse import Namespace
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.tiny import constructors, fields
from whet.agent.tiny.refusals import RefusedError

SET = ("config.width", "config.experts.count")


class Gate(enum.Enum):
    SOFT = b"soft"
    HARD = b"hard"


@dataclass
class Experts:
    count: int = 8
    chosen: int = 2


@dataclass
class Config:
    width: int = 512
    heads: int = 8
    head_size: "int | None" = None
    gate: Gate = Gate.SOFT
    experts: Experts = field(default_factory=lambda: Experts(count=16))
    widths: list[int] = field(default_factory=lambda: [64, 32])
    inner: int = field(init=False)

    def __post_init__(self) -> None:
        self.inner = 4 * self.width
        self.head_size = self.head_size or self.width // self.heads


@dataclass
class Needs:
    depth: int


class Sizes(NamedTuple):
    rows: int = 4
    columns: int = 5


class Plain:
    layers = 6

    def __init__(self) -> None:
        self.classes = 1000
        self.made_of = [1, 2]
        self._hidden = 3


class Mapped:
    """Takes what `types.SimpleNamespace` takes from Python 3.13."""

    def __init__(self, mapping: "dict[str, Any] | tuple[()]" = (), /, **others: Any) -> None:
        vars(self).update(mapping, **others)


class Net:
    def __init__(self, config: Config, bias: float = 0.5) -> None:
        self.config, self.bias = config, bias


class Unannotated:
    def __init__(self, cfg: Any) -> None:
        self.width = cfg.width // cfg.heads
        self.cfg = cfg


class Attributes:
    def __init__(self, cfg: Any) -> None:
        self.rows, self.cfg = [cfg.classes] * cfg.layers, cfg


class Unknown:
    def __init__(self, cfg: Any) -> None:
        self.cfg = cfg


def of_needs(needs: Needs) -> Needs:
    return needs


def of_sizes(sizes: "Sizes | None" = None) -> "Sizes | None":
    return sizes


DEFAULT = Config(width=96, gate=Gate.HARD)


def of_default(config: Config = DEFAULT) -> Config:
    return config


def of_anything(**anything: int) -> dict[str, int]:
    return anything


def of_gate(gate: Gate) -> Gate:
    return gate


def test_an_object_among_the_arguments_is_a_part_of_the_tree() -> None:
    made = constructors.constructor(Net, {})

    assert made.tree == {
        "bias": 0.5,
        "config": {
            "width": 512, "heads": 8, "head_size": None, "widths": [64, 32],
            "experts": {"count": 16, "chosen": 2},
        },
    }  # fmt: skip
    assert made.places() == {
        "config": f"{__name__}:Config",
        "config.experts": f"{__name__}:Experts",
    }


@given(width=st.integers(1, 2**40), count=st.integers(1, 99), names=st.sets(st.sampled_from(SET)))
def test_what_is_made_of_a_tree_holds_its_numbers_and_derives_the_others(
    width: int, count: int, names: set[str]
) -> None:
    made = constructors.constructor(Net, dict.fromkeys(names, 7))
    assert {path for path, number in fields.numbers(made.tree) if number == 7} == {
        tuple(name.split(".")) for name in names
    }
    made.tree["config"].update(width=width)
    made.tree["config"]["experts"].update(count=count)

    config = made.made(made.tree).config

    assert config == Config(width=width, experts=Experts(count=count))
    assert config.inner == 4 * width
    assert config is not made.made(made.tree).config


@pytest.mark.parametrize(
    ("found", "tree"),
    [
        (Unannotated, {"width": 512, "heads": 8}),
        (Attributes, {"layers": 6, "classes": 1000, "made_of": [1, 2]}),
    ],
)
def test_a_class_that_has_what_a_constructor_reads_is_found(
    found: Any, tree: dict[str, Any]
) -> None:
    made = constructors.constructor(found, {})

    assert made.tree["cfg"].items() >= tree.items()
    assert isinstance(made.made(made.tree), found)


def test_an_object_without_a_constructor_gets_its_attributes() -> None:
    made = constructors.constructor(Unknown, {"cfg": f"{__name__}:Plain", "cfg.layers": 2})

    cfg = made.made(made.tree).cfg

    assert isinstance(cfg, Plain)
    assert vars(cfg) == {**vars(Plain()), "layers": 2}
    assert Plain.layers == 6


@pytest.mark.parametrize(
    "held",
    [
        SimpleNamespace(depth=3, function=len), Mapped(depth=3, name="deep"),
        Namespace(depth=3, path=None), Needs(3),
    ],
)  # fmt: skip
def test_an_object_that_a_model_holds_is_made_again_with_other_numbers(held: Any) -> None:
    made = constructors.constructor(Unknown, {"cfg": held})
    made.tree["cfg"]["depth"] = 1

    again = made.made(made.tree).cfg

    assert type(again) is type(held)
    assert {**vars(held), "depth": 1} == vars(again)
    assert held.depth == 3


def test_what_cannot_be_written_down_stays_as_it_is() -> None:
    made = constructors.constructor(of_default, {})

    assert made.tree["config"]["width"] == 96
    assert "gate" not in made.tree["config"]
    assert made.made(made.tree).gate is Gate.HARD


def test_an_argument_that_may_be_none_is_so_until_something_of_it_is_set() -> None:
    assert constructors.constructor(of_sizes, {}).tree == {"sizes": None}
    assert constructors.constructor(of_sizes, {"sizes.rows": 2}).tree == {
        "sizes": {"rows": 2, "columns": 5}
    }


@pytest.mark.parametrize(
    ("found", "settings", "says", "hint"),
    [
        (of_needs, {}, "`Needs` needs `depth`", "`--set needs.depth=VALUE`"),
        (Net, {"config.depth": 3}, "`Config` takes no `depth`", "it takes: width, heads"),
        (Net, {"conf.width": 3}, "`Net` takes no `conf.width`", "it takes: config, bias"),
        (Net, {"bias.low": 3}, "so `bias.low` can't be set", "`--set bias=package.module:Config`"),
        (of_anything, {"a.b": 3}, "`of_anything` takes no `a.b`", "it takes: anything"),
        (Unknown, {"cfg": 3, "cfg.depth": 1}, "so `cfg.depth` can't be set", "`--set cfg=package"),
        (Unknown, {}, "`Unknown` needs `cfg`", "`--set cfg=package.module:Config`"),
        (Unknown, {"cfg": f"{__name__}:Plan"}, "has no `Plan`", "did you mean"),
        (
            Unknown,
            {"cfg": f"{__name__}:Plain", "cfg.depth": 1},
            "`Plain` has no `depth`",
            "it has: layers, classes",
        ),
        (of_gate, {}, "`of_gate` needs `gate`", "`--set gate=VALUE`"),
    ],
)
def test_what_cannot_be_made_is_refused_with_what_to_set(
    found: Any, settings: dict[str, Any], says: str, hint: str
) -> None:
    with pytest.raises(RefusedError, match=says) as refused:
        constructors.constructor(found, settings)

    assert hint in refused.value.hint
