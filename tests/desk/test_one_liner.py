import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.limits import Limits
from whet.core.trial import PayloadBinding, ResetStep, Trial
from whet.desk.one_liner import PlacedFile, as_line, ask_for, commands, quote_word, write_file
from whet.host.trial.trial_secrets import for_shell

SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
PRINT_ARGUMENTS = (
    "import os, sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))"
)
words = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=12)


def one_liner(trial: Trial, files: Mapping[str, PlacedFile]) -> str:
    variables, secrets = for_shell(trial)
    return as_line([*map(ask_for, secrets), *commands(variables, files, secrets=secrets)])


def run_line(line: str, shell: str = "sh") -> bytes:
    return subprocess.run([shell, "-c", line], capture_output=True, check=True).stdout


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=40, deadline=None)
@given(arguments=st.lists(words, min_size=1, max_size=4))
def test_the_pasted_line_gives_the_program_exactly_the_trials_arguments(
    shell: str, arguments: list[str]
) -> None:
    trial = Trial(command=(sys.executable, "-S", "-c", PRINT_ARGUMENTS, *arguments), cwd="/")

    line = one_liner(trial, {})

    assert run_line(line, shell) == b"\0".join(argument.encode() for argument in arguments)
    assert "\n" not in line


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=40, deadline=None)
@given(content=st.binary(max_size=60))
def test_a_written_file_is_the_same_byte_for_byte(
    shell: str, content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("written") / "it's.bin"

    run_line(write_file(str(path), content), shell)

    assert path.read_bytes() == content


def test_payload_environment_reset_and_stdin_stand_in_the_line(tmp_path: Path) -> None:
    trial = Trial(
        command=("sh", "-c", 'cat "$1"; echo "$A $B"; cat', "_", "--in={}"),
        cwd=str(tmp_path),
        environment={"A": "one two", "B.C": "3"},
        stdin="stdin-digest",
        reset=(ResetStep(command="touch made"), ResetStep(command="false", must_succeed=False)),
        payloads=(PayloadBinding(argument=4, text="--in={}", name="p.txt", digest="d"),),
        limits=Limits(wall_seconds=20),
    )
    files = {
        "d": PlacedFile(path="p.txt", content=b"100%\n"),
        "stdin-digest": PlacedFile(path="/dev/null"),
    }

    assert run_line(one_liner(trial, files)) == b"100%\none two \n"
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_variables_that_are_not_inherited_are_unset(shell: str) -> None:
    code = "import os; print('HOME' in os.environ, 'a b' in os.environ, os.environ['X'])"
    trial = Trial(
        command=(sys.executable, "-c", code), cwd="/", environment={"X": "it's"},
        unset=("HOME", "a b"),
    )  # fmt: skip

    assert run_line(one_liner(trial, {}), shell) == b"False False it's\n"


def test_a_reset_step_that_must_succeed_stops_the_line(tmp_path: Path) -> None:
    trial = Trial(
        command=("echo", "ran"),
        cwd=str(tmp_path),
        reset=(ResetStep(command="exit 3 # of its own shell"),),
    )

    done = subprocess.run(["sh", "-c", one_liner(trial, {})], capture_output=True, check=False)

    assert (done.returncode, done.stdout) == (3, b"")


def test_plain_words_stay_readable() -> None:
    assert quote_word("train.py") == "train.py"
    assert quote_word("a b") == "'a b'"


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=30, deadline=None)
@given(
    secret=st.text(
        st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]),
        min_size=8,
        max_size=20,
    ).filter(lambda text: not text.startswith("-")),
    around=words,
)
def test_no_line_holds_a_secret_and_with_its_variables_set_it_runs_as_the_trial_did(
    shell: str, secret: str, around: str
) -> None:
    program = (
        "import os, sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode,"
        " [*sys.argv[1:], os.environ['DB_PASSWORD'], open('in.txt', newline='').read()])))"
    )
    arguments = ["--api-key", secret, f"--token={secret}{secret}", around]
    trial = Trial(
        command=(sys.executable, "-S", "-c", program, *arguments),
        cwd="/",
        environment={"DB_PASSWORD": f"{secret}!"},
        payloads=(PayloadBinding(argument=None, text="", name="in.txt", digest="d"),),
    )
    content = f"a{around}{secret}b%d\\n{secret}".encode()
    values = {"API_KEY": secret, "TOKEN": secret * 2, "DB_PASSWORD": f"{secret}!"}
    with tempfile.TemporaryDirectory() as folder:
        trial = replace(trial, cwd=folder)
        line = one_liner(trial, {"d": PlacedFile(path="in.txt", content=content)})
        done = subprocess.run(
            [shell, "-c", line], env={**os.environ, **values}, capture_output=True, check=True
        )
        bare = subprocess.run([shell, "-c", line], capture_output=True, check=False, env={})

    if secret not in f"{sys.executable}{program}{around}":
        assert secret not in line
    expected = [*arguments, f"{secret}!", content.decode()]
    assert done.stdout == b"\0".join(each.encode() for each in expected)
    assert bare.returncode != 0
    assert b"set API_KEY first" in bare.stderr
