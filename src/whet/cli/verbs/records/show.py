"""``whet show``: one recorded trial."""

import sys
from collections.abc import Collection, Sequence

import click

from whet.cli.console import answer, answer_bytes, answer_json, answer_lines, styled, verdict_word
from whet.cli.display.expected import score_lines
from whet.cli.display.sections import (
    MANY,
    section_lines,
    section_measures,
    sections_json,
    timelines_in,
)
from whet.cli.display.summary import entry_json, failure_words, outcome_words
from whet.cli.options.trial import json_option
from whet.cli.options.trial_name import TrialCommand, TrialName
from whet.core.errors import OutputNotKept
from whet.core.observations.evidence import (
    FAILURES,
    PROBES,
    PROFILE,
    SYSTEM_CALLS,
    TIMELINE,
    Evidence,
)
from whet.core.observations.resources import ResourceUse, sparkline
from whet.core.observations.timeline import Timeline
from whet.core.outcome import Outcome
from whet.core.output import Output
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.core.text.record import as_record, decoded, records
from whet.core.text.shell_words import joined
from whet.core.trial import CodeState, Trial
from whet.evidence.signature.limit_met import unnamed_limits
from whet.host.trial.known_secrets import veiled_data
from whet.host.trial.trial_secrets import masked_trial
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import open_workbench

_SHOWN_BYTES = 8000
_SHOWN_FAILURES = 3
_CURVE_WIDTH = 40
_MOST_PROCESSES = 3


@click.command(cls=TrialCommand)
@click.argument("trial", type=TrialName(), required=False)
@click.option("--output", is_flag=True, help="Print the program's whole output, and nothing else.")
@click.option(
    "--locals", "is_whole", is_flag=True, help="Show all frames of the failure, libraries included."
)
@click.option("--probes", "shows_probes", is_flag=True, help="Show all output of its probes.")
@json_option
def command(
    trial: int | str | None, *, output: bool, is_whole: bool, shows_probes: bool, as_json: bool
) -> None:
    """Show one recorded trial (the last one without a number).

    For a trial that ran with `--locals`, this includes the variables at the failure.
    """
    with open_workbench() as bench:
        entry = bench.notebook.find(trial)
        failures = bench.notebook.evidence_of(entry.number, FAILURES)
        calls = bench.notebook.evidence_of(entry.number, SYSTEM_CALLS)
        probed = bench.notebook.evidence_of(entry.number, PROBES)
        timelines = timelines_in(bench.notebook.evidence_of(entry.number, TIMELINE))
        if as_json:
            use = bench.notebook.resources_of(entry.number)
            answer_json(
                {
                    **entry_json(entry),
                    "failures": _as_json(failures),
                    "probed": [_probes_json(each) for each in probed],
                    "sections": sections_json(timelines),
                    "timelines": [each.to_json() for each in timelines],
                    "resources": None if use is None else use.to_json(),
                    "system_calls": _calls_json(entry, calls),
                }
            )
        elif output:
            _write_whole(entry)
        else:
            use = bench.notebook.resources_of(entry.number)
            _show(entry, use, (*failures, *calls), timelines, is_whole=is_whole)
            for each in probed:
                _probes(each, entry.number, is_whole=shows_probes)
            if bench.notebook.evidence_of(entry.number, PROFILE):
                words = f"--- its profile: whet profile --show {entry.number}"
                answer(styled(words, "dim", sys.stdout))
            if entry.outcome is not None:
                _streams(entry.outcome)


def _show(
    entry: Entry,
    use: ResourceUse | None,
    evidence: Sequence[Evidence],
    timelines: Sequence[Timeline],
    *,
    is_whole: bool,
) -> None:
    rows = [("trial", f"{entry.number}  ({entry.verb}, {entry.started_at[:19].replace('T', ' ')})")]
    if entry.name:
        rows.append(("name", entry.name))
    rows += _asked(entry.trial)
    if entry.note:
        rows.append(("note", entry.note))
    if entry.changes:
        rows.append(("changed", entry.changes))
    if entry.outcome is None:
        rows.append(("outcome", "none: it couldn't start, it still runs, or whet was killed"))
    else:
        rows += _came(entry, entry.outcome, section_measures(timelines))
        rows += [] if use is None else _resource_rows(use)
    for name, value in rows:
        answer(f"{styled(f'{name:>10}', 'dim', sys.stdout)}  {value}")
    _sections(timelines)
    if entry.outcome is not None and entry.outcome.hung_seconds is not None:
        answer(styled(f"--- all stacks: whet stacks --trial {entry.number}", "dim", sys.stdout))
    for each in evidence:
        if each.kind == FAILURES:
            _failures(each, is_whole=is_whole)
        else:
            _calls(entry, each, is_whole=is_whole)


def _sections(timelines: Sequence[Timeline]) -> None:
    lines = section_lines(timelines, MANY)
    if lines:
        answer(styled("--- sections", "dim", sys.stdout))
    for line in lines:
        answer(line)


def _failures(evidence: Evidence, *, is_whole: bool) -> None:
    """Show what the frames of failures held, those of the first few processes or tests."""
    from whet.evidence.variables.failure_text import failure_lines
    from whet.evidence.variables.kept_failure import kept_failures

    failures = kept_failures(evidence.data)
    for failure in failures if is_whole else failures[:_SHOWN_FAILURES]:
        first, *rest = failure_lines(failure, is_whole=is_whole)
        answer(styled(f"--- what failed {first}", "dim", sys.stdout))
        for line in rest:
            answer(line)
    if not is_whole and len(failures) > _SHOWN_FAILURES:
        more = len(failures) - _SHOWN_FAILURES
        answer(styled(f"--- and {more} more failures: --locals", "dim", sys.stdout))


def _calls(entry: Entry, evidence: Evidence, *, is_whole: bool) -> None:
    """Show which system calls failed."""
    from whet.cli.display.call_lines import report_lines
    from whet.workbench.inspect.syscalls import calls_in, report_of

    calls = calls_in([evidence])
    if calls is not None:
        answer(styled("--- system calls", "dim", sys.stdout))
        for line in report_lines(report_of(calls, entry.outcome), is_whole=is_whole):
            answer(line)


def _calls_json(entry: Entry, evidence: Sequence[Evidence]) -> dict[str, object] | None:
    if not evidence:
        return None
    from whet.cli.verbs.inspection.syscalls import report_json
    from whet.workbench.inspect.syscalls import calls_in, report_of

    calls = calls_in(evidence)
    return None if calls is None else report_json(report_of(calls, entry.outcome))


def _probes(evidence: Evidence, number: int, *, is_whole: bool) -> None:
    from whet.cli.display.probed import show_probes
    from whet.evidence.clues.probes import probe_report

    show_probes(probe_report(evidence.data), number, is_whole=is_whole)


def _probes_json(evidence: Evidence) -> dict[str, object]:
    from whet.cli.verbs.inspection.probe import report_json
    from whet.evidence.clues.probes import probe_report

    return report_json(probe_report(evidence.data))


def _as_json(evidence: Sequence[Evidence]) -> list[object]:
    failures: list[object] = []
    for each in evidence:
        failures += records(as_record(decoded(each.data), "evidence"), "failures")
    return failures


def _asked(trial: Trial) -> list[tuple[str, str]]:
    trial = masked_trial(trial)
    rows = [("command", joined(trial.command)), ("folder", trial.cwd)]
    rows += [("env", f"{name}={value}") for name, value in trial.environment.items()]
    rows += [("unset", " ".join(trial.unset))] if trial.unset else []
    rows += [("reset", step.command) for step in trial.reset]
    rows += [("payload", f"{payload.name}  {payload.digest[:12]}") for payload in trial.payloads]
    if trial.revision:
        rows.append(("revision", trial.revision[:12]))
    rows += [("package", f"{name} {version}") for name, version in trial.packages.items()]
    if trial.code is not None:
        rows.append(("code", _code_of(trial.code)))
    if trial.surroundings.interpreter:
        rows.append(("python", trial.surroundings.interpreter))
    return rows


def _code_of(code: CodeState) -> str:
    if not code.commit:
        return f"the files in {code.repository}"
    return f"{code.commit[:12]}{' and uncommitted changes' if code.snapshot else ''}"


def _came(entry: Entry, outcome: Outcome, shown_below: Collection[str]) -> list[tuple[str, str]]:
    verdict = "" if entry.verdict is None else verdict_word(entry.verdict, sys.stdout)
    usage = (
        f"{shown_seconds(outcome.wall_seconds)} wall, {shown_seconds(outcome.cpu_seconds)} CPU,"
        f" {shown_bytes(outcome.peak_rss_bytes)} peak"
    )
    rows = [("verdict", verdict), ("ended", outcome_words(outcome)), ("used", usage)]
    rows += [("limited", way) for way in outcome.limited_by]
    if outcome.failure is not None:
        rows.append(("failure", failure_words(outcome.failure)))
        rows.append(("kind", outcome.failure.kind.value))
    if entry.expectation:
        rows += [("expected", each) for each in score_lines(entry.scores)]
    rows += [
        ("measured", f"{name} = {value:g}")
        for name, value in outcome.measurements.items()
        if name not in shown_below
    ]
    rows += [("note", note) for note in (*outcome.notes, *unnamed_limits(outcome))]
    return rows


def _streams(outcome: Outcome) -> None:
    for name, stream in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        if stream.size_bytes:
            cut = stream.size_bytes > _SHOWN_BYTES
            size = shown_bytes(stream.size_bytes)
            more = f", the last {shown_bytes(_SHOWN_BYTES)}; all: --output" if cut else ""
            try:
                tail = _text(stream)
            except OutputNotKept:
                answer(styled(f"--- {name} ({size}): no longer kept", "dim", sys.stdout))
                continue
            answer(styled(f"--- {name} ({size}{more})", "dim", sys.stdout))
            answer_lines(tail.rstrip("\n"))


def _text(stream: Output) -> str:
    # A little more, so that no half of a secret stands at its start.
    tail = veiled_data(stream.tail(2 * _SHOWN_BYTES))[-_SHOWN_BYTES:]
    return tail.decode("utf-8", "backslashreplace")


def _write_whole(entry: Entry) -> None:
    if entry.outcome is None:
        return
    for stream, target in ((entry.outcome.stdout, sys.stdout), (entry.outcome.stderr, sys.stderr)):
        answer_bytes(stream.head(stream.size_bytes), target)


def _resource_rows(use: ResourceUse) -> list[tuple[str, str]]:
    """Return a row for each resource: how it went over time, and the most."""
    rows = [
        ("memory", use.memory_bytes, shown_bytes(max(use.memory_bytes))),
        ("cpu", use.processors, f"{max(use.processors):.1f} processors"),
        ("files", use.files, f"{max(use.files)} open"),
    ]
    if max(use.processes) > 1:
        rows.append(("processes", use.processes, f"{max(use.processes)} at once"))
    for name, column in (("read", use.read_bytes), ("written", use.written_bytes)):
        if max(column):
            rows.append((name, column, shown_bytes(max(column))))
    lines = [
        (name, f"{sparkline(column, _CURVE_WIDTH)}  at most {most}") for name, column, most in rows
    ]
    if len(use.largest) > 1:
        largest = [
            f"{each.name} (pid {each.pid}) {shown_bytes(each.peak_bytes)}"
            for each in use.largest[:_MOST_PROCESSES]
        ]
        lines.append(("largest", ", ".join(largest)))
    samples = shown_count(len(use.seconds), "sample")
    lines.append(("sampled", f"{samples} in {shown_seconds(use.seconds[-1])}"))
    return lines
