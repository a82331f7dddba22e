import sys
from pathlib import Path

import pytest

from whet.core.errors import CommandNotFound, HostFailure
from whet.host.python.interpreters import is_python
from whet.host.python.python_interpreter import PythonFacts, python_for


def script(path: Path, first_line: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{first_line}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    for name in ("python3", "python3.12", "sh"):
        script(folder / name, "\x7fELF")
    return folder


def test_a_python_tells_what_it_is() -> None:
    facts = PythonFacts.ask(sys.executable)

    assert facts.version == ".".join(map(str, sys.version_info[:3]))
    assert facts.implementation == sys.implementation.name
    assert Path(facts.path).samefile(sys.executable)


def test_what_is_no_python_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandNotFound, match="/no/such/python"):
        PythonFacts.ask("/no/such/python")
    with pytest.raises(CommandNotFound, match=str(tmp_path)):
        PythonFacts.ask(str(tmp_path))
    with pytest.raises(HostFailure, match="doesn't answer like a Python"):
        PythonFacts.ask("true")


@pytest.mark.parametrize("word", ["python", "python3", "python3.13", "python3.13t", "/a/b/pypy3"])
def test_names_of_pythons_are_known(word: str) -> None:
    assert is_python(word)


@pytest.mark.parametrize("word", ["pythonista", "ipython", "python-config", "", "python3.x"])
def test_names_that_only_look_like_it_are_not(word: str) -> None:
    assert not is_python(word)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["python3.12", "x.py"], "bin/python3.12"),
        (["bin/python3", "x.py"], "bin/python3"),
        (["./tool", "x"], "bin/python3.12"),
        (["./direct"], "bin/python3"),
        (["./shell"], "bin/python3"),
        (["./missing"], "bin/python3"),
        (["sh", "-c", "python x.py"], "bin/python3"),
        (["no-such-program"], "bin/python3"),
        ([], "bin/python3"),
    ],
)
def test_the_python_of_a_command_is_its_first_word_or_that_of_its_first_line(
    programs: Path, tmp_path: Path, command: list[str], expected: str
) -> None:
    script(tmp_path / "tool", "#!/usr/bin/env python3.12")
    script(tmp_path / "direct", f"#!{programs}/python3 -E")
    script(tmp_path / "shell", "#!/bin/sh")

    found = python_for(command, {"PATH": str(programs)}, tmp_path)

    assert Path(found) == tmp_path / expected


def test_a_file_that_is_no_script_says_nothing(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"\x7fELF")

    assert python_for(["./data"], {"PATH": str(programs)}, tmp_path) == str(programs / "python3")


def test_without_any_python_on_the_path_it_is_whets_own(tmp_path: Path) -> None:
    assert python_for(["x"], {"PATH": str(tmp_path)}, tmp_path) == sys.executable
