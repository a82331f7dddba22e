"""Which bug a message describes: its words without the data.

The time is linear in the length of the message, because a program can print anything, and a search
reads thousands of messages.
"""

import re

from whet.evidence.signature.wording import canonical_wording, kept_spans
from whet.host.trial.known_secrets import veiled

MESSAGE_CHARACTERS = 300
_MESSAGE_LINES = 60
_HEAD = 2_000  # CPython's own messages are short; only data is long
_AFTER_QUOTES = 20_000
_ROUNDS = 6

_NO_CHARACTER = re.compile(r"\\udc[89a-f][0-9a-f]|\ufffd")
"""A byte of a name that is not UTF-8, as Python prints it or as whet reads it."""

_PRIVATE = re.compile("[\ue000-\uf8ff]")
_FIRST_PRIVATE = 0xE000
_MARKERS = re.compile(r"[ \t|]*[\^~][\^~ \t-]*|[ \t]*-+\^[ \t]*")
_DUPLICATE_SPACE = re.compile(r"\s+")

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s'\"<>)\]]+")
_UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_CALENDAR = re.compile(
    r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? )?"
    r"(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?,? {1,2}\d[\d:, ]*"
)
_WINDOWS_PATH = re.compile(r"\b[A-Za-z]:[\\/][^\s'\"<>|*?]*")
# A slash that follows a word divides it (`and/or`, `m/s`); one after `<` closes a tag.
_ABSOLUTE_PATH = re.compile(r"(?<![\w.<>/)\]~])(?:~\w*|\.{1,2})?/[\w.][^\s'\"<>:;,()\[\]{}|*?]*")
_EXTENSION = (
    r"(?:py|pyi|pyx|ipynb|c|cc|cpp|h|hpp|rs|go|js|ts|java|rb|sh|csv|tsv|json|jsonl|txt|ya?ml|toml|"
    r"xml|html?|md|rst|ini|cfg|conf|log|tmp|gz|bz2|xz|zip|tar|whl|so|pkl|pickle|np[yz]|pth?|ckpt|"
    r"bin|onnx|safetensors|parquet|feather|h5|hdf5|db|sqlite3?|sql|png|jpe?g|gif|webp|wav|mp[34]|"
    r"pdf|docx?|xlsx?|in|out|dat)"
)
_FILE = re.compile(rf"(?<![\w./<])[\w@%+~-][\w.@%+~/-]{{0,400}}\.{_EXTENSION}\b(?![\w.(/-])")

# Digits that belong to the word.
_TECHNICAL = re.compile(
    r"\b(?:u?int|b?float|complex|bf|fp)(?:8|16|32|64|128)\w{0,8}\b"
    r"|\b(?:utf|UTF)[-_]?(?:8|16|32)\b|\b(?:cp|iso|sha|md|base|crc)-?\d{1,4}\b"
    r"|\b[A-Za-z]{3,20}[123][dD]\b|\bm(?:at)?[12]\b"
    r"|\b(?:sqlite3|urllib3|psycopg[23]|cv2|h5py|bs4|boto3)(?=\.)"
)
_SIZE = re.compile(r"(?<![\w.])\d+(?:\.\d+)? ?(?:[KMGTPE]i?B|[kmg]b|bytes?)\b")
_HEX_NUMBER = re.compile(r"\b0[xX][0-9A-Fa-f]+\b")
# A hash may look like a number with an exponent and the other way round.
_NUMBER = re.compile(
    r"(?:(?<![\w>)\]])[-+])?\d[\d_]*(?:\.\d+)*[eE][-+]\d+"
    r"|\b(?=[a-fA-F]{0,63}\d)[0-9a-fA-F]{7,128}\b"
    r"|(?:(?<![\w>)\]])[-+])?\d[\d_]*(?:\.\d+)*(?:[eE]\d+)?"
)
_LEADING_POINT = re.compile(r"(?<![\w>])[-+]?\.<n>")
_NUMBERS = re.compile(r"<n>(?:[-:./T ,;x]{1,2}(?:and |or )?<n>)+(?:Z\b)?")
_STRINGS = re.compile(r"<(str|bytes|path|data)>(?:(?:, ?| |: ?)(?:and |or )?<\1>)+,?")
_PLURAL = re.compile(r"(<n> (?:\w{1,30} )?\w{2,30}(?:(?:ss|x|ch)(?=es)|[^\Ws](?=s)))e?s\b")

# An apostrophe (`can't`, `users' data`, `'x''s`) opens nothing.
_OPENING_QUOTE = re.compile(
    r"""(?<!\w)(?:(?P<bytes>[bB][rR]?|[rR][bB])|[rRuUfF])?(?:["`]|'(?!s\s))|(?<=\w)["`]"""
)
_SENTENCE = re.compile(
    r"""(?P<quote>['"])(?P<text>[A-Z][^'"\n]{1,200} [^'"\n]{1,200}[.!?])(?P=quote)"""
)
_BRACKET = re.compile(r"[\[\](){}]")
_OPENERS = {")": "(", "]": "[", "}": "{"}
_DATA = re.compile(
    r"(?:[\s,:=*.|\-]|<(?:n|str|bytes|path|data|url)>[jLf%]?|None\b|True\b|False\b|null\b|true\b|"
    r"false\b|nan\b|NaN\b|inf\b|NaT\b|NA\b|Ellipsis\b|[A-Za-z_][\w.]{0,60}\(<data>\))*"
)


def normalise(message: str, source: str = "") -> str:
    """Return ``message`` with its data replaced, so that one bug always says the same.

    ``<n>`` stands for numbers, addresses, hashes, dates and sizes, ``<str>`` and ``<bytes>`` for
    quoted text, ``<path>`` and ``<url>`` for places, ``<data>`` for lists, mappings and their
    like, ``<secret>`` for what is known to be one. Names that CPython quotes in messages of its own stay, because they tell the bug.
    White space is collapsed, repeated lines are dropped, and at most 300 characters are kept.

    Normalising twice changes nothing.

    Args:
        message: what the program said.
        source: lines of the program; a text that they quote isn't data, and stays.
    """
    message = _NO_CHARACTER.sub("_", veiled(message))
    message = _sentences_of(_PRIVATE.sub("?", message))
    lines = _without_excerpts(message.split("\n"))
    text = _one_round("\n".join(lines[:_MESSAGE_LINES]), source)
    for _ in range(_ROUNDS):
        again = _one_round(text, source)
        if again == text:
            break
        text = again
    return text


def _sentences_of(message: str) -> str:
    """Return the sentences of a message that is only a container of them.

    So do validators report: ``{'age': ['Not a valid integer.']}``.
    """
    text = message.strip()
    if text[:1] not in {"{", "["} or text[-1:] not in {"}", "]"}:
        return message
    sentences = {sentence["text"] for sentence in _SENTENCE.finditer(text[:_AFTER_QUOTES])}
    return "\n".join(sorted(sentences)) if sentences else message


def _one_round(message: str, source: str) -> str:
    head, rest = message[:_HEAD], message[_HEAD:]
    text, spans = _protect(canonical_wording(head), source)
    text = _without_quoted(text + rest)[:_AFTER_QUOTES]
    text = _without_places(text)
    text = _without_numbers(text)
    text = _without_containers(text)
    text = _without_repeats(text)
    lines = dict.fromkeys(_DUPLICATE_SPACE.sub(" ", line).strip() for line in text.split("\n"))
    return _restore(" ".join(line for line in lines if line), spans)[:MESSAGE_CHARACTERS].rstrip()


def _without_excerpts(lines: list[str]) -> list[str]:
    """Drop the excerpts of the payload that parsers show, with the markers below them."""
    rest: list[str] = []
    for line in lines:
        if line.strip() and _MARKERS.fullmatch(line):
            if len(rest) > 1:
                rest.pop()
        else:
            rest.append(line)
    return rest


def _protect(text: str, source: str) -> tuple[str, list[str]]:
    """Put a private character in place of each name that tells the bug, one for each name."""
    parts: list[str] = []
    spans: dict[str, str] = {}
    end = 0
    for start, stop in kept_spans(text, source):
        name = text[start:stop]
        parts += [text[end:start], spans.setdefault(name, chr(_FIRST_PRIVATE + len(spans)))]
        end = stop
    return "".join([*parts, text[end:]]), list(spans)


def _restore(text: str, kept: list[str]) -> str:
    return _PRIVATE.sub(lambda found: kept[ord(found.group()) - _FIRST_PRIVATE], text)


def _without_quoted(text: str) -> str:
    parts: list[str] = []
    position = 0
    while (match := _OPENING_QUOTE.search(text, position)) is not None:
        stop = _closing_quote(text, match.end() - 1)
        parts += [text[position : match.start()], "<bytes>" if match["bytes"] else "<str>"]
        position = stop
    return "".join([*parts, text[position:]])


_CLOSERS = {
    "'": re.compile(r"\\.|'(?!\w)|\n", re.DOTALL),
    '"': re.compile(r'\\.|"|\n', re.DOTALL),
    "`": re.compile(r"`|'(?!\w)|\n"),
}
_QUOTED_CONTAINER = re.compile("""['"`][\\[{(](?:['"][\\w/.-]|[\ue000-\uf8ff])""")
_CLOSERS_OF_CONTAINERS = {"[": "]", "{": "}", "(": ")"}


def _closing_quote(text: str, opener: int) -> int:
    """Return where the quoted text ends; without a closing quote, its line was cut short."""
    quote = text[opener]
    if _QUOTED_CONTAINER.match(text, opener):
        # The repr of a list in quotes, as in `Command '['a', 'b']' returned`.
        stop = text.find(_CLOSERS_OF_CONTAINERS[text[opener + 1]] + quote, opener + 1)
        if stop >= 0 and "\n" not in text[opener:stop]:
            return stop + 2
    for match in _CLOSERS[quote].finditer(text, opener + 1):
        symbol = match.group()
        if symbol == "\n":
            return match.start()
        if len(symbol) == 1:
            return match.end()
    return len(text)


def _without_places(text: str) -> str:
    text = _ADDRESS.sub("", text)
    text = _URL.sub("<url>", text)
    text = _WINDOWS_PATH.sub("<path>", text)
    text = _ABSOLUTE_PATH.sub("<path>", text)
    return _FILE.sub("<path>", text)


def _without_numbers(text: str) -> str:
    text = _UUID.sub("<n>", text)
    text = _CALENDAR.sub("<n> ", text)
    text = _SIZE.sub("<n> bytes", text)
    text = _HEX_NUMBER.sub("<n>", text)
    parts: list[str] = []
    end = 0
    for match in _TECHNICAL.finditer(text):
        parts += [_NUMBER.sub("<n>", text[end : match.start()]), match.group()]
        end = match.end()
    text = "".join([*parts, _NUMBER.sub("<n>", text[end:])])
    return _LEADING_POINT.sub("<n>", text)


def _without_containers(text: str) -> str:
    """Replace bracketed data from the inside out, in one pass."""
    outer: list[tuple[str, list[str], bool]] = []
    parts: list[str] = []
    holds_only_data = True
    end = 0
    for match in _BRACKET.finditer(text):
        bracket = match.group()
        piece = text[end : match.start()]
        parts.append(piece)
        end = match.end()
        if bracket not in _OPENERS:
            outer.append((bracket, parts, holds_only_data))
            parts, holds_only_data = [], True
            continue
        if not outer or outer[-1][0] != _OPENERS[bracket]:
            parts.append(bracket)
            holds_only_data = False
            continue
        opener, before, before_is_data = outer.pop()
        content = "".join(parts)
        placeholder, is_data = (
            _container(opener, content, _last_of(before))
            if holds_only_data
            else (
                f"{opener}{content}{bracket}",
                False,
            )
        )
        before.append(placeholder)
        parts, holds_only_data = before, before_is_data and is_data
    unclosed = [piece for opener, before, _ in outer for piece in (*before, opener)]
    return "".join([*unclosed, *parts, text[end:]])


def _last_of(parts: list[str]) -> str:
    return next((part[-1] for part in reversed(parts) if part), "")


def _container(opener: str, content: str, before: str) -> tuple[str, bool]:
    """Return what to show for a bracket of data, and whether it was one."""
    closer = _CLOSERS_OF_CONTAINERS[opener]
    whole = f"{opener}{content}{closer}"
    if _DATA.fullmatch(content) is None:
        return whole, False
    follows_word = before.isalnum() or before == "_"
    if follows_word:
        # `f()` is a function; `Decimal('1')`, `Size([2, 3])` and `x[5]` hold data.
        return (f"{opener}<data>{closer}" if opener == "(" and content else whole), True
    if opener == "(" and content and "," not in content and content.strip() != "<data>":
        return whole, True  # a remark such as `(5)`
    return "<data>", True


def _without_repeats(text: str) -> str:
    text = _NUMBERS.sub("<n>", text)
    text = _STRINGS.sub(r"<\1>", text)
    return _PLURAL.sub(r"\1", text)
