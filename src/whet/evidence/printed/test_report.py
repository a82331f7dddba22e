"""The failed tests in the output of pytest and unittest."""

import re
from collections.abc import Sequence
from itertools import pairwise

from whet.core.failure import Frame
from whet.core.value_class import value_class
from whet.evidence.printed.printed_path import path_printed
from whet.evidence.printed.python_traceback import Traceback, find_tracebacks


@value_class(kw_only=True)
class TestReport:
    """The failures of one test session.

    Attributes:
        tests: identifiers of the tests that failed, sorted.
        failure: how the first of these failed; stacks may be incomplete.
        headline: how its summary shows that.
        is_collection: no test was started, because one could not be imported.
    """

    __test__ = False  # pytest would collect a class of this name

    tests: tuple[str, ...]
    failure: Traceback
    headline: str
    is_collection: bool = False


_PYTEST_END = re.compile(
    r"=* ?(?:(?:\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun)"
    r"(?:, )?)+|no tests ran) in [\d.]+s\b.*"
)
_SUMMARY = re.compile(r"(?P<what>FAILED|ERROR) (?P<test>\S.*?)(?: - (?P<told>.*))?")
_SECTION = re.compile(r"_{2,} (?P<title>\S.*?) _{2,}")
_END_OF_SECTIONS = re.compile(r"=+ (?!FAILURES|ERRORS).+ =+|!+ .+ !+|\d+ (?:failed|error).* in .*")
_PREFIX_OF_TITLE = re.compile(r"ERROR (?:at (?:setup|teardown) of|collecting) ")
_PLACE = re.compile(
    r"(?P<path>[^\s:][^:\n]*):(?P<line>\d+): ?(?:in (?P<function>.+)|(?P<type>[\w.]*))"
)
_PLACE_AND_MESSAGE = re.compile(
    r"(?P<path>/[^:\n]*):(?P<line>\d+): (?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?"
)
_DEFINITION = re.compile(r"[ >]*(?:async )?def (?P<name>\w+)\(")
_TYPED = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?")
_ERROR_LINE = re.compile(r"E   +(?P<text>.*)|E$")
_CONFTEST = re.compile(r"ImportError while loading conftest '(?P<path>[^'\n]*)'\.?")
_LAST_LINES = 40

_UNITTEST_END = re.compile(r"FAILED \((?:\w+ ?\w*=\d+(?:, )?)+\)")
_UNITTEST_TITLE = re.compile(r"(?:FAIL|ERROR): (?P<name>\S+) \((?P<where>[^)\n]+)\).*")
_EDGE = "=" * 70


def read_pytest_report(lines: Sequence[str]) -> TestReport | None:
    """Return the report of a failed pytest session, or None if this isn't one."""
    end = lines[-_LAST_LINES:]
    if not any(_PYTEST_END.fullmatch(line.rstrip()) for line in end):
        return None
    messages: dict[str, str] = {}
    for line in lines:
        tracebacks = (
            _SUMMARY.fullmatch(line.rstrip()) if line.startswith(("FAILED ", "ERROR ")) else None
        )
        if tracebacks is not None:
            messages[tracebacks["test"]] = tracebacks["told"] or ""
    sections = _sections(lines)
    if not messages:
        messages = {_PREFIX_OF_TITLE.sub("", title): "" for title in sections}
    if not messages:
        return None
    tests = tuple(sorted(messages))
    failure = _failure_in(_section_of(tests[0], sections)) or _from_lines(lines, messages[tests[0]])
    headline = _whole(messages[tests[0]], failure)
    return TestReport(
        tests=tests,
        failure=failure,
        headline=f"{tests[0]} - {headline}",
        is_collection=not any("::" in test for test in tests),
    )


def _whole(summary: str, failure: Traceback) -> str:
    """Return the summary of a failure, in full where pytest has cut it to the width of a terminal."""
    said = f"{failure.exception}: {failure.message}".strip(": ")
    first = said.split("\n", 1)[0]
    is_cut = summary.endswith("...") and first.startswith(summary.removesuffix("..."))
    return first if is_cut else summary or said


def read_conftest_failure(lines: Sequence[str]) -> Traceback | None:
    """Return why pytest could not load a conftest.py, or None if it did not say so."""
    for index, line in enumerate(lines):
        if _CONFTEST.match(line):
            return _failure_in(lines[index + 1 :])
    return None


def read_unittest_report(lines: Sequence[str]) -> TestReport | None:
    """Return the report of a failed unittest session, or None if this isn't one."""
    if not any(_UNITTEST_END.match(line) for line in lines[-_LAST_LINES:]):
        return None
    starts = [index for index, line in enumerate(lines) if line == _EDGE]
    failures: dict[str, tuple[str, Traceback]] = {}
    for start, end in pairwise([*starts, len(lines)]):
        title = _UNITTEST_TITLE.fullmatch(lines[start + 1]) if start + 1 < end else None
        tracebacks = find_tracebacks(lines[start + 2 : end])
        if title is not None and tracebacks:
            test = _unittest_name(title["name"], title["where"])
            failures.setdefault(test, (lines[start + 1], tracebacks[0]))
    if not failures:
        return None
    tests = tuple(sorted(failures))
    _, failure = failures[tests[0]]
    headline = f"{failure.exception}: {failure.message}".strip(": ").split("\n", 1)[0]
    return TestReport(tests=tests, failure=failure, headline=f"{tests[0]} - {headline}")


def _unittest_name(name: str, where: str) -> str:
    """Name a test as Python 3.11 does: before, the brackets didn't contain the method."""
    return where if where.endswith("." + name) else f"{where}.{name}"


def _sections(lines: Sequence[str]) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        title = _SECTION.fullmatch(line.rstrip()) if line.startswith("__") else None
        if title is not None:
            current = sections.setdefault(title["title"], [])
        elif _END_OF_SECTIONS.fullmatch(line.rstrip()):
            current = None
        elif current is not None:
            current.append(line)
    return sections


def _section_of(test: str, sections: dict[str, list[str]]) -> Sequence[str]:
    name = test.split("::", 1)[-1].replace("::", ".")
    for title, lines in sections.items():
        if _PREFIX_OF_TITLE.sub("", title) in {name, test}:
            return lines
    return ()


def _failure_in(section: Sequence[str]) -> Traceback | None:
    """Read one failure in pytest's own style, long or short, or in Python's."""
    plain = find_tracebacks(section)
    if plain:
        return plain[-1]
    stack: list[tuple[Frame, int]] = []
    function, exception_name, errors, was_error = "", "", list[str](), False
    for line in section:
        error = _ERROR_LINE.fullmatch(line)
        if error is not None:
            errors = [*errors, error["text"] or ""] if was_error else [error["text"] or ""]
        was_error = error is not None
        definition = _DEFINITION.match(line)
        place = None if line.startswith((" ", ">")) else _PLACE.fullmatch(line.rstrip())
        if definition is not None:
            function = definition["name"]
        elif place is not None:
            name = place["function"] or function
            stack.append((_frame(place["path"], place["line"], name), 1))
            exception_name = place["type"] or ""
        elif line.startswith(("During handling of", "The above exception was")):
            stack = []
    if not errors:
        return None
    exception, message = _type_and_message(errors[0], exception_name)
    return Traceback(exception=exception, message=message, stack=tuple(stack))


def _type_and_message(error: str, raised: str) -> tuple[str, str]:
    """Return the exception's type and message from its first line and the type at its place."""
    typed = _TYPED.fullmatch(error)
    if typed is not None and typed["type"].rsplit(".", 1)[-1] == (raised or _class_in(typed)):
        return typed["type"], typed["message"] or ""
    if error.startswith("assert ") or not raised:
        return raised or "AssertionError", error
    return raised, error


def _class_in(typed: re.Match[str]) -> str:
    """Return the name at the end of a dotted one if it looks like that of a class."""
    name = str(typed["type"]).rsplit(".", 1)[-1]
    return name if name[:1].isupper() else ""


def _from_lines(lines: Sequence[str], told: str) -> Traceback:
    """Read a failure from ``--tb=line`` or from the short summary alone."""
    typed = _TYPED.fullmatch(told)
    exception = typed["type"] if typed is not None else ""
    for line in lines:
        match = _PLACE_AND_MESSAGE.fullmatch(line)
        if match is not None and exception in {"", match["type"]}:
            frame = _frame(match["path"], match["line"], "")
            return Traceback(
                exception=match["type"], message=match["message"] or "", stack=((frame, 1),)
            )
    # The summary cuts its messages at the width of the terminal.
    return Traceback(exception=exception or ("AssertionError" if told else ""))


def _frame(path: str, line: str, function: str) -> Frame:
    return Frame(path=path_printed(path), line=int(line[:9]), function=function, in_user_code=False)
