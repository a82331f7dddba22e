"""The secrets of a trial: where they are, and what replaces them when it is shown, kept or run."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from whet.agent.site.whet_state.secret_rule import MASK, secret_spans, why_secret
from whet.core.trial import Trial
from whet.core.value_class import value_class

_OPTION = re.compile(r"(?P<name>--?[A-Za-z][\w-]*|[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
_LEAST_OF_OPTION = 4
"""`--password no` and `--token 1` are switches."""

_SHELLS_OWN = frozenset({"HOME", "IFS", "OLDPWD", "PATH", "PS1", "PWD", "SHELL", "TMPDIR", "USER"})

SEALED = re.compile(r"<sealed ([0-9a-f]{32})>")
"""Replaces a secret in a notebook; see `whet.notebook.sealed_secrets`."""


@value_class
class Piece:
    """A part of a text.

    Attributes:
        text: what it says.
        why: why it is a secret; empty: it isn't one.
        name: of the option or variable that it belongs to; empty: it has none.
    """

    text: str
    why: str = ""
    name: str = ""


@value_class(kw_only=True)
class Found:
    """A secret of a trial.

    Attributes:
        place: where it stands, in words.
        why: why it is one.
        variable: what a shell may call it.
        value: what it is.
        environment: the variable of ``--env`` that has it; empty: it stands elsewhere.
    """

    place: str
    why: str
    variable: str
    value: str
    environment: str = ""


def masked_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command for a reader: ``--token X``, ``--token=X`` and keys masked."""
    return [_put(pieces, _mask) for pieces in _of_words(words)]


def masked_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables for a reader: without the secrets."""
    return {name: variable_with(name, value, _mask) for name, value in variables.items()}


def variable_with(name: str, value: str, put: Callable[[Piece], str]) -> str:
    """Return the value of a variable with something else instead of each of its secrets."""
    return _put(_of_variable(name, value), put)


def with_secrets(trial: Trial, put: Callable[[Piece], str]) -> Trial:
    """Return a trial with something else instead of each of its secrets."""
    return replace(
        trial,
        command=tuple(_put(pieces, put) for pieces in _of_words(trial.command)),
        environment={
            name: variable_with(name, value, put) for name, value in trial.environment.items()
        },
        reset=tuple(
            replace(step, command=_put(_of_text(step.command), put)) for step in trial.reset
        ),
        setup=_put(_of_text(trial.setup), put),
    )


def masked_trial(trial: Trial) -> Trial:
    """Return a trial for a reader."""
    return with_secrets(trial, _mask)


def secrets_of(trial: Trial) -> Iterator[Found]:
    """Yield the secrets of a trial: of its command, its variables and its steps.

    What was sealed and can't be opened is one, too.
    """
    for number, pieces in enumerate(_of_words(trial.command)):
        for piece in pieces:
            place = f" (`{piece.name}`)" if piece.name else ""
            shell = _shell_name(piece.name.lstrip("-")) or f"SECRET_{number}"
            yield from _found(piece, f"argument {number}{place}", shell)
    for name, value in trial.environment.items():
        for piece in _of_variable(name, value):
            for each in _found(piece, f"`--env {name}`", _shell_name(name) or "SECRET_VARIABLE"):
                yield replace(each, environment=name)
    for number, step in enumerate(trial.reset, 1):
        for piece in _of_text(step.command):
            yield from _found(piece, f"reset step {number}", f"SECRET_OF_STEP_{number}")
    for piece in _of_text(trial.setup):
        yield from _found(piece, "set-up", "SECRET_OF_SETUP")


def masked_marks(text: str) -> str:
    """Return a text with what was sealed and can't be opened shown as any secret."""
    return SEALED.sub(MASK, text)


def for_shell(trial: Trial) -> tuple[Trial, dict[str, str]]:
    """Return a trial with a variable of a shell instead of each secret, and their values.

    No word of a command holds a NUL: between two of them stands the name of a variable.
    """
    names: dict[str, str] = {}  # by value: the same secret is asked for once
    for each in secrets_of(trial):
        name, number = each.variable, 1
        while each.value not in names and name in names.values():
            number += 1
            name = f"{each.variable}_{number}"
        names.setdefault(each.value, name)
    placeholders = with_secrets(trial, lambda piece: f"\0{names[piece.text]}\0")
    return placeholders, {name: value for value, name in names.items()}


def _found(piece: Piece, place: str, variable: str) -> Iterator[Found]:
    if piece.why:
        yield Found(place=place, why=piece.why, variable=variable, value=piece.text)


def _shell_name(name: str) -> str:
    plain = re.sub(r"\W", "_", name, flags=re.ASCII).upper()
    if plain in _SHELLS_OWN:
        return f"SECRET_{plain}"
    return "" if not plain or plain[0].isdigit() else plain


def _mask(_piece: Piece) -> str:
    return MASK


def _put(pieces: Iterable[Piece], put: Callable[[Piece], str]) -> str:
    return "".join(put(piece) if piece.why else piece.text for piece in pieces)


def _of_words(words: Sequence[str]) -> Iterator[list[Piece]]:
    option = ""
    for word in words:
        match = _OPTION.fullmatch(word)
        if option and not word.startswith("-") and (why := _why_option(option, word)):
            yield [Piece(word, why, option)]
        elif match is not None and (why := _why_option(match["name"], match["value"])):
            yield [Piece(f"{match['name']}="), Piece(match["value"], why, match["name"])]
        elif match is not None:
            yield [Piece(f"{match['name']}="), *_of_text(match["value"], match["name"])]
        elif why := why_secret("", word):
            yield [Piece(word, why)]
        else:
            yield list(_of_text(word))
        option = word if word.startswith("--") and "=" not in word else ""


def _of_variable(name: str, value: str) -> list[Piece]:
    why = why_secret(name, value, is_variable=True)
    return [Piece(value, why, name)] if why else list(_of_text(value, name))


def _of_text(text: str, name: str = "") -> Iterator[Piece]:
    at = 0
    spans = sorted(
        [*secret_spans(text), *((*each.span(), "sealed") for each in SEALED.finditer(text))]
    )
    for start, end, why in spans:
        if start >= at:
            yield from [Piece(text[at:start]), Piece(text[start:end], why, name)]
            at = end
    if text[at:] or not at:
        yield Piece(text[at:])


def _why_option(name: str, value: str) -> str:
    return "" if len(value) < _LEAST_OF_OPTION else why_secret(name, value)
