"""The exact names of tests in pytest's short summary and in the output of `--collect-only`."""

import re
from collections.abc import Collection

from whet.core.oracle import says_nothing
from whet.core.outcome import Outcome
from whet.core.output import Output
from whet.core.value_class import value_class
from whet.core.verdict import Verdict

_LONGEST_BYTES = 16 * 1024 * 1024
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_FAILED = ("FAILED ", "ERROR ")
_SEPARATOR = " - "
_TYPE = re.compile(r"[A-Za-z_][\w.]*(?=:|$)")
_RAN = re.compile(r"(\S+::.*) (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b")
_TESTS_FAILED = 1  # pytest's exit code for "tests were run, and some failed"


def lines_of(stream: Output) -> list[str]:
    """Return the lines of a stream, without colours."""
    text = stream.tail(_LONGEST_BYTES).decode("utf-8", "surrogateescape")
    return [_COLOUR.sub("", line).rstrip("\r") for line in text.split("\n")]


def collected_tests(outcome: Outcome) -> tuple[str, ...]:
    """Return the names that ``pytest --collect-only -q`` prints, in order."""
    names: list[str] = []
    for line in lines_of(outcome.stdout):
        if "::" in line and not line.startswith((" ", "<", "=", *_FAILED)):
            names.append(line)
        elif names and not line:
            break  # behind the names stand warnings and counts
    return tuple(dict.fromkeys(names))


def failed_tests(outcome: Outcome, names: Collection[str]) -> dict[str, str]:
    """Return those of ``names`` that the summary says failed, in its order, with what it says.

    A name may hold all that stands between name and message: it is looked up, not parsed.
    """
    tests = set(names)
    failures: dict[str, str] = {}
    for line in lines_of(outcome.stdout):
        if not line.startswith(_FAILED):
            continue
        rest = line.partition(" ")[2]
        words = rest.split(_SEPARATOR)
        for count in range(len(words), 0, -1):
            name = _SEPARATOR.join(words[:count])
            if name in tests:
                failures.setdefault(name, _SEPARATOR.join(words[count:]))
                break
    return failures


def told_to_pass(outcome: Outcome, test: str) -> bool:
    """Whether the summary of ``pytest -rp`` says that a test passed: one that is skipped did not."""
    return outcome.exit_code == 0 and f"PASSED {test}" in lines_of(outcome.stdout)


def tests_in_order(outcome: Outcome) -> tuple[str, ...]:
    """Return the tests in the order in which ``pytest --verbose`` says that they ran."""
    found = map(_RAN.match, lines_of(outcome.stdout))
    return tuple(dict.fromkeys(each[1] for each in found if each is not None))


def exception_told(message: str) -> str:
    """Return the class of an exception in a summary; empty if there is none, as of an assert."""
    match = _TYPE.match(message)
    return "" if match is None else match.group()


@value_class
class TestFails:
    """BAD means that one test fails with one exception, whatever the others do.

    Attributes:
        test: its name, as pytest shows it.
        exception: the class; empty: an assertion.
    """

    __test__ = False  # pytest would collect a class of this name

    test: str
    exception: str

    @property
    def description(self) -> str:
        """What BAD means."""
        return f"`{self.test}` fails" + (f" with {self.exception}" if self.exception else "")

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        if says_nothing(outcome) or outcome.timed_out or outcome.signal is not None:
            return Verdict.SKIP
        failures = failed_tests(outcome, (self.test,))
        if self.test in failures:
            is_same = exception_told(failures[self.test]) == self.exception
            return Verdict.BAD if is_same else Verdict.SKIP
        return Verdict.GOOD if outcome.exit_code in {0, _TESTS_FAILED} else Verdict.SKIP
