"""What looks like a secret: one rule for commands, variables, texts and the values of a program.

Standard library only, Python 3.8 or later: it also runs inside the program.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MASK = "<secret>"
VARIABLE = "WHET_SECRETS"
"""Tells the program what its user has listed: a line each, exceptions behind `!`."""

NAME, FORM, RANDOM, LISTED = "its name", "its form", "random characters", "your list"

# A variable, an attribute, a key or an option of such a name holds a secret, but for what tells
# of one: `password_file`, `token_count`, `secret-name`.
_NAMES = re.compile(
    r"(?:pass(?:wor[dt]|wd|phrase)|secret|credential|authorization|cookie"
    r"|(?:api|access|auth|private|secret|signing|encryption|account|ssh|aws|hf|openai)_?key)"
    r"(?!\w*_(?:files?|paths?|dirs?|folders?|names?|lengths?|len|counts?|size|class|types?|fields?|regex)$)"
    r"|(?:^|_|[a-z](?=T))token$|(?:^|_)pass$|^pwd$|_pwd$|^bearer$",
    re.IGNORECASE,
)
# An environment variable of such a name does, and anything else only where its value looks random.
# TOKENIZERS_PARALLELISM and GIT_AUTHOR_NAME are none.
_VARIABLES = re.compile(
    r"TOKEN(?!IZ)|SECRET|PASS(?:W|PHRASE|$|_)|(?:^|_)P(?:WD|AT|IN)$|API_?KEY|ACCESS_?KEY|(?:^|_)KEY$"
    r"|CREDENTIAL|AUTH(?!OR)|PRIVATE_?KEY|COOKIE|SESSION|SIGNATURE|DSN$|CONNECTION_?STRING|WEBHOOK",
    re.IGNORECASE,
)
# Each has the secret as its one group.
_FORMS = re.compile(
    r"(-----BEGIN (?!CERTIFICATE|PUBLIC)[A-Z0-9 ]+-----(?s:.*?)(?:-----END [A-Z0-9 ]+-----|\Z))"
    r"|\b((?:sk|pk|rk)[-_](?=[\w-]*\d)[\w-]{14,})"
    r"|\b((?:gh[pousr]_|github_pat_|glpat-|hf_|npm_|pypi-|xox[a-z]-|AIza|eyJ)[\w.-]{10,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,})"
    r"|(?i:\bauthorization[\"']?\s*[:=]\s*[\"']?(?:[a-z]+ +)?)([^\s\"',]{6,})"
    r"|(?i:\bbearer +)([A-Za-z0-9._~+/=-]{8,})"
    r"|(?i:\bbasic +)((?=\S*(?:[0-9=]|[a-z][A-Z]))[A-Za-z0-9+/=]{8,})"
    r"|(?i:\bcookie: *)([^\r\n\"']{6,})"
    r"|(?i:(?<!\S)--(?:[\w-]*-)?(?:token|secret|passwor[dt]|passwd|passphrase|pass|api-?key|access-?key"
    r"|private-?key|credentials?)[ =]+)[\"']?(?![-{$%<\"'])([^\s\"';|&]{4,})"
    r"|://([^\s:/@]{0,100}:[^\s\"'<>]{0,300}|[^\s:/@]{20,300})(?=@)"
    r"|(?i:passwor[dt]|passwd|passphrase|pwd|secret|token|api_?key|account_?key|access_?key)(?:"
    r"[\"']\s*[:=]\s*[\"']([^\"']{3,})"
    r"|=\s*[\"'](?!\$\w+\"|\$\{[^\"]*\}\")([^\"']{3,})"
    r"|=(?![{$%<\"']|\w[\w.]*[(\[])([^\s\"'&,;)\]}]{3,}))"
    r"|(?i:passwor[dt]|passwd|passphrase)(?:: *|= +)[\"']?(?![{$%<\"']|\w[\w.]*[(\[])([^\s\"'&,;)\]}]{6,})"
)
_NO_SECRETS = frozenset(
    {"", "0", "1", "true", "false", "yes", "no", "on", "off", "none", "null", MASK}
)
_PREFIX = "prefix:"
_LEAST_RANDOM, _LEAST_UNNAMED = 20, 32
_LONGEST_RANDOM = 200
_LEAST_CHANGES = 0.33
"""The share of places in a random text at which the kind of character changes."""
_RANDOM = re.compile(r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_+/=.-]+\Z")
_KINDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+")


class Listed:
    """What the user has listed: names, as globs, and beginnings of values behind `prefix:`."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        """Read the list."""
        self.entries = tuple(entries)
        starts = [each[len(_PREFIX) :] for each in self.entries if each.startswith(_PREFIX)]
        globs = [_plain(each) for each in self.entries if not each.startswith(_PREFIX)]
        self.starts = tuple(each for each in starts if each)
        self._names = re.compile("|".join(map(_pattern_of, globs)) or r"(?!)")
        begins = "|".join(map(re.escape, self.starts)) or r"(?!)"
        self.values = re.compile(r"(?<!\w)((?:" + begins + r")[^\s\"'&,;)\]}]*)")

    def has(self, name: str) -> bool:
        """Whether a name is in the list."""
        return bool(name) and self._names.match(_plain(name)) is not None


def _pattern_of(glob: str) -> str:
    parts = re.split(r"([*?])", glob)
    return "".join({"*": ".*", "?": "."}.get(each, re.escape(each)) for each in parts) + r"\Z"


class _Lists:
    def __init__(self) -> None:
        lines = os.environ.get(VARIABLE, "").split("\n")
        self.secrets = Listed(each for each in lines if each and not each.startswith("!"))
        self.exceptions = Listed(each[1:] for each in lines if each.startswith("!"))


def obey(secrets: Iterable[str], exceptions: Iterable[str]) -> None:
    """Take the user's lists up."""
    _lists.secrets, _lists.exceptions = Listed(secrets), Listed(exceptions)


def listed_secrets() -> str:
    """Return the user's lists as the program is told them."""
    return "\n".join([*_lists.secrets.entries, *("!" + each for each in _lists.exceptions.entries)])


def why_secret(name: str, value: str, *, is_variable: bool = False) -> str:
    """Return why all of a value is a secret, for its name or for what it is; empty: it is none.

    Args:
        name: of the variable, attribute, key or option that holds it; empty: it has none.
        value: what it holds.
        is_variable: it is a variable of the environment, for which more names count.
    """
    if value.lower() in _NO_SECRETS or _is_exception(name, value):
        return ""
    if _lists.secrets.has(name) or (_lists.secrets.starts and _all_of(value, _lists.secrets)):
        return LISTED
    if _NAMES.search(_plain(name)) or (is_variable and _VARIABLES.search(name)):
        return NAME
    # A page or a picture in base64 is none: what is to be kept by heart of a program is short.
    if len(value) > _LONGEST_RANDOM or not _RANDOM.match(value):
        return ""
    if name and len(value) >= _LEAST_RANDOM and _VARIABLES.search(name):
        return RANDOM
    return RANDOM if _is_random(value) else ""


def secret_spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where secrets stand in a text, from its start on, and why each is one."""
    spans = [(*each.span(each.lastindex or 0), FORM) for each in _FORMS.finditer(text)]
    if _lists.secrets.starts:
        spans += [(*each.span(1), LISTED) for each in _lists.secrets.values.finditer(text)]
    at = 0
    for start, end, why in sorted(spans):
        if start >= at and not _is_exception("", text[start:end]):
            yield start, end, why
            at = end


def masked(text: str) -> str:
    """Return a text with what looks like a key or a password in it masked."""
    at = 0
    parts: list[str] = []
    for start, end, _ in secret_spans(text):
        parts += [text[at:start], MASK]
        at = end
    return "".join([*parts, text[at:]]) if parts else text


def _all_of(value: str, listed: Listed) -> bool:
    found = listed.values.match(value)
    return found is not None and found.end() == len(value)


def _is_exception(name: str, value: str) -> bool:
    listed = _lists.exceptions
    return listed.has(name) or (bool(listed.starts) and value.startswith(listed.starts))


def _is_random(value: str) -> bool:
    """Whether a value looks drawn: small and capital letters and figures, and always in turns."""
    if len(value) < _LEAST_UNNAMED or value[0] in "/." or "://" in value:
        return False
    runs = [each.group() for each in _KINDS.finditer(value)]
    is_mixed = value != value.lower() and value != value.upper()
    return is_mixed and len(runs) >= _LEAST_CHANGES * len(value)


def _plain(name: str) -> str:
    return name.lstrip("-").replace("-", "_").lower()


_lists = _Lists()
