"""CPython's own messages: differences between its versions, and the names that identify the bug."""

import re

# A name as CPython quotes it: an identifier, a dotted one, a type such as `list[int]`, an operator.
_NAME = r"""('[\w.<>\[\], |*-]{1,120}'|"[\w.<>\[\], |*-]{1,120}")"""
_SYMBOL = r"""('[^\w\s']{1,3}'|"[^\w\s"]{1,3}"|'<[\w ]{1,40}>')"""

_HINT = (
    r"(?:\. |\? |; )?(?:Did you (?:mean|forget)|did you mean|Perhaps you|Maybe you meant)\b"
    r"[^\n]{0,300}$"
)

_WHERE_IMPORTED = (
    r"(cannot import name [^\n]{1,300}?) \((?:most likely due to[^)\n]*|/[^)\n]*|"
    r"unknown location)\)(?: \(/[^)\n]*\))?"
)
_BY_ZERO = (
    r"^(?:(?:integer|float|complex) )?(?:(?:floor )?division(?: or modulo)?|modulo|"
    r"divmod\(\)) by zero$|^float (?:modulo|divmod\(\)|floor division)$"
)

# Data that well-known libraries don't quote.
_UNQUOTED_DATA = (
    # lxml, and libxml2 behind it
    (r"(tag mismatch: )\S+( line \d+ and )\S+?,", r"\1<str>\2<str>,"),
    (r"\bAttribute \S+ redefined", "Attribute <str> redefined"),
    (r"\bNamespace prefix \S+(?: for \S+)? on \S+ is not defined", "Namespace prefix <str>"),
    (r"\b(Start Tag|Premature end of data in tag|Tag) \S+ (line|invalid)\b", r"\1 <str> \2"),
    # dateutil, pandas, datetime
    (r"\b(unable to parse|Unknown string format|does not contain a date): [^\n]+", r"\1: <str>"),
    (r"\b(unconverted data remains): [^\n]+", r"\1: <str>"),
    (r"\b(must be in \d+\.\.\d+|out of range(?: for month)?): [\d :TZ./+-]+", r"\1"),
    (r"\. You might want to try:(?s:.*)", ""),
    # lark: what it expects depends on all that came before
    (r"\bExpected one of: ?(?:\s+\* \S+)+", "Expected one of:"),
    (r"\bPrevious tokens: [^\n]+", ""),
    (r"'could not parse '[^\n]{0,2000}?'' failed", "<str> failed"),  # sympy
    # SQLAlchemy
    (r"\[(SQL|parameters): (?s:.*?)\](?=\s*(?:\[parameters|\(Background|$))", r"[\1: ...]"),
)

_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        # Suggestions came with 3.10 and grow with every version.
        (_HINT, ""),
        (r" \(consider renaming [^\n]{1,400}\)", ""),
        (_WHERE_IMPORTED, r"\1"),
        (r"(module '[\w.]+' has no attribute '\w+') \(most likely[^)\n]*\)", r"\1"),
        (r"\bfrom partially initialized module\b", "from"),
        (r"\bpartially initialized module\b", "module"),
        # 3.11 says more about names without a value.
        (
            r"local variable ('\w+') referenced before assignment",
            r"cannot access local variable \1 where it is not associated with a value",
        ),
        (
            r"free variable ('\w+') referenced before assignment in enclosing scope",
            r"cannot access free variable \1 where it is not associated with a value",
        ),
        (r"( not associated with a value) in enclosing scope", r"\1"),
        # 3.10 names the class of a called function.
        (r"^(?:[\w<>]+\.)+([\w<>]+\(\) (?:takes|got|missing)\b)", r"\1"),
        (r"(abstract class \w+) without an implementation for abstract", r"\1 with abstract"),
        (r"(?<=\babstract) methods\b", " method"),
        (r"(expected an indented block) after [^\n]* on line \d+", r"\1"),
        (r"(?<=abstract method )'(\w+)'", r"\1"),
        (
            r"^can't set attribute(?: '\w+')?$|^property '\w+' of '\w+' object has no setter$",
            "can't set attribute",
        ),
        (r"\bor a number, not\b", "or a real number, not"),
        (r"^(maximum recursion depth exceeded)\b[^\n]*", r"\1"),
        (r"^Stack overflow \([^)\n]*\)[^\n]*", "maximum recursion depth exceeded"),
        (_BY_ZERO, "division by zero"),
        (r"(Exceeds the limit \()(\d+)(?: digits)?\)", r"\1\2)"),
        (r"^(too many values to unpack \(expected \d+), got \d+\)", r"\1)"),
        (
            r"^cannot use '[\w.]+' as an? (?:dict key|set element) \((unhashable type: '[\w.]+')\)",
            r"\1",
        ),
        (r"^can't pickle ([\w.]+) objects$", r"cannot pickle '\1' object"),
        (r"^Can't get local object\b", "Can't pickle local object"),
        # UnicodeDecodeError and UnicodeEncodeError change their number with the payload.
        (r"(codec can't decode) bytes? (?:0x\w\w )?in position", r"\1 bytes in position"),
        (
            r"(codec can't encode) characters? (?:'[^'\n]*' )?in position",
            r"\1 characters in position",
        ),
        # argparse quotes its choices before 3.12.
        (r"\(choose from [^\n]*\)$", "(choose from ...)"),
        # tomllib and tomli: the place of an error is the payload's.
        (r"\(at (?:line \d+, column \d+|end of document)\)", "(at ...)"),
        (r"\bwas given\b", "were given"),
        *_UNQUOTED_DATA,
    )
)

_MISSING_ARGUMENTS = (
    rf"required (?:positional|keyword-only) arguments: {_NAME}(?:, {_NAME})?(?:, {_NAME})?"
    rf"(?:,? and {_NAME})?"
)

_QUOTED = re.compile(r"""(?<!\w)(?P<quote>['"])(?P<text>[^'"\n]{1,80})(?P=quote)(?!\w)""")

# Each group is a quoted name that stays as it is.
_KEPT: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:module |type object )?{_NAME} (?:object )?has no attribute {_NAME}",
        rf"{_NAME} object attribute {_NAME} is read-only",
        rf"{_NAME} object (?:is|does|doesn't|has|cannot|can't)\b",
        rf"object of type {_NAME}",
        rf"\bname {_NAME} is not defined",
        rf"cannot access (?:local|free) variable {_NAME}",
        rf"(?:unexpected|invalid) keyword argument {_NAME}",
        rf"multiple values for (?:keyword )?argument {_NAME}",
        rf"required (?:positional|keyword-only) arguments?: {_NAME}",
        _MISSING_ARGUMENTS,
        rf"\bNo module named {_NAME}(?:; {_NAME} is not a package)?",
        rf"cannot import name {_NAME} from {_NAME}",
        rf"unsupported operand type\(s\) for \S{{1,12}}(?: or \w+\(\))?: {_NAME}(?: and {_NAME})?",
        rf"{_SYMBOL} not supported between instances of {_NAME} and {_NAME}",
        rf"bad operand type for \w{{1,10}} ?\S{{0,3}}: {_NAME}",
        rf"can only \w{{1,20}} [\w ]{{1,20}} \(not {_NAME}\)",
        rf"unhashable type: {_NAME}",
        rf"(?:required|must be [\w ,.-]{{1,80}}|got|expected [\w ,.-]{{1,80}}), not {_NAME}",
        rf"argument of type {_NAME} is not",
        rf"{_NAME} codec can't",
        rf"<(?:class|enum|flag|module) {_NAME}",
        rf"Can't get attribute {_NAME} on",
        rf"Can't pickle local object {_NAME}",
        rf"cannot pickle {_NAME} object",
        rf"[Uu]nknown format code {_NAME} for object of type {_NAME}",
        r"\boption ('--?[\w-]{1,60}'|\"--?[\w-]{1,60}\")",
        rf"is not of type {_NAME}",  # jsonschema
        rf"(?:Invalid value for|Missing (?:argument|option|parameter)) {_NAME}",  # click
        rf"\(reading {_NAME}\)",  # Node.js: Cannot read properties of undefined
        rf"(?:[Ee]xpect(?:ed|ing)|[Mm]issing|[Uu]nmatched)(?: one of)? {_SYMBOL}(?:,? or {_SYMBOL})?",
        rf"{_SYMBOL} was never closed",
        rf"parenthesis {_SYMBOL} does not match opening parenthesis {_SYMBOL}",
        r"returned non-zero exit status (\d+)",
        r"died with (<Signals\.\w+: \d+>)",
    )
)

_TYPE_ALIASES = {
    "sre_constants.error": "re.error",
    "re.PatternError": "re.error",
    "concurrent.futures._base.TimeoutError": "TimeoutError",
    "asyncio.exceptions.TimeoutError": "TimeoutError",
    "socket.timeout": "TimeoutError",
    "IOError": "OSError",
    "EnvironmentError": "OSError",
    "torch.cuda.OutOfMemoryError": "torch.OutOfMemoryError",
    "numpy.core._exceptions._ArrayMemoryError": "numpy._core._exceptions._ArrayMemoryError",
    "numpy.core._exceptions.MemoryError": "numpy._core._exceptions._ArrayMemoryError",
    "numpy.AxisError": "numpy.exceptions.AxisError",
}


def canonical_type(exception: str) -> str:
    """Return one name for the names that one exception type has in different versions."""
    return _TYPE_ALIASES.get(exception, exception)


def canonical_wording(message: str) -> str:
    """Return ``message`` in the words of one version of CPython, hints left out."""
    for pattern, replacement in _REWRITES:
        message = pattern.sub(replacement, message)
    return message


def kept_spans(message: str, source: str = "") -> list[tuple[int, int]]:
    """Return where the names stand that tell the bug, in order and without overlaps.

    Args:
        message: what the program said.
        source: lines of the program; what they quote too is the programmer's own.
    """
    spans = [
        span
        for pattern in _KEPT
        for match in pattern.finditer(message)
        for span in match.regs[1:]
        if span[0] >= 0
    ]
    if source:
        spans += [
            match.span()
            for match in _QUOTED.finditer(message)
            if f"'{match['text']}'" in source or f'"{match["text"]}"' in source
        ]
    spans.sort()
    apart: list[tuple[int, int]] = []
    for span in spans:
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
    return apart
