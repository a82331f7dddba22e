"""What the system refuses whet is said to be the system's, and no fault of whet's."""

import ctypes
import os
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from whet.core.errors import HostFailure
from whet.host.files.refused import refused
from whet.host.process.git import GitFailedError, Repository, failure_of_git


def test_a_disk_that_fails_is_named() -> None:
    with (
        Path("/proc/self/mem").open("rb") as memory,
        pytest.raises(OSError, match="Input") as failing,
    ):
        os.pread(memory.fileno(), 1, 0)  # nothing is there: the kernel says EIO

    told = refused(failing.value)

    assert isinstance(told, HostFailure)
    assert "a disk or network share failed: Input/output error" in str(told)


def test_a_library_that_python_cannot_open_is_named(tmp_path: Path) -> None:
    library = tmp_path / "gone.so"
    loader = ExtensionFileLoader("gone", str(library))
    spec = spec_from_file_location("gone", library, loader=loader)
    assert spec is not None
    with pytest.raises(ImportError) as failing:
        module_from_spec(spec)

    told = refused(failing.value)

    assert isinstance(told, HostFailure)
    assert f"Python can't load `{library}`: No such file or directory" in str(told)


def test_a_failure_of_the_interpreter_is_no_fault_of_whets() -> None:
    with pytest.raises(SystemError) as failing:
        ctypes.pythonapi.PyErr_BadInternalCall()

    assert "Python itself failed" in str(refused(failing.value))


def test_what_is_gone_from_whets_own_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    own, other = tmp_path / "whet" / "projects" / "p", tmp_path / "p"
    with pytest.raises(FileNotFoundError) as missing:
        own.stat()
    with pytest.raises(FileNotFoundError) as elsewhere:
        other.stat()

    told = refused(missing.value)

    assert isinstance(told, HostFailure)
    assert f"whet's own file `{own}` is gone" in str(told)
    assert refused(elsewhere.value) is None


def test_a_refusal_of_gits_that_nobody_expected_is_told_in_its_words(tmp_path: Path) -> None:
    with pytest.raises(GitFailedError) as failing:
        Repository(tmp_path).get("rev-list", "HEAD")

    told = failure_of_git(failing.value)

    assert told is not None
    assert "git failed" in str(told)
    assert "not a git repository" in str(told)
    assert failure_of_git(ValueError()) is None


def test_a_git_whose_answer_does_not_arrive_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = tmp_path / "git"
    silent.write_text("#!/bin/sh\n")  # git ends with 0, too, when it cannot write into a pipe
    silent.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    with pytest.raises(GitFailedError) as failing:
        Repository.containing(tmp_path)

    assert "git rev-parse: no answer" in str(failure_of_git(failing.value))


@pytest.mark.parametrize(
    "words",
    [
        "out of memory",  # the loader had no memory for its own words
        "_x.so: failed to map segment from shared object",
        "_x.so: cannot allocate memory in static TLS block",
    ],
)
def test_a_library_that_finds_no_memory_is_no_fault_of_whets(words: str) -> None:
    told = refused(ImportError(words))

    assert isinstance(told, HostFailure)
    assert "whet has run out of memory" in str(told)
