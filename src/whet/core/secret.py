"""What looks like a secret, and words with their secrets masked, for what is shown."""

import re
from collections.abc import Iterator, Mapping, Sequence

MASK = "<secret>"

# TOKENIZERS_PARALLELISM and GIT_AUTHOR_NAME are none.
_SECRET_NAME = re.compile(
    r"TOKEN(?!IZ)|SECRET|PASS(?:W|PHRASE|$|_)|(?:^|_)P(?:WD|AT|IN)$|API_?KEY|ACCESS_?KEY|(?:^|_)KEY$"
    r"|CREDENTIAL|AUTH(?!OR)|PRIVATE_?KEY|COOKIE|SESSION|SIGNATURE|DSN$|CONNECTION_?STRING|WEBHOOK",
    re.IGNORECASE,
)
# Known beginnings of keys, and passwords inside of connection strings and headers.
_SECRET_VALUE = re.compile(
    r"-----BEGIN |\b(?:gh[pousr]_|github_pat_|glpat-|hf_|sk-|xox[a-z]-|AKIA|ASIA|eyJ)[\w-]{10,}"
    r"|\b(?:bearer|basic) +\S{8,}"
    r"|(?:password|passwd|pwd|secret|token|api_?key|account_?key)[\"']?\s*[=:]\s*\S",
    re.IGNORECASE,
)
IN_URL = re.compile(r"(?<=://)(?:[^\s:/@]*:\S*|[^\s:/@]{20,})(?=@)")
_NO_SECRETS = frozenset({"", "0", "1", "true", "false", "yes", "no", "on", "off", "none"})
_OPTION = re.compile(r"(?P<name>--?[A-Za-z][\w-]*|[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
# Narrower than that of variables: `--max-tokens 4096` and `--session 3` are none.
_SECRET_OPTION = re.compile(
    r"(?:^|_)(?:TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?|PWD|(?:API|ACCESS|PRIVATE|SECRET)_?KEY|CREDENTIALS?)$",
    re.IGNORECASE,
)
_SHORTEST = 4


def is_secret(name: str, value: str) -> bool:
    """Whether a value is to be masked, for the name that it has or for what it looks like."""
    if value.lower() in _NO_SECRETS:
        return False
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.search(value))


def masked_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables for a reader: without the secrets."""
    return {
        name: MASK if is_secret(name, value) else IN_URL.sub(MASK, value)
        for name, value in variables.items()
    }


def masked_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command for a reader: ``--token X``, ``--token=X`` and keys masked."""
    return list(_masked(words))


def _masked(words: Sequence[str]) -> Iterator[str]:
    option = ""
    for word in words:
        named = _OPTION.fullmatch(word)
        if option and not word.startswith("-") and _is_secret_option(option, word):
            yield MASK
        elif named is not None and _is_secret_option(named["name"], named["value"]):
            yield f"{named['name']}={MASK}"
        elif named is None and len(word.split()) == 1 and _SECRET_VALUE.search(word):
            yield MASK
        else:
            yield IN_URL.sub(MASK, word)
        is_option = word.startswith("--") and "=" not in word
        option = word if is_option else ""


def _is_secret_option(name: str, value: str) -> bool:
    if len(value) < _SHORTEST or value.lower() in _NO_SECRETS:
        return False
    plain = name.lstrip("-").replace("-", "_")
    return bool(_SECRET_OPTION.search(plain) or _SECRET_VALUE.search(value))
