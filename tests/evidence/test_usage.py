"""What a command line lacks is told where the failure is about it, and only there."""

import pytest

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.observations.clue import Placing, Sureness
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.site import Site
from whet.evidence.printed.usage import usage_clues

AT = Placing("/w")
REFUSED = Failure(
    signature=FailureSignature(kind=FailureKind.USAGE_ERROR, message="m"),
    summary="the following arguments are required: --config",
)
ARGPARSE = """\
usage: prog.py [-h] --config CONFIG
               files [files ...]
prog.py: error: the following arguments are required: --config
"""


def raised(exception: str, operation: str) -> Outcome:
    signature = FailureSignature(kind=FailureKind.EXCEPTION, exception=exception)
    frame = Frame(path="/w/prog.py", line=3, function="main", in_user_code=True)
    site = Site(at="prog.py:main:3", operation=operation)
    failure = Failure(signature=signature, summary="m", site=site, frames=(frame,))
    return Outcome(exit_code=1, failure=failure)


@pytest.mark.parametrize(
    ("command", "given"),
    [
        (["python", "prog.py", "a"], "1 argument"),
        (["python", "-m", "pkg.tool"], "0 arguments"),
        (["python", "-X", "dev", "prog.py", "a", "b"], "2 arguments"),
    ],
)
def test_a_line_that_reads_more_than_is_given_is_the_cause(command: list[str], given: str) -> None:
    (clue,) = usage_clues(raised("IndexError", "sys.argv[3]"), command, AT)

    assert clue.says == f"prog.py:3 reads `sys.argv[3]`, and the command gives {given}"
    assert clue.sureness is Sureness.SEEN


@pytest.mark.parametrize(
    ("outcome", "command"),
    [
        (raised("IndexError", "rows[3]"), ["python", "prog.py"]),
        (raised("KeyError", "sys.argv[3]"), ["python", "prog.py"]),
        (raised("IndexError", "sys.argv[3]"), ["make", "run"]),
        (Outcome(), ["python", "prog.py"]),
    ],
)
def test_another_failure_tells_nothing_of_the_command_line(
    outcome: Outcome, command: list[str]
) -> None:
    assert list(usage_clues(outcome, command, AT)) == []


def test_what_a_program_expects_is_the_next_step() -> None:
    outcome = Outcome(exit_code=2, failure=REFUSED, stderr=BytesOutput(ARGPARSE.encode()))
    (clue,) = usage_clues(outcome, ["python", "prog.py"], AT)

    assert clue.says.endswith(REFUSED.summary)
    assert (
        clue.next_step
        == "give it what it expects: `usage: prog.py [-h] --config CONFIG files [files ...]`"
    )


def test_a_refusal_without_a_usage_message_tells_nothing() -> None:
    outcome = Outcome(exit_code=2, failure=REFUSED, stderr=BytesOutput(b"bad option\n"))

    assert list(usage_clues(outcome, ["python", "prog.py"], AT)) == []
