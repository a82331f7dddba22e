"""The Pythons that the agent's tests run programs on."""

import os
import sys
from collections.abc import Mapping

import pytest

from whet.host.python.pythons import pythons_between


@pytest.fixture(scope="session")
def interpreters() -> Mapping[str, str]:
    """This Python, and each other one that is at hand, by its version."""
    others = pythons_between((3, 8), (3, 13), os.environ)
    found = {f"{a}.{b}": str(facts.path) for (a, b), facts in others.items()}
    return {**found, "own": sys.executable}


@pytest.fixture(
    params=[
        "own",
        "3.12",
        *(pytest.param(each, marks=pytest.mark.long) for each in ("3.8", "3.13")),
    ]
)
def python(request: pytest.FixtureRequest, interpreters: Mapping[str, str]) -> str:
    """This Python, and of the others one that is woven and one that tells by itself."""
    name = str(request.param)
    if name not in interpreters:
        pytest.skip(f"Python {name} is not on this machine")
    return interpreters[name]
