"""A shell completes whet's own words, and leaves the names of files to itself."""

import os
import subprocess
import sys

import pytest
from whet_command import Whet

# Bash's own way to have a function complete a line; what it would complete itself is `default`.
SCRIPT = """\
whet() { "$PYTHON" -m whet "$@"; }
env() { command env "${@:1:3}" "$PYTHON" -m whet; }
eval "$(whet completion bash)"
compopt() { COMPREPLY+=("$2"); }
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_whet_completion whet
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(whet: Whet, *words: str) -> list[str]:
    done = subprocess.run(
        ["bash", "-c", SCRIPT, "bash", "whet", *words],
        cwd=whet.folder, env={**os.environ, **whet.environment, "PYTHON": sys.executable},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "among"),
    [
        (("inv",), "investigate"),
        (("run", "--loc"), "--locals"),
        (("run", "--", "tru"), "true"),
        (("run", "--", "cat", "da"), "default"),
        (("run", "--", "cat", "-d"), "default"),
        (("shrink", "da"), "default"),
        (("shrink", "a", "--", "cat", "da"), "default"),
        (("run", "--cwd", "s"), "dirnames"),
        (("run", "--stdin", "s"), "default"),
        (("show", "ba"), "base"),
        (("run", "--like", "1"), "1"),
        (("investigate", "--good", "v"), "v1"),
    ],
)
def test_bash_completes(words: tuple[str, ...], among: str, whet: Whet) -> None:
    whet.git("init", "-q")
    whet.git("commit", "-q", "--allow-empty", "-m", "one")
    whet.git("tag", "v1")
    whet("run", "--name", "base", "--", "true")

    assert among in completed(whet, *words)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_function(shell: str, whet: Whet) -> None:
    said = whet("completion", shell)

    assert said.code == 0
    assert f"_WHET_COMPLETE={shell}_complete" in said.stdout
