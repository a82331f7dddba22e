"""pytest, run warm, gives what it gives cold."""

from pathlib import Path

import pytest
from workshop import SLOW, Workshop, outcome_of

pytestmark = pytest.mark.slow

PYTEST = ("-m", "pytest", "-qq", "-p", "no:cacheprovider", "-p", "no:randomly")
BYTE_CODE = {"__pycache__/one": ""}  # a folder that appears counts: pytest lists the folder around
SUITE = (
    SLOW + "import pytest\n\n@pytest.fixture(scope='module')\ndef model():\n    time.sleep(0.06)\n    return 3\n\n"
    "def test_first():\n    assert 1 + 1 == 2\n\nclass TestMore:\n    def __repr__(self): return 'it'\n    @pytest.mark.parametrize('n', [1, 2])\n"
    "    def test_second(self, model, n):\n        print('said')\n        assert model * n < {}\n"
)  # fmt: skip


def edited(workshop: Workshop, files: dict[str, str], edit: dict[str, str]) -> str:
    """Run a suite, edit it, and return where the second run began."""
    workshop.write({**BYTE_CODE, **files})
    workshop.run(*PYTEST)
    workshop.write(edit)
    workshop.run(*PYTEST)
    return workshop.starts[-1].place


@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("< {}", "< 5", "test_it.py::TestMore::test_second[1] (set up)"),
        pytest.param("print('said')", "x = [n]\n        print('told')", "test_it.py::TestMore::test_second[1] (set up)", marks=pytest.mark.long),
        pytest.param("return 3", "return 30", "test_it.py::", marks=pytest.mark.long),
        ("1 + 1 == 2\n", "1 + 1 == 3\n", "test_it.py::test_first"),
        ("[1, 2]", "[1, 2, 3]", "test_it.py"),
        pytest.param("import pytest\n", "import pytest\nassert 0, 1\n", "test_it.py", marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_an_edit_of_a_test_is_answered_from_before_it(
    workshop: Workshop, before: str, after: str, place: str
) -> None:
    text = SUITE.replace("{}", "10")
    found = edited(
        workshop,
        {"test_it.py": text, "conftest.py": SLOW},
        {"test_it.py": text.replace(before.replace("{}", "10"), after)},
    )

    # On a slow machine there are more copies.
    assert found.startswith(place), workshop.starts
    assert ("::" in found) == ("::" in place)


def test_with_its_own_cache_an_edit_of_a_test_is_answered_from_before_it(
    workshop: Workshop,
) -> None:
    words = (*PYTEST[:3], *PYTEST[5:])
    workshop.write({**BYTE_CODE, "test_it.py": SUITE.format(10)})
    outcome_of(workshop, *words)  # makes the cache
    outcome_of(workshop, *words)
    workshop.write({"test_it.py": SUITE.format(9)})

    assert outcome_of(workshop, *words).exit_code == 0
    assert workshop.starts[-1].place.startswith("test_it.py::"), workshop.starts


@pytest.mark.long
def test_the_console_script_is_followed_as_the_module_is(workshop: Workshop) -> None:
    workshop.python = str(Path(workshop.python).with_name("pytest"))
    words = PYTEST[2:]
    workshop.write({**BYTE_CODE, "test_it.py": SUITE.format(10)})
    workshop.run(*words)
    workshop.write({"test_it.py": SUITE.format(5)})

    assert workshop.run(*words).exit_code == 1
    assert workshop.starts[-1].place.startswith("test_it.py::")


@pytest.mark.long
def test_a_module_that_tests_use_is_followed(workshop: Workshop) -> None:
    place = edited(
        workshop,
        {"test_it.py": "import lib\n" + SLOW + "def test_it():\n    x = lib.f()\n    assert x == 1\n", "lib.py": "def f(): return 1\n"},
        {"lib.py": "def f():\n    return 2\n"},
    )  # fmt: skip

    assert place.startswith("test_it.py::test_it"), workshop.starts


@pytest.mark.long
def test_a_setting_of_pytest_that_changes_counts(workshop: Workshop) -> None:
    place = edited(
        workshop,
        {"test_it.py": SUITE.format(10), "pytest.ini": "[pytest]\n"},
        {"pytest.ini": "[pytest]\naddopts = -rA\n"},
    )

    # pytest reads it first; where its start takes long there may be a copy from before that.
    assert not place or place.endswith("pytest.ini")


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        ("-s",),
        pytest.param(("--capture=sys",), marks=pytest.mark.long),
        pytest.param(("-x", "--tb=short"), marks=pytest.mark.long),
        ("-vv", "-qq", "-rA"),
    ],
)
def test_options_of_pytest_give_what_they_give(
    workshop: Workshop, options: tuple[str, ...]
) -> None:
    words = (*PYTEST, *options)
    workshop.write({**BYTE_CODE, "test_it.py": SUITE.format(10)})
    workshop.run(*words)
    workshop.write({"test_it.py": SUITE.format(4)})
    workshop.run(*words)

    assert workshop.starts[-1].place, workshop.starts
