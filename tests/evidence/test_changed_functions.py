import pytest

from whet.evidence.clues.changed_functions import changed_functions

TEXT = """
LIMIT = 3
class Box:
    size = 1
    def put(self, each):
        return each
    @property
    def taken(self):
        def inner():
            return 1
        return inner()
def top():
    return LIMIT
"""


def names(one: str, other: str) -> list[str]:
    return [each.name for each in changed_functions({"box.py": one}, {"box.py": other})]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("return each", "return [each]", ["Box.put"]),
        ("return 1", "return 2", ["Box.taken.inner"]),
        ("return inner()", "return inner() or 1", ["Box.taken"]),
        ("size = 1", "size = 2", ["Box"]),
        ("LIMIT = 3", "LIMIT = 4", [""]),
        ("def top():", "def top(more=1):", ["top"]),
        ("def top():", "def other():", ["top"]),
    ],
)
def test_the_innermost_part_that_differs_is_the_one_that_changed(
    old: str, new: str, changed: list[str]
) -> None:
    assert names(TEXT, TEXT.replace(old, new)) == changed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return each", "return each  # as it is"),
        ("def put(self, each):", 'def put(self, each):\n        """Put it."""'),
        ("def put(self, each):", "def put(self, each: object) -> object:"),
        ("def top():", "def more():\n    return 1\n\n\ndef top():"),
    ],
)
def test_what_decides_nothing_is_no_change(old: str, new: str) -> None:
    assert names(TEXT, TEXT.replace(old, new)) == []


def test_a_function_begins_with_its_decorators() -> None:
    (found,) = changed_functions(
        {"box.py": TEXT}, {"box.py": TEXT.replace("inner()\ndef", "2\ndef")}
    )
    assert TEXT.splitlines()[found.line - 1] == "    @property"


def test_a_module_that_became_a_package_is_the_same_module() -> None:
    (found,) = changed_functions(
        {"box.py": TEXT}, {"box/__init__.py": TEXT.replace("return each", "return 5")}
    )
    assert (found.file, found.name) == ("box.py", "Box.put")
