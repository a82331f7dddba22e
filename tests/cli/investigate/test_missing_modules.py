"""A module that an import doesn't find: `whet investigate` says who has it, and what passes with it."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

USES = "import soup\n\nprint(soup.spoon())\n"
SOUP = "def spoon():\n    return 1\n"


def make_environment(folder: Path) -> Path:
    """Make an environment without packages; return its folder for them."""
    python = Path(sys.executable).resolve()
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(python)
    (folder / "bin" / "activate").write_text("# activates it\n")
    version = ".".join(map(str, sys.version_info[:2]))
    (folder / "pyvenv.cfg").write_text(
        f"home = {python.parent}\nversion = {sys.version.split()[0]}\n"
    )
    packages = folder / "lib" / f"python{version}" / "site-packages"
    packages.mkdir(parents=True)
    return packages


@pytest.fixture(name="project")
def a_project(whet: Whet, tmp_path: Path) -> Whet:
    """Return a folder in which `python` is one without packages, and no other has the module."""
    make_environment(tmp_path / "plain")
    whet.environment.update(
        {
            "PATH": f"{tmp_path / 'plain' / 'bin'}:{os.environ['PATH']}",
            "VIRTUAL_ENV": "",
        }
    )
    whet.write("main.py", USES)
    return whet


def investigated(project: Whet, *command: str) -> str:
    """Return what an investigation says, on one line."""
    return " ".join(project("investigate", "--", *command).stdout.split())


def test_an_environment_of_the_project_that_has_the_module_is_named_with_the_command_that_passes(
    project: Whet,
) -> None:
    (make_environment(project.folder / ".venv") / "soup.py").write_text(SOUP)

    said = investigated(project, "python", "main.py")

    assert "; .venv/bin/python has it, and on that the command passes" in said
    assert "shown: the failure came and went with it" in said
    assert "Run `.venv/bin/python main.py`." in said


@pytest.mark.long
def test_behind_a_script_the_environment_is_to_be_activated(project: Whet) -> None:
    (make_environment(project.folder / ".venv") / "soup.py").write_text(SOUP)
    project.write("run.sh", "exec python main.py\n")

    said = investigated(project, "sh", "run.sh")

    assert "; .venv/bin/python has it, and on that the command passes" in said
    assert "Activate that environment first: `. .venv/bin/activate`." in said


@pytest.mark.long
def test_with_an_environment_in_which_the_command_fails_otherwise_that_failure_is_told(
    project: Whet,
) -> None:
    (make_environment(project.folder / ".venv") / "soup.py").write_text("")

    said = investigated(project, "python", "main.py")

    assert "on that the command fails in another way: AttributeError: module 'soup'" in said
    assert "the command passes" not in said


@pytest.mark.long
def test_an_environment_that_lacks_the_module_too_is_not_named(project: Whet) -> None:
    make_environment(project.folder / ".venv")

    said = investigated(project, "python", "main.py")

    assert ".venv/bin/python" not in said
    assert "no other Python here that answered whet has it" in said
    assert "next: Install the package that brings it" in said
    assert "Cause not found" in said


@pytest.mark.parametrize("has_repository", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_python_above_the_project_is_not_started(project: Whet, *, has_repository: bool) -> None:
    inside = replace(project, folder=project.folder / "inside")
    inside.write("main.py", USES)
    if has_repository:
        subprocess.run(["git", "init", "-q"], cwd=inside.folder, check=True)
    make_environment(project.folder / "planted")
    python = project.folder / "planted" / "bin" / "python"
    python.unlink()
    python.write_text(f"#!/bin/sh\necho started >> {project.folder}/started\n")
    python.chmod(0o755)

    investigated(inside, "python", "main.py")

    assert not (project.folder / "started").exists()


def test_a_folder_of_the_project_that_has_the_module_is_named_with_the_path_that_finds_it(
    project: Whet,
) -> None:
    project.write("src/soup/__init__.py", SOUP)

    said = investigated(project, "python", "main.py")

    assert "`soup` is at src/soup, and src isn't a folder that Python searches" in said
    assert "with `PYTHONPATH=src` the command passes" in said
    assert "shown: the failure came and went with it" in said


@pytest.mark.long
def test_a_script_in_a_folder_finds_what_stands_above_it(project: Whet) -> None:
    project.write("soup.py", SOUP)
    project.write("tools/run.py", USES)

    assert "with `PYTHONPATH=.` the command passes" in investigated(
        project, "python", "tools/run.py"
    )


@pytest.mark.long
def test_a_list_of_requirements_that_names_the_module_is_told_with_the_installation(
    project: Whet,
) -> None:
    project.write("requirements.txt", "spoon==1\nsoup>=2  # hot\n")

    said = investigated(project, "python", "main.py")

    assert "requirements.txt:2 asks for it" in said
    assert "-m pip install -r requirements.txt`" in said


@pytest.mark.long
def test_a_module_of_the_project_of_nearly_the_same_name_is_told(project: Whet) -> None:
    project.write("sooup.py", SOUP)

    said = investigated(project, "python", "main.py")

    assert "nothing here is called `soup`; `sooup` is there" in said


@pytest.mark.long
def test_a_module_that_is_run_and_not_installed_is_told(project: Whet) -> None:
    (make_environment(project.folder / ".venv") / "soup.py").write_text("")

    said = investigated(project, "python", "-m", "soup")

    assert "; .venv/bin/python has it, and on that the command passes" in said


OLDER = Path.home() / ".pyenv/versions/3.9.18/bin/python3.9"


@pytest.mark.skipif(not OLDER.is_file(), reason="there is no Python 3.9")
@pytest.mark.long
def test_a_module_of_a_later_standard_library_is_told_with_both_versions(project: Whet) -> None:
    project.write("main.py", "import tomllib\n")

    said = investigated(project, str(OLDER), "main.py")

    assert "`tomllib` belongs to the standard library of Python 3." in said
    assert "which runs this, is Python 3.9.18 and hasn't got it; " in said
    assert " has it, and on that the command passes" in said


@pytest.mark.long
def test_a_name_that_is_no_package_is_no_missing_module(project: Whet) -> None:
    project.write("soup.py", SOUP)
    project.write("main.py", "import soup.bowl\n")

    assert "isn't installed for" not in investigated(project, "python", "main.py")


def test_an_import_that_the_program_expects_to_fail_is_not_looked_for(project: Whet) -> None:
    project.write(
        "main.py",
        "try:\n    import soup\nexcept ImportError:\n    soup = None\nprint(soup.spoon())\n",
    )

    assert "isn't installed for" not in investigated(project, "python", "main.py")


@pytest.mark.long
def test_a_copy_that_was_built_is_not_named(project: Whet) -> None:
    project.write("build/lib/soup.py", SOUP)
    project.write("source/soup.py", SOUP)

    said = investigated(project, "python", "main.py")

    assert "with `PYTHONPATH=source` the command passes" in said


@pytest.mark.long
def test_of_two_pythons_of_a_command_the_one_that_lacks_the_module_is_named(project: Whet) -> None:
    packages = make_environment(project.folder / ".venv")
    (packages / "soup.py").write_text(SOUP)
    project.write(
        "run.py", "import subprocess, sys\nsys.exit(subprocess.call(['python', 'main.py']))\n"
    )

    said = investigated(project, ".venv/bin/python", "run.py")

    assert "plain/bin/python, which runs this; .venv/bin/python has it" in said
    assert "the command passes" not in said
