"""What a POSIX shell does to run a trial, without whet: its commands, and those as one line.

A secret does not stand in them: they ask for a variable (`for_shell`).
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from whet.core.trial import STDIN_EMPTY, STDIN_INHERITED, ResetStep, Trial
from whet.core.value_class import value_class
from whet.host.process.own_command import own_line

Quote: TypeAlias = Callable[[str], str]
"""Makes one word of a shell."""

_WIDTH = 100
"""A longer command of a script continues on the next line."""

_LEAST_IN_A_FILE = 8
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_SHELL = re.compile(r"[\w\s./=:,@%+\"'-]*")
_FIRST_PRINTABLE, _FIRST_BEYOND = 0x20, 0x7F


@value_class(kw_only=True)
class PlacedFile:
    """Where the line finds a file: written by the line itself, or lying somewhere already.

    Attributes:
        path: its path in the line.
        content: what the line writes there first; None if the file is there already.
    """

    path: str
    content: bytes | None = None


def commands(
    trial: Trial,
    files: Mapping[str, PlacedFile],
    *,
    prefix: Sequence[str] = (),
    with_folder: bool = True,
    secrets: Mapping[str, str] | None = None,
    quote: Quote | None = None,
) -> list[str]:
    """Return what a shell does to run ``trial``, one command after the other.

    Args:
        trial: what to run, with variables for its secrets (`for_shell`).
        files: where its payloads and its standard input are, by digest.
        prefix: words to put before the command.
        with_folder: start with ``cd`` to the trial's folder.
        secrets: variables that were asked for, and their values.
        quote: makes a word of a shell; None: one for a line.
    """
    quote = quote or quote_word
    steps = [f"cd {quote(trial.cwd)}"] if with_folder else []
    written = dict.fromkeys(
        files[digest] for digest in _digests(trial) if files[digest].content is not None
    )
    steps += [write_file(file.path, file.content or b"", secrets) for file in written]
    steps += [reset_step(step, quote) for step in trial.reset]
    return [*steps, _command(trial, files, prefix, quote)]


def as_line(steps: Sequence[str]) -> str:
    """Return commands as one line."""
    line = " && ".join(steps)
    if "\n" in line:
        # A word that ends with a line end doesn't survive `$(...)`; inside `eval` it is quoted.
        line = f"eval {_printf_substitution(line.encode('utf-8', 'surrogateescape'))}"
    return line


def ask_for(name: str) -> str:
    """Return a command that ends the shell where a variable isn't set."""
    return f': "${{{name}:?set {name} first}}"'


def quote_word(word: str) -> str:
    """Return ``word`` as one word of any POSIX shell, whatever it holds.

    A word with control characters goes through ``printf``, which every POSIX shell has, and
    not through ``$'...'``, which dash doesn't know. Between two NULs stands the name of a
    variable (`whet.host.trial.trial_secrets.for_shell`).
    """
    if "\0" in word:
        parts = enumerate(word.split("\0"))
        return "".join(
            f'"${part}"' if number % 2 else quote_word(part) for number, part in parts if part
        )
    if word.isprintable():
        return shlex.quote(word)
    if word.endswith("\n"):
        return shlex.quote(word)  # `one_liner` puts the whole line through `eval`
    return _printf_substitution(word.encode("utf-8", "surrogateescape"))


def quote_in_script(word: str) -> str:
    """Return ``word`` as one word of a script: its lines are lines there."""
    seen = word.replace("\n", "").replace("\t", "")
    return shlex.quote(word) if seen.isprintable() else quote_word(word)


def write_file(path: str, content: bytes, secrets: Mapping[str, str] | None = None) -> str:
    """Return a command that writes ``content`` to ``path``, byte for byte.

    Args:
        path: the file.
        content: what it will hold.
        secrets: variables that stand in it, and their values.
    """
    form, words = "", ""
    for text, name in pieces_of(content, secrets or {}):
        form += _printf_format(text) + ("%s" if name else "")
        words += f' "${name}"' if name else ""
    return f"printf '{form}'{words} > {quote_word(path)}"


def pieces_of(content: bytes, secrets: Mapping[str, str]) -> Iterator[tuple[bytes, str]]:
    """Yield what stands before each secret in a file with the secret's variable; the rest has none."""
    values = {name: value.encode("utf-8", "surrogateescape") for name, value in secrets.items()}
    while found := [
        (content.index(value), name)
        for name, value in values.items()
        if len(value) >= _LEAST_IN_A_FILE and value in content
    ]:
        at, name = min(found)
        yield content[:at], name
        content = content[at + len(values[name]) :]
    yield content, ""


def _digests(trial: Trial) -> list[str]:
    digests = [payload.digest for payload in trial.payloads]
    if trial.stdin not in {STDIN_EMPTY, STDIN_INHERITED}:
        digests.append(trial.stdin)
    return digests


def _command(
    trial: Trial, files: Mapping[str, PlacedFile], prefix: Sequence[str], quote: Quote
) -> str:
    words = [*prefix, *map(quote, placed_command(trial, files))]
    if trial.limits.wall_seconds is not None:
        words = ["timeout", "--signal=KILL", f"{trial.limits.wall_seconds:g}", *words]
    if trial.limits.starve:  # the words are quoted already, or are a shell's own
        starve = own_line("starve", environment=trial.environment)
        words = [*map(quote, (*starve, *trial.limits.options, "--")), *words]
    words = [*_environment(trial.environment, trial.unset, quote), *words]
    words += _stdin(trial, files, quote)
    return wrapped(words) if quote is quote_in_script else " ".join(words)


def placed_command(trial: Trial, files: Mapping[str, PlacedFile]) -> tuple[str, ...]:
    """Return the trial's command with the paths of its payloads in place."""
    words = list(trial.command)
    for payload in trial.payloads:
        payload.put(files[payload.digest].path, words)
    return tuple(words)


def wrapped(words: Sequence[str]) -> str:
    """Return a command as lines of a script that fit on a screen."""
    lines: list[str] = []
    last = words[0]
    for word in words[1:]:
        if len(last) + len(word) > _WIDTH:
            lines.append(last)
            last = f"  {word}"
        else:
            last = f"{last} {word}"
    return " \\\n".join([*lines, last])


def _stdin(trial: Trial, files: Mapping[str, PlacedFile], quote: Quote) -> list[str]:
    from_payload = [payload.digest for payload in trial.payloads if payload.argument is None]
    if from_payload:
        return [f"< {quote(files[from_payload[0]].path)}"]
    if trial.stdin == STDIN_INHERITED:
        return []
    if trial.stdin == STDIN_EMPTY:
        return ["< /dev/null"]
    return [f"< {quote(files[trial.stdin].path)}"]


def _environment(overrides: Mapping[str, str], unset: Sequence[str], quote: Quote) -> list[str]:
    assignments = [
        f"{name}={quote(value)}" if _IDENTIFIER.fullmatch(name) else quote(f"{name}={value}")
        for name, value in overrides.items()
    ]
    if not unset and all(_IDENTIFIER.fullmatch(name) for name in overrides):
        return assignments
    return ["env", *(f"-u {quote(name)}" for name in unset), *assignments]


def reset_step(step: ResetStep, quote: Quote | None = None) -> str:
    """Return a reset step as a part of a line."""
    plain = _PLAIN_SHELL.fullmatch(step.command) and "\n" not in step.command
    text = step.command if plain else f"sh -c {(quote or quote_word)(step.command)}"
    return text if step.must_succeed else f"{{ {text} || :; }}"


def _printf_substitution(data: bytes) -> str:
    return f"\"$(printf '{_printf_format(data)}')\""


def _printf_format(data: bytes) -> str:
    escaped = "".join(_printf_escape(byte) for byte in data)
    # bash's printf takes a format that begins with a hyphen for an option.
    return f"\\055{escaped[1:]}" if escaped.startswith("-") else escaped


def _printf_escape(byte: int) -> str:
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", "%": "%%", "'": "'\\''"}
    character = chr(byte)
    if character in named:
        return named[character]
    if _FIRST_PRINTABLE <= byte < _FIRST_BEYOND:
        return character
    return f"\\{byte:03o}"
