"""What cannot be started is an error that names the value and the next step."""

import os
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from laboratory import Laboratory

from whet.core.errors import (
    BadCondition,
    BadUsage,
    CommandNotExecutable,
    CommandNotFound,
    EmptyCommand,
    FolderNotFound,
    HostFailure,
    WhetError,
)
from whet.core.trial import Trial


def _error(laboratory: Laboratory, trial: Trial) -> WhetError:
    with laboratory.make() as executor:
        error = executor.submit(trial).exception(30)
    assert isinstance(error, WhetError)
    assert error.hint
    return error


def _script(laboratory: Laboratory, text: str, mode: int = 0o755) -> str:
    path = laboratory.work / "own-script"
    path.write_text(text)
    path.chmod(mode)
    return "./own-script"


@pytest.mark.parametrize("command", [(), ("",), ("", "x")])
def test_an_empty_command(laboratory: Laboratory, command: tuple[str, ...]) -> None:
    assert isinstance(_error(laboratory, laboratory.trial(*command)), EmptyCommand)


@pytest.mark.parametrize("name", ["no-such-program", "./no-such-program", "/no/such/program"])
def test_a_command_that_does_not_exist(laboratory: Laboratory, name: str) -> None:
    error = _error(laboratory, laboratory.trial(name))

    assert isinstance(error, CommandNotFound)
    assert f"`{name}`" in str(error)


def test_a_command_that_stands_in_the_folder_but_not_on_the_path(laboratory: Laboratory) -> None:
    _script(laboratory, "#!/bin/sh\n")

    assert "`./own-script`" in _error(laboratory, laboratory.trial("own-script")).hint


def test_a_command_without_the_right_to_run(laboratory: Laboratory) -> None:
    error = _error(laboratory, laboratory.trial(_script(laboratory, "#!/bin/sh\n", mode=0o644)))

    assert isinstance(error, CommandNotExecutable)
    assert "chmod +x" in error.hint


def test_a_command_that_is_a_folder(laboratory: Laboratory) -> None:
    error = _error(laboratory, laboratory.trial(str(laboratory.work)))

    assert isinstance(error, CommandNotExecutable)
    assert "folder" in str(error)


def test_a_command_without_a_first_line(laboratory: Laboratory) -> None:
    error = _error(laboratory, laboratory.trial(_script(laboratory, "echo hi\n")))

    assert isinstance(error, CommandNotExecutable)
    assert "#!" in error.hint


@pytest.mark.parametrize(
    ("first", "hint"),
    [("#!/no/such/interpreter -x", "install it"), ("#!/bin/sh\r", "carriage return")],
)
def test_a_command_whose_first_line_names_nothing(
    laboratory: Laboratory, first: str, hint: str
) -> None:
    error = _error(laboratory, laboratory.trial(_script(laboratory, f"{first}\n")))

    assert isinstance(error, CommandNotFound)
    assert first[2:].strip() in str(error)
    assert hint in error.hint


def test_a_script_of_that_kind_found_on_the_path(laboratory: Laboratory) -> None:
    _script(laboratory, "#!/no/such/interpreter\n")
    trial = replace(laboratory.trial("own-script"), environment={"PATH": str(laboratory.work)})

    assert "/no/such/interpreter" in str(_error(laboratory, trial))


@pytest.mark.parametrize("make", [Path.touch, None], ids=["a file", "nothing"])
def test_a_folder_to_start_in_that_is_none(
    laboratory: Laboratory, make: Callable[[Path], None] | None
) -> None:
    cwd = laboratory.work / "there"
    if make is not None:
        make(cwd)

    error = _error(laboratory, replace(laboratory.trial("true"), cwd=str(cwd)))

    assert isinstance(error, FolderNotFound)
    assert str(cwd) in str(error)


def test_words_that_no_program_can_be_given(laboratory: Laboratory) -> None:
    for word in ("a\0b", "\ud800"):
        assert isinstance(_error(laboratory, laboratory.trial("echo", word)), BadUsage)
    trial = replace(laboratory.trial("true"), environment={"A=B": "c"})
    assert isinstance(_error(laboratory, trial), BadUsage)


def test_arguments_that_are_too_long(laboratory: Laboratory) -> None:
    error = _error(laboratory, laboratory.trial("true", "x" * (4 << 20)))

    assert isinstance(error, HostFailure)
    assert "too long" in str(error)


def test_a_measure_that_cannot_be_read(laboratory: Laboratory) -> None:
    trial = replace(laboratory.trial("true"), measures={"loss": "loss: ("})

    assert isinstance(_error(laboratory, trial), BadCondition)


def test_a_missing_command_after_reset_steps_is_still_an_error(laboratory: Laboratory) -> None:
    from whet.core.trial import ResetStep

    trial = replace(
        laboratory.trial("no-such-program"), reset=(ResetStep(command="touch was-reset"),)
    )

    assert isinstance(_error(laboratory, trial), CommandNotFound)
    assert (laboratory.work / "was-reset").exists()


def test_the_path_is_searched_as_a_shell_does(laboratory: Laboratory) -> None:
    _script(laboratory, "#!/bin/sh\necho found\n")
    (laboratory.work / "in-the-way" / "own-script").mkdir(parents=True)
    not_a_folder = laboratory.work / "file"
    not_a_folder.touch()
    path = os.pathsep.join([str(not_a_folder), "in-the-way", "", "/bin", "/usr/bin"])

    trial = replace(laboratory.trial("own-script"), environment={"PATH": path})
    assert laboratory.run(trial).stdout.head(10) == b"found\n"


def test_words_that_are_no_text_reach_the_program_as_they_are(laboratory: Laboratory) -> None:
    word = os.fsdecode(b"\xff\xfe")

    trial = replace(
        laboratory.trial("sh", "-c", 'printf "%s$W" "$1"', "sh", word), environment={"W": word}
    )
    assert laboratory.run(trial).stdout.head(10) == b"\xff\xfe" * 2


def test_without_descriptors_left_it_is_an_error_and_the_next_trial_runs(
    laboratory: Laboratory,
) -> None:
    trial = laboratory.trial("true")
    with laboratory.make() as executor:
        assert executor.submit(trial).result(30).exit_code == 0
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        lowest = os.dup(0)  # numbers above it may be taken all the same
        os.close(lowest)
        for spare in range(8):
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + spare, hard))
            try:
                error = executor.submit(trial).exception(30)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            assert error is None or isinstance(error, HostFailure)
            assert spare > 0 or error is not None
        assert executor.submit(trial).result(30).exit_code == 0
