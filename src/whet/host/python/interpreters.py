"""Which Python a command runs on, without running the command."""

import os
import re
import shlex
from collections.abc import Mapping

from whet.core.value_class import value_class

_PYTHON = re.compile(r"(?:python|pypy)(?:\d(?:\.\d+)?t?)?")
_PROJECT_RUNNERS = frozenset({"hatch", "pdm", "pipenv", "poetry", "rye", "uv"})

# pip writes this when the path of the interpreter is too long for the kernel's first line.
_TRAMPOLINE = re.compile(rb"""^'''exec' "?([^"\n]+?)"? "\$0" "\$@"$""", re.MULTILINE)

_HEAD_BYTES = 1024
_MAX_STEPS = 8  # a script whose interpreter is a script, and so on; the kernel allows 4


@value_class(kw_only=True, eq=False)
class Search:
    """Where a command's program is looked for.

    Attributes:
        cwd: folder that the command starts in.
        environment: its whole environment.
    """

    cwd: str
    environment: Mapping[str, str]

    def python_of(self, command: tuple[str, ...]) -> str:
        """Return the path of the Python that ``command`` runs on; empty if none is known."""
        for _ in range(_MAX_STEPS):
            command = _inner(command)
            if not command:
                return ""
            name = os.path.basename(command[0])
            if name in _PROJECT_RUNNERS and command[1:2] == ("run",):
                return self._python_of_project()
            path = self._which(command[0])
            if not path:
                return ""
            shebang = _shebang(path)
            if shebang and os.path.basename(os.path.dirname(path)) == "shims":
                path = self._behind_shim(path)
                shebang = _shebang(path) if path else ()
            if is_python(name) and not shebang:
                return path
            command = shebang
        return ""

    def script_of(self, program: str) -> str:
        """Return the path of a program that is a script; empty if it isn't one."""
        path = self._which(program)
        return path if path and _shebang(path) else ""

    def starts_python(self, command: tuple[str, ...]) -> bool:
        """Whether the very process that ``command`` starts is a Python and was nothing before.

        A shell that runs a Python is none, not even if it becomes it: it may have done something
        by then.
        """
        for _ in range(_MAX_STEPS):
            while command and os.path.basename(command[0]) == "env":
                command = _after_env(command[1:])
            path = self._which(command[0]) if command else ""
            if not path:
                return False
            shebang = _shebang(path)
            if not shebang:
                return is_python(command[0])
            command = shebang
        return False

    def _which(self, program: str) -> str:
        if "/" in program:
            path = os.path.normpath(os.path.join(self.cwd, program))
            return path if os.access(path, os.X_OK) and os.path.isfile(path) else ""
        for folder in self._folders():
            path = os.path.join(self.cwd, folder, program)
            if os.access(path, os.X_OK) and os.path.isfile(path):
                return path
        return ""

    def _folders(self) -> list[str]:
        return self.environment.get("PATH", os.defpath).split(os.pathsep)

    def _python_of_project(self) -> str:
        folder = self.cwd
        while True:
            path = os.path.join(folder, ".venv", "bin", "python")
            if os.path.isfile(path):
                return path
            above = os.path.dirname(folder)
            if above == folder:
                return ""
            folder = above

    def _behind_shim(self, shim: str) -> str:
        shims, program = os.path.split(shim)
        default = os.path.join(self.environment.get("HOME", ""), ".pyenv")
        root = self.environment.get("PYENV_ROOT") or default
        for version in self._pyenv_versions(root):
            for candidate in _versions_named(os.path.join(root, "versions"), version):
                path = os.path.join(root, "versions", candidate, "bin", program)
                if os.path.isfile(path):
                    return path
        for folder in self._folders():  # version `system`
            path = os.path.join(folder, program)
            if os.path.isfile(path) and not os.path.samefile(folder, shims):
                return path
        return ""

    def _pyenv_versions(self, root: str) -> list[str]:
        if choice := self.environment.get("PYENV_VERSION"):
            return choice.split(":")
        folder = self.environment.get("PYENV_DIR") or self.cwd
        while True:
            if versions := _words(os.path.join(folder, ".python-version")):
                return versions
            above = os.path.dirname(folder)
            if above == folder:
                return _words(os.path.join(root, "version"))
            folder = above


def is_python(program: str) -> bool:
    """Whether the last part of a path is the name of a Python."""
    return _PYTHON.fullmatch(os.path.basename(program)) is not None


def _inner(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that a wrapper such as `env` or `timeout` starts."""
    while command:
        name, rest = os.path.basename(command[0]), command[1:]
        if name == "env":
            command = _after_env(rest)
        elif name in {"exec", "nohup", "setsid", "time"}:
            command = _without_options(rest, valued=())
        elif name == "nice":
            command = _without_options(rest, valued=("-n",))
        elif name == "timeout":
            command = _without_options(rest, valued=("-k", "-s"))[1:]
        elif name == "stdbuf":
            command = _without_options(rest, valued=("-i", "-o", "-e"))
        else:
            return command
    return ()


def _after_env(words: tuple[str, ...]) -> tuple[str, ...]:
    if words and words[0].startswith("-S"):
        together = " ".join((words[0][2:], *words[1:2])) if words[0] == "-S" else words[0][2:]
        rest = words[2:] if words[0] == "-S" else words[1:]
        try:
            words = (*shlex.split(together), *rest)
        except ValueError:
            return ()  # a quote without its end: env refuses it too
    words = _without_options(words, valued=("-u", "-C"))
    while words and "=" in words[0]:
        words = words[1:]
    return words


def _without_options(words: tuple[str, ...], *, valued: tuple[str, ...]) -> tuple[str, ...]:
    while words and words[0].startswith("-"):
        if words[0] == "--":
            return words[1:]
        words = words[2:] if words[0] in valued else words[1:]
    return words


def _shebang(path: str) -> tuple[str, ...]:
    """Return the words of a script's first line; empty for a program."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return ()
    if not head.startswith(b"#!"):
        return ()
    trampoline = _TRAMPOLINE.search(head)
    if trampoline:
        return (os.fsdecode(trampoline.group(1)),)
    # The kernel passes all after the first word as one argument.
    first = os.fsdecode(head[2:].partition(b"\n")[0]).strip().split(None, 1)
    return (first[0], *first[1:]) if first and first[0] else ()


def _versions_named(folder: str, name: str) -> list[str]:
    """Return the installed versions that pyenv takes ``name`` for, the best first."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    if name in names:
        return [name]
    same_line = [each for each in names if each.startswith(f"{name}.")]
    return sorted(same_line, key=lambda each: [int(part) for part in re.findall(r"\d+", each)])[-1:]


def _words(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().split()
    except OSError:
        return []
