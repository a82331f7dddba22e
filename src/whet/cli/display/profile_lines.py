"""The lines that show a profile: a summary, a table of at most 15 lines, sentences."""

import os
from collections.abc import Sequence

from whet.core.failure import Frame
from whet.core.observations.profile import BYTES, CPU_SECONDS, GPU_SECONDS, SECONDS, Profile
from whet.core.text.quantity import shown_count, shown_seconds
from whet.measurement.profiles.compilations import compiled_functions
from whet.measurement.profiles.line_table import LineCost, LineTable, lines_of
from whet.measurement.profiles.merge import KERNEL_CPU, RUNS
from whet.measurement.profiles.sentences import Measured, sentences_of
from whet.measurement.profiles.words import UNIT_WORDS, short_kernel, short_path, shown_amount

_LEAST_WAIT = 0.01
_LEAST_SHARE = 0.001
_AMOUNTS = {BYTES: "held", SECONDS: "waits"}
"""Units of which the table shows amounts, with the heading of their column."""


def profile_lines(profile: Profile, measured: Measured | None) -> list[str]:
    """Return the lines that show a profile.

    Args:
        profile: what the profiler saw.
        measured: what the kernel counted of the trial; None: it has no outcome.
    """
    table = lines_of(profile)
    return [
        *_summary(profile, table, measured),
        *_rows(table, profile),
        *sentences_of(profile, measured),
        *(f"note: {each}" for each in profile.notes),
    ]


def _summary(profile: Profile, table: LineTable, measured: Measured | None) -> list[str]:
    total = table.total
    if profile.question == "cpu" and measured is not None:
        # The kernel's count is exact.
        total = profile.facts.get(KERNEL_CPU, measured.cpu_seconds)
    amount = shown_amount(total, profile.unit)
    runs = int(profile.facts.get(RUNS, 1))
    words = [f"{amount} {UNIT_WORDS[profile.unit]}"]
    if profile.unit == BYTES:
        words.append(
            "of the GPU at the peak" if profile.question == "gpu_memory" else "at the peak"
        )
    if profile.unit in {CPU_SECONDS, GPU_SECONDS}:
        words.append(f"in {shown_seconds(profile.seconds)}")
    if profile.samples:
        words.append(f"({shown_count(profile.samples, 'sample')}, {profile.engine})")
    else:
        words.append(f"({profile.engine})")
    if runs > 1:
        words.append(f"average of {runs} runs")
    return [" ".join(words)]


def _rows(table: LineTable, profile: Profile) -> list[str]:
    shows_waits = table.waits >= _LEAST_WAIT
    whole = table.total or 1.0
    lines = [
        each
        for each in table.lines
        if each.own >= _LEAST_SHARE * whole or each.waits >= _LEAST_WAIT
    ]
    if not lines:
        return []
    if profile.unit in _AMOUNTS:
        return _amounts(lines, table)
    head = f"{UNIT_WORDS[profile.unit] + ' own':>10} {'total':>7}" + (
        f" {'waits':>9}" if shows_waits else ""
    )
    rows = [f"{head}  line"]
    for each in lines:
        waits = f" {_waits(each):>9}" if shows_waits else ""
        own, total = (_share(number / whole) for number in (each.own, each.total))
        rows.append(f"{own:>10} {total:>7}{waits}  {_place(each)}")
    if table.left_out:
        rows.append(f"… {shown_count(table.left_out, 'more line')} of your code: --json")
    return rows


def _amounts(lines: Sequence[LineCost], table: LineTable) -> list[str]:
    """Return rows of a table that has amounts instead of shares of the processor's time."""
    rows = [f"{_AMOUNTS[table.unit]:>10} {'':>7}  line"]
    rows += [
        f"{shown_amount(each.own, table.unit):>10} {_share(each.own / (table.total or 1)):>7}  {_place(each)}"
        for each in lines
    ]
    if table.left_out:
        rows.append(f"… {shown_count(table.left_out, 'more line')} of your code: --json")
    return rows


def _share(share: float) -> str:
    return f"{share:.1%}" if share >= _LEAST_SHARE / 2 else ""


def _waits(line: LineCost) -> str:
    return shown_seconds(line.waits) if line.waits >= _LEAST_WAIT else ""


def _place(line: LineCost) -> str:
    words = frame_words(line.frame)
    words = words if line.frame.path else short_kernel(words)
    return f"{words}, in {short_kernel(line.calls)}" if line.calls else words or "(unknown)"


def frame_words(frame: Frame) -> str:
    """Return a line as an editor opens it, relative to here if that is shorter."""
    path = short_path(frame.path)
    if path.startswith("/"):
        path = min(os.path.relpath(path), path, key=len)
    where = f"{path}:{frame.line}" if frame.line else path
    return f"{where} {frame.function}" if where else frame.function


def profile_json(profile: Profile, measured: Measured | None) -> dict[str, object]:
    """Return a profile as JSON data: all lines with what they cost, and the facts."""
    table = lines_of(profile, most=10_000)
    return {
        "question": profile.question,
        "engine": profile.engine,
        "unit": profile.unit,
        "samples": profile.samples,
        "rate": profile.rate,
        "seconds": profile.seconds,
        "total": table.total,
        "waits": table.waits,
        "lines": [
            {
                "file": each.frame.path,
                "line": each.frame.line,
                "function": each.frame.function,
                "is_own": each.frame.in_user_code,
                "own": each.own,
                "total": each.total,
                "waits": each.waits,
                "calls": each.calls,
            }
            for each in table.lines
        ],
        "processes": [each.to_json() for each in profile.processes],
        "compiled": [each.to_json() for each in compiled_functions(profile)],
        "facts": dict(profile.facts),
        "sentences": sentences_of(profile, measured),
        "notes": list(profile.notes),
    }
