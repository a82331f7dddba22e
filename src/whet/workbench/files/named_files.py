"""Which of the files that a command names are data, so that an investigation may vary them."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from whet.core.trial import Trial

_INTERPRETER = re.compile(
    r"(?:python|pypy|node|perl|ruby|php|Rscript|julia|lua|sh|bash|dash|zsh|ksh)[\d.]*"
)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs"})
"""Python's options with a separate value."""

_RUN_TEXT = frozenset({"-c", "-e"})
_STARTERS = frozenset(
    {"env", "timeout", "nice", "ionice", "nohup", "time", "stdbuf", "unbuffer", "setsid", "taskset",
     "sudo", "xvfb-run", "uv", "poetry", "pdm", "pipenv", "hatch", "rye", "pixi", "conda", "coverage",
     "strace", "valgrind", "gdb", "torchrun", "accelerate", "deepspeed", "mpirun", "srun"}
)  # fmt: skip
"""Programs whose arguments hold a command."""

_SOURCES = frozenset({".py", ".pyw", ".sh", ".js", ".mjs", ".pl", ".rb", ".R", ".jl", ".lua"})


def payload_names(trial: Trial, stdin: str) -> list[str]:
    """Return the files that the command names, the largest first, less the program itself."""
    words, cwd = trial.command, Path(trial.cwd)
    first = first_argument(words, cwd)
    names = [word for word in words[first:] if _is_payload(cwd / word)]
    if any(Path(word).name in {"pytest", "py.test"} for word in words[:first]):
        # A test lives by its folder: `conftest.py`, the root, the modules that it tests.
        names = [name for name in names if not name.endswith(".py")]
    names += [stdin] if stdin else []
    return sorted(dict.fromkeys(names), key=lambda name: -(cwd / name).stat().st_size)


def first_argument(words: Sequence[str], cwd: Path) -> int:
    """Return the index of the first word behind the program.

    The program may stand behind words that start it: `env A=1`, `timeout 5`, `uv run`.
    """
    for index, word in enumerate(words):
        name = Path(word).name
        if _INTERPRETER.fullmatch(name):
            return _behind_script(words, index + 1, is_python=bool(_PYTHON.fullmatch(name)))
        if Path(words[0]).name not in _STARTERS:
            break
        is_program = Path(word).suffix in _SOURCES or os.access(cwd / word, os.X_OK)
        if index and is_program and _is_payload(cwd / word):
            return index + 1
    return 1


def _behind_script(words: Sequence[str], index: int, *, is_python: bool) -> int:
    """Return the index behind an interpreter's options and the program that it runs."""
    while index < len(words):
        word = words[index]
        if word in _RUN_TEXT or (is_python and word == "-m"):
            return index + 2
        if not word.startswith("-"):
            return index + 1
        index += 2 if is_python and word in _WITH_VALUE else 1
    return index


def _is_payload(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size > 0
    except (OSError, ValueError):  # a word that is too long for a path, or holds a NUL
        return False
