"""A file that was loaded in the place of another is told, and no file that has a name in common."""

from pathlib import Path

import pytest

from whet.core.failure import Frame
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.variables.kept_failure import KeptError, KeptFailure, KeptFrame
from whet.workbench.inspect.wrong_files import wrong_file_clues


def clues_of(project: Path, loaded: str, other: str, *search: str) -> list[Clue]:
    """Return the clues where a module was loaded and the project has another of that name."""
    for number, name in enumerate((loaded, other)):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(f"x = {number}\n")
    path = project / loaded
    failure = KeptFailure(
        pid=1, rank=None, where="main", thread="",
        error=KeptError(type="ValueError", arguments=(), frames=()), sources={},
        modules={path.stem: str(path.resolve())},
        search=tuple(str(project / each) if each else "" for each in search),
    )  # fmt: skip
    return wrong_file_clues(failure, failure.error, project, Placing(str(project)))


def test_two_folders_may_each_have_a_module_of_one_name(tmp_path: Path) -> None:
    assert clues_of(tmp_path, "one/utils.py", "two/utils.py", "one", "lib") == []


def test_each_folder_of_tests_may_have_a_conftest(tmp_path: Path) -> None:
    assert clues_of(tmp_path, "tests/conftest.py", "conftest.py", "tests", "") == []


def test_a_module_that_hides_another_one_on_the_path_is_told(tmp_path: Path) -> None:
    (clue,) = clues_of(tmp_path, "old/utils.py", "utils.py", "old", "")
    assert clue.path == str(tmp_path / "old/utils.py")


def test_a_module_from_outside_of_the_project_is_told(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (clue,) = clues_of(project, "../elsewhere/utils.py", "src/utils.py", "../elsewhere")
    assert clue.path == str(tmp_path / "elsewhere/utils.py")


@pytest.mark.parametrize(("module", "count"), [("__main__", 0), ("queue", 1)])
def test_a_script_hides_nothing_by_its_name_until_it_is_imported(
    module: str, count: int, tmp_path: Path
) -> None:
    path = str(tmp_path / "queue.py")
    frame = KeptFrame(
        frame=Frame(path=path, line=2, function="f", in_user_code=True), name="f", module=module,
        first_line=1, position=None, variables=None,
    )  # fmt: skip
    failure = KeptFailure(
        pid=1, rank=None, where="main", thread="",
        error=KeptError(type="ValueError", arguments=(), frames=(frame,)), sources={},
        search=(str(tmp_path),),
    )  # fmt: skip
    clues = wrong_file_clues(failure, failure.error, tmp_path, Placing(str(tmp_path)))
    assert len(clues) == count


@pytest.mark.parametrize(
    ("kind", "message", "is_sure"),
    [
        ("ImportError", "cannot import name randbits", True),
        ("AttributeError", "'module' object has no attribute 'token_hex'", True),
        ("ImportError", "cannot import name token", False),
        ("ImportError", "cannot import name nothing_of_that_name", False),
        ("ValueError", "no such name randbits", False),
    ],
)
def test_a_file_that_lacks_what_python_s_own_module_defines_and_is_asked_for_hides_it(
    kind: str, message: str, *, is_sure: bool, tmp_path: Path
) -> None:
    (tmp_path / "secrets.py").write_text("def token():\n    return 1\n")
    failure = KeptFailure(
        pid=1, rank=None, where="main", thread="",
        error=KeptError(type=kind, arguments=(message,), frames=()), sources={},
        modules={"secrets": str(tmp_path / "secrets.py")}, search=(str(tmp_path),),
    )  # fmt: skip
    found = wrong_file_clues(failure, failure.error, tmp_path, Placing(str(tmp_path)))
    assert [each.sureness for each in found] == ([Sureness.SEEN] if is_sure else [])
