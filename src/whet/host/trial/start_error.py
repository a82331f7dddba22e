"""The error that says why a program couldn't start, and the next step."""

import errno
import os
import re
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING

from whet.core.errors import (
    BadUsage,
    CommandNotExecutable,
    CommandNotFound,
    EmptyCommand,
    FolderNotFound,
    HostFailure,
    LimitNotEnforced,
    StackForbidden,
    WhetError,
)
from whet.core.text.shell_words import joined

if TYPE_CHECKING:  # the spawner's side of it has no `typing` to make them with
    from whet.host.process.channel import Failed

_SHOWN_BYTES = 200
_SETS_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
_OF_SHELL = re.compile(r"[\s;|&<>$`*?()]")


def check_words(command: tuple[str, ...], environment: Mapping[str, str], cwd: str) -> None:
    """Check what no system could start.

    Raises:
        EmptyCommand: if there is no command, or its first word is empty.
        BadUsage: if a word holds a NUL or can't be encoded, or a variable's name an equals sign.
    """
    if not command or not command[0]:
        words = "``" if not command else f"`{command!r}`"
        raise EmptyCommand(
            f"{words} doesn't name a program", hint="write the command after `--`, word by word"
        )
    for word in (*command, cwd, *environment.keys(), *environment.values()):
        if "\0" in word or not _is_encodable(word):
            raise BadUsage(
                f"`{word[:_SHOWN_BYTES]!r}` holds a character that no argument or variable can hold",
                hint="put such data into a file, or pass it on standard input with `--stdin FILE`",
            )
    for name in environment:
        if not name or "=" in name:
            raise BadUsage(f"`{name}` isn't a valid variable name", hint="write `--env NAME=VALUE`")


def _is_encodable(word: str) -> bool:
    try:
        os.fsencode(word)
    except UnicodeEncodeError:
        return False
    return True


def start_error(failed: "Failed", command: tuple[str, ...], cwd: str) -> WhetError:
    """Return the error for a program that the spawner could not start."""
    stage, number, place = failed
    path = os.fsdecode(place)
    reason = os.strerror(number)
    if stage == "cwd":
        return FolderNotFound(
            f"whet can't start in `{path}`: {reason}", hint="name another folder with `--cwd`"
        )
    if stage == "limit":
        return _limit_error(path, number)
    if stage in {"room", "user room", "overlay", "follow"}:
        return _around_error(stage, command[0], path, number)
    if stage == "interpreter":
        return _interpreter_missing(path if os.path.isabs(path) else os.path.join(cwd, path), path)
    if stage == "exec" and number in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
        return CommandNotFound(
            f"`{command[0]}` is not a program: {reason}",
            hint=_where_to_look(command, cwd),
        )
    if stage == "exec" and number in {errno.EACCES, errno.ENOEXEC, errno.EPERM}:
        return _not_executable(path, os.path.join(cwd, path), number)
    if stage == "exec" and number == errno.E2BIG:
        return HostFailure(
            f"the arguments and environment of `{command[0]}` are too long for the system",
            hint="pass the data in a file; `getconf ARG_MAX` shows the limit",
        )
    return HostFailure(
        f"whet can't start `{command[0]}`: {reason}",
        hint="check the limits: `ulimit -u`, `ulimit -a`, `df -h`",
    )


def _around_error(stage: str, name: str, path: str, number: int) -> WhetError:
    if stage == "follow":
        return StackForbidden(
            f"whet can't follow the system calls of `{name}`: {os.strerror(number)} (ptrace)",
            hint="in a container: `--cap-add SYS_PTRACE`; does a debugger follow whet itself?",
        )
    from whet.host.limits.sandbox.room_error import room_error

    return room_error(stage, path, number)


def _limit_error(name: str, number: int) -> WhetError:
    hint = "`whet explain limit-not-enforced` lists what each way needs"
    if not number:
        return LimitNotEnforced(
            f"`--{name}` has no effect here: a probe exceeded it",
            hint=hint,
        )
    subject = f"`--{name}`" if name else "the limits"
    return LimitNotEnforced(f"whet can't apply {subject}: {os.strerror(number)}", hint=hint)


def _where_to_look(command: tuple[str, ...], cwd: str) -> str:
    name, *words = command
    if _SETS_VARIABLE.match(name) and words:
        return (
            f"set the variable with `env`: `-- {joined(('env', *command))}`, or by `--env {name}`"
        )
    if _OF_SHELL.search(name):
        script = name if not words else " ".join(command)
        return f"give it to a shell: `-- {joined(('sh', '-c', script))}`"
    if "/" in name:
        return f"check the path; it is relative to `{cwd}`"
    if os.path.isfile(os.path.join(cwd, name)):
        return f"the current folder is not on `PATH`: write `./{name}`"
    return "check the spelling and `PATH`; is its virtual environment active?"


def _not_executable(shown: str, path: str, number: int) -> WhetError:
    if os.path.isdir(path):
        return CommandNotExecutable(
            f"`{shown}` is a folder", hint="name a program; for a Python package: `python -m NAME`"
        )
    if number == errno.ENOEXEC:
        return CommandNotExecutable(
            f"this system can't run `{shown}`",
            hint=f"a script needs a first line such as `#!/bin/sh`; or write `sh {shown}`",
        )
    try:
        may_run = bool(os.stat(path).st_mode & stat.S_IXUSR)
    except OSError:
        may_run = False
    hint = (
        "a parent folder or its mount forbids it: `namei -l`" if may_run else f"`chmod +x {shown}`"
    )
    return CommandNotExecutable(f"you can't run `{shown}`: {os.strerror(number)}", hint=hint)


def _interpreter_missing(path: str, shown: str) -> WhetError:
    try:
        with open(path, "rb") as file:
            first = file.readline(_SHOWN_BYTES)
    except OSError:
        first = b""
    if not first.startswith(b"#!"):
        return CommandNotFound(
            f"`{shown}` exists, but the loader or library that it needs doesn't",
            hint=f"`file {shown}` shows which system it is for",
        )
    interpreter = first[2:].strip().decode("utf-8", "replace")
    hint = f"install it, or name an interpreter: `sh {shown}`, `python {shown}`"
    if first.rstrip(b"\n").endswith(b"\r"):
        hint = f"the line ends with a carriage return: `sed -i 's/\\r$//' {shown}`"
    return CommandNotFound(
        f"`{shown}` exists, but `{interpreter}` in its first line doesn't", hint=hint
    )
