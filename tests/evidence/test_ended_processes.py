"""An error that ended another process is told, and firmly only where both have something in common."""

import pytest

from whet.core.failure import Frame
from whet.core.observations.clue import Placing, Sureness
from whet.evidence.clues.ended_processes import later_process_clues
from whet.evidence.variables.kept_failure import KeptError, KeptFailure, KeptFrame, Variable

AT = Placing("/p")
PATH = "/tmp/x/part-7.json"


def kept(
    pid: int, kind: str, line: int, rank: int | None = None, **variables: object
) -> KeptFailure:
    path = f"/p/{kind}.py"
    frame = KeptFrame(
        frame=Frame(path=path, line=line, function="main", in_user_code=True),
        name="main", module="m", first_line=1, position=None,
        variables=tuple(Variable(name=name, value=each) for name, each in variables.items()),
    )  # fmt: skip
    error = KeptError(type=kind, arguments=("m",), frames=(frame,))
    sources = {path: "\n" * (line - 1) + "with open(path) as file:\n"}
    return KeptFailure(pid=pid, rank=rank, where="main", thread="", error=error, sources=sources)


def told(*others: KeptFailure, of: KeptFailure) -> list[tuple[int, Sureness]]:
    clues = later_process_clues(of, of.error, [of, *others], AT)
    return [(each.line, each.sureness) for each in clues]


PARENT = kept(5, "FileNotFoundError", 12, path=PATH, folder="/tmp/x/all")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (kept(6, "ValueError", 10, out=PATH), [(10, Sureness.SEEN)]),
        (kept(6, "ValueError", 10, out="/tmp/x/part-8.json"), [(10, Sureness.POSSIBLE)]),
        (kept(6, "ValueError", 10, folder="/tmp/x/all"), [(10, Sureness.POSSIBLE)]),
        (kept(6, "ValueError", 10, mode="w"), [(10, Sureness.POSSIBLE)]),
        (kept(4, "ValueError", 10, out=PATH), []),  # it began before: the reported error may be why
    ],
)
def test_what_the_failing_line_uses_ties_an_error_to_the_one_that_is_reported(
    other: KeptFailure, expected: list[tuple[int, Sureness]]
) -> None:
    assert told(other, of=PARENT) == expected


def test_the_one_error_that_a_process_ended_with_is_why_its_exit_code_is_complained_of() -> None:
    waiting = kept(5, "subprocess.CalledProcessError", 3)
    first, second = kept(6, "ValueError", 10), kept(7, "KeyError", 20)
    assert told(first, of=waiting) == [(10, Sureness.SEEN)]
    assert [each for _, each in told(first, second, of=waiting)] == [Sureness.POSSIBLE] * 2


def test_equal_errors_of_several_processes_are_told_once() -> None:
    several = [kept(pid, "ValueError", 10) for pid in (6, 7, 8)]
    (clue,) = later_process_clues(PARENT, PARENT.error, several, AT)
    assert (
        clue.says
        == "3 other processes of the program ended with ValueError: m, raised at ValueError.py:10"
    )


def test_the_ranks_of_a_job_end_because_of_each_other() -> None:
    assert told(kept(6, "ValueError", 10, rank=1), of=kept(5, "RuntimeError", 2, rank=0)) == []
