"""`whet expect --lines`: what each statement of a file takes, beside what its comments expect."""

import difflib
import json
import math
import os
from collections.abc import Sequence
from importlib.util import decode_source
from pathlib import Path

from whet.core.errors import NothingCounted, UnknownTarget
from whet.core.observations.evidence import GUESSES, LINES, Evidence
from whet.core.text.code_lines import functions_in
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    integer,
    number,
    records,
    rows,
)
from whet.core.value_class import value_class
from whet.host.process.console import Console
from whet.host.python.module_search import files_named
from whet.host.trial.agent_tasks import AgentTasks
from whet.measurement.expectations.comments import comments_in
from whet.measurement.expectations.counted_lines import (
    Count,
    CountedLines,
    added,
    counted_lines,
    function_span,
    statement_count,
)
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.run import RunResult, run

_HALF, _COLUMNS = 0.5, 4
_MOST_GUESSES = 500


@value_class(kw_only=True)
class LinesTarget:
    """The statements that are asked for.

    Attributes:
        path: the file.
        name: the file as the user calls it.
        source: what it says.
        span: first and last line of what is asked for.
    """

    path: Path
    name: str
    source: str
    span: tuple[int, int]


@value_class(kw_only=True)
class LinesReport:
    """What the statements of a file took in one trial.

    Attributes:
        result: the trial.
        target: what was asked for.
        lines: the statements.
        processes: how many processes ran the file.
        marks: how often a statement was counted, in all of them.
        threads: the most threads that ran the file in one of them.
        cost_seconds: what the counting took, which is subtracted.
        was_cut_short: whet ended the program: what ran at that moment isn't counted.
    """

    result: RunResult
    target: LinesTarget
    lines: CountedLines
    processes: int
    marks: int
    threads: int
    cost_seconds: float
    was_cut_short: bool


def find_target(words: str, cwd: Path) -> LinesTarget:
    """Return the statements that ``FILE.py`` or ``FILE.py:FUNCTION`` means.

    Raises:
        UnknownTarget: if there is no such file or function, or the file isn't Python.
        BadExpectation: if a comment in it can't be read.
    """
    name, _, function = words.partition(":")
    path = _file(name, cwd)
    try:
        source = decode_source(path.read_bytes())  # as Python reads it
        functions = functions_in(source)
        span = (1, len(source.splitlines()))
        if function:
            span = function_span(source, _function(function, functions, name))
    except (OSError, SyntaxError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"it isn't valid Python: {error}"
        raise UnknownTarget(
            f"whet can't count the lines of `{name}`: {reason}", hint="fix that first"
        ) from error
    comments_in(source, name)  # what can't be read is refused before the command runs
    return LinesTarget(path=path, name=name, source=source, span=span)


def count_lines(
    bench: Workbench, request: TrialRequest, target: LinesTarget, console: Console | None
) -> LinesReport:
    """Run a command, and count and time the statements of one file in it.

    Raises:
        NothingCounted: if the command never ran the file.
    """
    wish = _wish(target)
    result = run(bench, request, console, verb="expect", tasks=AgentTasks(lines=wish))
    evidence = next(each for each in result.evidence if each.kind == LINES)
    report = report_of(result, target, as_record(decoded(evidence.data), "lines"))
    guesses = _guesses_in(report)
    if guesses:
        detail: dict[str, object] = {"guesses": guesses}
        bench.notebook.observe(result.entry.number, Evidence(kind=GUESSES, detail=detail))
    return report


def _guesses_in(report: LinesReport) -> list[dict[str, object]]:
    """Return what comments expected and what came, for the score; a run that failed says nothing."""
    outcome = report.result.entry.outcome
    if report.was_cut_short or outcome is None or outcome.failure is not None:
        return []
    source = report.target.source.splitlines()
    guesses: list[dict[str, object]] = []
    for each in report.lines.scores[:_MOST_GUESSES]:
        if each.was_met is None:
            continue
        of = each.comment.range
        # A statement that moves is the same one.
        statement = source[each.first - 1].partition("# expect")[0].strip()
        guesses.append(
            {
                "file": str(report.target.path), "statement": statement, "text": each.comment.text,
                "kind": of.kind.value, "met": each.was_met,
                "ratio": None if of.guess is None else each.ratio,
            }
        )  # fmt: skip
    return guesses


def report_of(result: RunResult, target: LinesTarget, told: JsonObject) -> LinesReport:
    """Return what was counted, put together with the file."""
    processes = records(told, "processes")
    if not processes:
        trial = result.entry.number
        if told.get("unwoven"):
            raise NothingCounted(
                f"`{target.name}` ran in trial {trial}, but something else compiled it first",
                hint="count a file that the program imports, or the script itself",
            )
        raise NothingCounted(
            f"trial {trial} never ran `{target.name}`",
            hint=f"`whet where {target.path.stem} -- COMMAND` shows which file Python loads",
        )
    of_processes = [_counts(each) for each in processes]
    wanted = statement_count(target.source)
    if any(len(each) != wanted for each in of_processes):
        raise MalformedRecordError(f"the counts aren't of the {wanted} statements of the file")
    counts = added(of_processes)
    outcome = result.entry.outcome
    assert outcome is not None
    return LinesReport(
        result=result,
        target=target,
        lines=counted_lines(target.source, counts, target.name, target.span),
        processes=len(processes),
        marks=sum(integer(each, "marks") for each in processes),
        threads=max(integer(each, "threads") for each in processes),
        cost_seconds=sum(_cost(each) for each in processes),
        was_cut_short=outcome.timed_out or outcome.overran_output or outcome.signal is not None,
    )


def _cost(process: JsonObject) -> float:
    beside = number(process, "marks") * number(process, "beside_seconds")
    return number(process, "mark_seconds") + beside


def _counts(process: JsonObject) -> list[Count]:
    beside = number(process, "beside_seconds")
    counts: list[Count] = []
    for numbers in rows(process.get("rows"), _COLUMNS):
        runs, measured, marks, kept = map(_finite, numbers)
        counting = marks * beside
        net = max(measured - counting, 0.0)
        is_rough = counting > _HALF * measured
        counts.append(
            Count(
                runs=int(runs),
                # Of what is mostly the counting's own time, only the most that it can be is known.
                seconds=measured if is_rough else net,
                least_seconds=net,
                kept_bytes=int(kept),
            )
        )
    return counts


def _finite(value: object) -> float:
    found = number({"a count": value}, "a count")
    if not math.isfinite(found):
        raise MalformedRecordError(f"a count is {found}")
    return found


def _wish(target: LinesTarget) -> str:
    first, last = target.span
    probe: dict[str, object] = {
        "number": 0, "title": target.name, "kind": "line", "path": os.path.realpath(target.path),
        "module": "", "line": 0, "last": 0, "name": "", "condition": "", "after": 0, "every": 1,
        "actions": [],
    }  # fmt: skip
    lines = {"count": statement_count(target.source), "first": first, "last": last}
    return json.dumps({"probes": [probe], "ranks": [], "most_calls": 0, "lines": lines})


def _file(name: str, cwd: Path) -> Path:
    path = cwd / name
    if path.is_file():
        return path
    matches = list(files_named(name, [cwd]))
    if len(matches) == 1:
        return Path(matches[0])
    if matches:
        found = ", ".join(f"`{os.path.relpath(each, cwd)}`" for each in matches[:5])
        raise UnknownTarget(f"`{name}` matches {found}", hint="write the full path of one")
    raise UnknownTarget(f"there is no file `{path}`", hint="check the path and `--cwd`")


def _function(name: str, functions: Sequence[str], file: str) -> str:
    matches = [each for each in functions if each == name or each.endswith(f".{name}")]
    if name in functions:
        return name
    if len(matches) == 1:
        return matches[0]
    near = matches or difflib.get_close_matches(name, functions, n=3, cutoff=0.5)
    names = " or ".join(f"`{each}`" for each in near)
    raise UnknownTarget(
        f"`{file}` has no function `{name}`",
        hint=f"did you mean {names}?" if near else f"leave `:{name}` out to count the whole file",
    )
