"""The secrets that this whet knows: it never shows them or keeps them in clear text.

A value is known once whet builds, reads or starts a trial that has it. whet masks one of fewer than
eight characters, or a plain word such as `postgres`, only in its place and not elsewhere: other
sentences contain such words, and `KeyError: '<secret>'` doesn't help.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping

from whet.agent.site.whet_state.secret_rule import LISTED, MASK, secret_spans, why_secret
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.trial.kept_environment import changes_by_itself
from whet.host.trial.trial_secrets import SEALED, masked_marks, secrets_of

_LEAST_LOOKED_FOR = 8
_MOST_OF_A_WORD = 15
_WORD = re.compile(r"[A-Za-z][a-z]+(?:[_.-][a-z]*)?")
_LEAST_OF_A_LINE = 16
_MARKDOWN = re.compile(r"[\\`*_\[\]<>|#]")


@value_class
class Origin:
    """Where a secret comes from.

    Attributes:
        place: in words.
        why: why it is one.
        variable: of the environment that programs inherit; empty: it comes from elsewhere.
    """

    place: str
    why: str
    variable: str = ""


class KnownSecrets:
    """What is known in this process. A pattern is replaced whole, so that threads may use it."""

    def __init__(self) -> None:
        self.known: dict[str, Origin] = {}
        self.text: re.Pattern[str] | None = None
        self.data: re.Pattern[bytes] | None = None

    def know(self, values: Mapping[str, Origin]) -> None:
        """Look out for values from now on."""
        is_new = False
        for value, origin in values.items():
            if _is_looked_for(value, origin) and not (value in self.known and not origin.place):
                is_new = is_new or value not in self.known
                self.known = {**self.known, value: origin}
        if not is_new:
            return
        forms = {form for value in self.known for form in _forms(value)}
        words = sorted(forms, key=lambda form: (-len(form), form))
        self.text = re.compile("|".join(map(re.escape, words)))
        contents = [word.encode("utf-8", "surrogateescape") for word in words if _is_text(word)]
        self.data = re.compile(b"|".join(map(re.escape, contents)))


def _is_looked_for(value: str, origin: Origin) -> bool:
    is_word = len(value) <= _MOST_OF_A_WORD and _WORD.fullmatch(value) and origin.why != LISTED
    return len(value) >= _LEAST_LOOKED_FOR and not is_word


_known_secrets = KnownSecrets()


def know_trial(trial: Trial) -> None:
    """Look out for the secrets of a trial from now on."""
    _known_secrets.know({
        each.value: Origin(each.place, each.why)
        for each in secrets_of(trial)
        if not SEALED.fullmatch(each.value)
    })  # fmt: skip


def know_variables(variables: Mapping[str, str]) -> None:
    """Look out for the secrets among variables that programs inherit."""
    _known_secrets.know({
        value: Origin(f"environment {name}", why, name)
        for name, whole in variables.items()
        if not changes_by_itself(name)
        for value, why in _secrets_in(name, whole)
        if not value.startswith("/")  # the place of one, or of a program that asks for it
    })  # fmt: skip


def know_sealed(value: str) -> None:
    """Look out for what was a secret when it was kept."""
    _known_secrets.know({value: Origin("", "")})


def known_in(holds: Callable[[re.Pattern[bytes]], bytes | None]) -> Iterator[tuple[str, Origin]]:
    """Yield the secrets in a stream, and where each comes from.

    Args:
        holds: returns what a pattern finds in it.
    """
    if _known_secrets.data is None or holds(_known_secrets.data) is None:
        return
    for value, origin in _known_secrets.known.items():
        forms = [
            form.encode("utf-8", "surrogateescape") for form in _forms(value) if _is_text(form)
        ]
        if forms and holds(re.compile(b"|".join(map(re.escape, forms)))) is not None:
            yield value, origin


def holds_known(text: str) -> bool:
    """Whether a secret is in a text."""
    return _known_secrets.text is not None and _known_secrets.text.search(text) is not None


def with_known(text: str, put: Callable[[str], str]) -> str:
    """Return a text with something else instead of each secret that is known."""
    return (
        text
        if _known_secrets.text is None
        else _known_secrets.text.sub(lambda found: put(found[0]), text)
    )


def inherited_in(contents: Iterable[bytes]) -> dict[str, str]:
    """Return the inherited variables whose secrets stand in files, and what they are."""
    variables = {
        each.variable: value for value, each in _known_secrets.known.items() if each.variable
    }
    files = list(contents) if variables else []
    return {
        name: value
        for name, value in variables.items()
        if any(value.encode("utf-8", "surrogateescape") in content for content in files)
    }


def veiled(text: str) -> str:
    """Return a text as it is shown."""
    return masked_marks(with_known(text, lambda _: MASK))


def veiled_data(data: bytes) -> bytes:
    """Return the bytes that a program wrote, as they are shown."""
    return data if _known_secrets.data is None else _known_secrets.data.sub(MASK.encode(), data)


def _secrets_in(name: str, value: str) -> Iterable[tuple[str, str]]:
    why = why_secret(name, value, is_variable=True)
    if why:
        return [(value, why)]
    return [(value[start:end], why) for start, end, why in secret_spans(value)]


def _forms(value: str) -> set[str]:
    """Return a value as it may be written: quoted, escaped, and a long one line by line."""
    lines = [line for line in value.splitlines() if len(line) >= _LEAST_OF_A_LINE]
    forms: set[str] = set()
    for each in (value, *lines[:1000]):
        as_json = json.dumps(each)[1:-1]
        forms |= {each, as_json, repr(each)[1:-1], _in_html(each), _in_html(as_json)}
        forms.add(shlex.quote(each).removeprefix("'").removesuffix("'"))
        forms.add(_MARKDOWN.sub(r"\\\g<0>", each))
    return forms


def _in_html(text: str) -> str:
    for character, name in (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ("'", "&#39;"),
        ('"', "&#34;"),
    ):
        text = text.replace(character, name)
    return text


def _is_text(word: str) -> bool:
    try:
        word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
