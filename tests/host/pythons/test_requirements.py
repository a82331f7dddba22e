"""Which requirements of installed packages aren't met, whatever their metadata say."""

from pathlib import Path

from whet.host.python.python_interpreter import PythonFacts
from whet.host.python.requirements import unmet_requirements

PYTHON = PythonFacts(path="/usr/bin/python3", version="3.11.7", implementation="cpython")


def unmet(folder: Path, *lines: str) -> list[str]:
    own = folder / "own-1.0.dist-info"
    own.mkdir()
    required = "".join(f"Requires-Dist: {line}\n" for line in lines)
    (own / "METADATA").write_text(f"Metadata-Version: 2.1\nName: own\nVersion: 1.0\n{required}")
    return unmet_requirements(folder, {"there": "2.0"}, PYTHON)


def test_what_is_not_there_or_of_another_version_is_named(tmp_path: Path) -> None:
    lines = ("missing", "there>=1", "there<2", "elsewhere; python_version < '3'")

    assert unmet(tmp_path, *lines) == ["missing", "there<2"]


def test_metadata_that_no_installer_takes_are_passed_over(tmp_path: Path) -> None:
    """The marker of a thousand brackets was found by a fuzzer."""
    lines = (f"deep; {'(' * 2000}python_version > '3'{')' * 2000}", "a b c", "missing")

    assert unmet(tmp_path, *lines) == ["missing"]
