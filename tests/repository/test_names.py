"""Modules and classes have the field's words: the invented ones of the beginning don't come back."""

import ast
import re

import pytest

from .tree import syntax_of, tracked

INVENTED = (
    "deeds? onlooker stirrings? belongings? felled felling ceilings? unheld unseen veil hygiene"
    " dearness dearer wishes guilty hindrance sightings? passage outlet judged_alike second_look"
    " rungs? looks told seen"
)
_INVENTED = re.compile(rf"(^|_)({'|'.join(INVENTED.split())})(_|$)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_invented(name: str) -> bool:
    return _INVENTED.search(_HUMP.sub("_", name).lower()) is not None


@pytest.mark.parametrize("name", ["deeds", "Belongings", "_Hindrance", "guilty_part", "NoDearer"])
def test_an_invented_word_is_known_in_any_dress(name: str) -> None:
    assert is_invented(name)


def test_no_module_and_no_class_has_an_invented_word_and_no_function_is_called_told() -> None:
    found: list[str] = []
    for path in tracked("src/*.py"):
        nodes = list(ast.walk(syntax_of(path)))
        classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
        found += [f"{path}: {name}" for name in (path.stem, *classes) if is_invented(name)]
        found += [
            f"{path}: {node.name}"
            for node in nodes
            if isinstance(node, ast.FunctionDef) and node.name.strip("_") in {"told", "seen"}
        ]
    assert found == []
