"""The expectations of a request: from options and from files, checked together."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from whet.core.errors import BadExpectation
from whet.core.expectation import Expectation, check_together
from whet.core.measurements import SECTION_ENDINGS
from whet.measurement.expectations.section_comments import section_expectations
from whet.workbench.trials.payload import read_payload

_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?:nan|inf)\b"
_UNIT = r"(?:[nuµμm]?s|min|[hd]|[kKmMgGtT]i?[bB]|[bB])\b"
_HAS_UNIT = re.compile(rf"[0-9.]\s*{_UNIT}")


def stated(words: Sequence[str], files: Sequence[str] = ()) -> tuple[Expectation, ...]:
    """Return what was expected in options and in files, each statement once.

    Raises:
        BadExpectation: if one can't be read, or two contradict each other.
        PayloadMissing, PayloadUnreadable: if a file can't be read.
    """
    expectations = {each.text: each for each in map(Expectation.parse, words)}
    for name in files:
        expectations |= {each.text: each for each in _in_file(name)}
    check_together(list(expectations.values()))
    return tuple(expectations.values())


def _in_file(name: str) -> list[Expectation]:
    source = read_payload(Path(name), name).decode("utf-8", "replace")
    if name.endswith(".py"):
        return _in_python(name, source)
    lines = source.splitlines()
    expectations: list[Expectation] = []
    for number, line in enumerate(lines, 1):
        text = re.sub(r"(^|\s)#.*", "", line).strip()
        if not text:
            continue
        try:
            expectations.append(Expectation.parse(text))
        except BadExpectation as error:
            raise BadExpectation(f"{name}:{number}: {error}", hint=error.hint) from error
    if not expectations:
        raise BadExpectation(
            f"`{name}` states no expectation",
            hint="write one in each line, such as `seconds ~ 3s` or `peak < 2G`",
        )
    return expectations


def _in_python(name: str, source: str) -> list[Expectation]:
    """Return what the comments at a program's sections expect."""
    try:
        texts = section_expectations(source, name)
    except (SyntaxError, ValueError) as error:
        raise BadExpectation(
            f"`{name}` isn't valid Python: {error}", hint="fix that first"
        ) from error
    if not texts:
        raise BadExpectation(
            f"`{name}` states no expectation of a section",
            hint="write `# expect: 40 ms` behind `with whet.section(...):`; for lines:"
            f" `whet expect --lines {name}`",
        )
    return [Expectation.parse(each) for each in texts]


def measures_of(expectations: Sequence[Expectation], measures: Mapping[str, str]) -> dict[str, str]:
    """Return where to read the expected numbers in the output that no `--measure` names.

    A program that prints ``loss: 3.9``, ``loss=3.9`` or ``"loss": 3.9`` reports its `loss` so.
    If a statement has a unit, the unit that the program prints counts too: ``took: 3 ms``.
    """
    names = {name for each in expectations for name in each.names}
    with_unit = {
        name for each in expectations if _HAS_UNIT.search(each.text) for name in each.names
    }
    return {
        name: rf"\b{re.escape(name)}\b[\"']?[ \t]*[:=]?[ \t]*"
        + (rf"((?:{_NUMBER})(?:[ \t]*{_UNIT})?)" if name in with_unit else rf"({_NUMBER})")
        for name in sorted(names - set(measures))
        if not name.endswith(SECTION_ENDINGS)
    }
