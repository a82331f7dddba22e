"""A value that one place converts is converted at the others, where the same becomes of it."""

import ast

import pytest

from whet.evidence.experiments.changes import text_with
from whet.evidence.experiments.wrapped_otherwise import wrapped_otherwise

LOCAL_HOURS = """\
class Reading:
    def hour(self):
        return self.at.astimezone(self.zone).hour

    def day(self):
        return self.at.date()
"""
STORED_FOLDED = """\
def fold(name):
    return name.strip().lower()

class Register:
    def add(self, name, age):
        self.ages[fold(name)] = age

    def find(self, name):
        return self.ages[name]
"""
SIDES = """\
def is_late(now, due):
    return int(now) > due

def is_early(now, due):
    return now < due
"""


def changed(source: str) -> list[str]:
    """Return the lines that the changes put instead, in their order."""
    texts = (text_with(source, each) for each in wrapped_otherwise(ast.parse(source)))
    before = ast.unparse(ast.parse(source)).splitlines()
    found: list[str] = []
    for text in texts:
        found += [line.strip() for line in text.splitlines() if line not in before]
    return found


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (LOCAL_HOURS, ["return self.at.astimezone(self.zone).date()"]),
        (STORED_FOLDED, ["return self.ages[fold(name)]"]),
        (SIDES, ["return int(now) < due"]),
    ],
    ids=["a part", "a key", "a side"],
)
def test_what_one_place_converts_is_converted_at_the_other(source: str, lines: list[str]) -> None:
    assert changed(source) == lines


@pytest.mark.parametrize(
    ("source", "is_telling"), [(LOCAL_HOURS, False), (STORED_FOLDED, True), (SIDES, False)]
)
def test_only_keys_of_one_container_have_to_be_in_one_form(
    source: str, *, is_telling: bool
) -> None:
    (change,) = wrapped_otherwise(ast.parse(source))
    assert change.is_telling == is_telling


@pytest.mark.parametrize(
    "source",
    [
        # What is asked of a value is no other form of it.
        "def f(rows):\n    return rows[len(rows) - 1]\n\ndef g(rows):\n    return rows - 1\n",
        # Something else becomes of it.
        "def f(name):\n    return {}[name.strip()]\n\ndef g(name):\n    return name + '!'\n",
        # The conversion needs what the other function doesn't have.
        "def f(at, zone):\n    return at.to(zone).hour\n\ndef g(at):\n    return at.hour\n",
        # It is converted before.
        "def f(name):\n    return {}[name.strip()]\n\ndef g(name):\n    name = name.strip()\n    return {}[name]\n",
        # It is another object's.
        (
            "class A:\n    def f(self):\n        return self.at.local().hour\n\n"
            "class B:\n    def g(self):\n        return self.at.hour\n"
        ),
        # It is a key of something else, whose keys are in another form on purpose.
        (
            "class A:\n    def label(self, code):\n        return self.labels[code.upper()]\n\n"
            "    def price(self, code):\n        return self.prices[code]\n"
        ),
        "def f(seen, word):\n    seen.add(word.lower())\n\ndef g(known, word):\n    return word in known\n",
        # It changes its object.
        "def f(rows):\n    return rows.pop().x\n\ndef g(rows):\n    return rows.x\n",
    ],
)
def test_what_has_another_meaning_stays(source: str) -> None:
    assert changed(source) == []
