"""What `import whet` gives, and what it does not cost."""

import json
import subprocess
import sys

import pytest

import whet

HEAVY = ["asyncio", "click", "inspect", "jinja2", "logging", "rich", "shutil", "sqlite3",
         "subprocess", "tempfile", "typing"]  # fmt: skip


@pytest.mark.parametrize("name", whet.__all__)
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    value = getattr(whet, name)

    assert name == "__version__" or name in {"Event", "Observer"} or value.__doc__


def test_public_names_are_the_ones_in_all() -> None:
    for name in whet.__all__:
        getattr(whet, name)  # loaded when first asked for
    public = {name for name in vars(whet) if not name.startswith("_") and name != "TYPE_CHECKING"}
    submodules = {name for name in public if f"whet.{name}" in sys.modules}

    assert {*whet.__all__} - {"__version__"} == public - submodules


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        vars(whet)["__getattr__"]("no_such_name")


def test_dir_lists_what_is_not_loaded_yet() -> None:
    listed = _in_a_fresh_python("import whet, json; print(json.dumps(dir(whet)))")

    assert {*whet.__all__} <= {*listed}


def test_import_whet_loads_nothing_heavy() -> None:
    loaded = _in_a_fresh_python(
        "import sys; before = {*sys.modules}; import whet, json;"
        "print(json.dumps(sorted({*sys.modules} - before)))"
    )

    assert [name for name in loaded if name.split(".")[0] in HEAVY] == []
    assert [name for name in loaded if name.startswith("whet.")] == []


def _in_a_fresh_python(code: str) -> list[str]:
    answer = subprocess.run(
        [sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True
    )
    names: list[str] = json.loads(answer.stdout)
    return names
