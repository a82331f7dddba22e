"""A payload that was made smaller, as it is told at the end of `whet shrink`."""

from collections.abc import Iterator, Mapping, Sequence

from whet.cli.console import answer, answer_lines
from whet.core.budget import StopReason
from whet.core.difference import Change
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.core.text.shown_text import visible
from whet.reduction.payload_kinds import readable
from whet.reduction.statistics import PassStatistics
from whet.report.difference import difference
from whet.report.facts import content_facts
from whet.report.wording import hex_dump, is_text
from whet.workbench.trials.investigation import AlsoFound, ShrunkPayload

_SHOWN_BYTES = 2000
_SHOWN_LINES = 60
_SHOWN_FILES = 40


def payload_json(result: ShrunkPayload) -> dict[str, object]:
    """Return a payload made smaller as JSON data."""
    nearest = result.nearest_passing
    return {
        "original": result.original,
        "result": result.result,
        "before_bytes": result.before_bytes,
        "after_bytes": result.after_bytes,
        "stopped": result.stopped.name.lower(),
        "reason": result.ended,
        "minimal_over": list(result.minimal_over),
        "trials": result.trials,
        "cached": result.cached,
        "warm": result.warm,
        "cold_because": result.cold_because,
        "wall_seconds": round(result.wall_seconds, 3),
        "guarded_by": result.guarded_by,
        "rate_at_least": result.rate_at_least,
        "is_refused": result.is_refused,
        "lost_header": result.lost_header,
        "needs_hash_seed": 0 if result.needs_order else None,
        "good_file": result.good_file,
        "not_excluded": result.not_excluded,
        "changes": None
        if result.changes is None
        else [
            {"name": each.name, "before": each.before, "after": each.after}
            for each in result.changes
        ],
        "nearest_passing": None if nearest is None else content_facts(nearest),
        "also_found": [
            {
                "summary": other.summary,
                "place": other.place,
                "bytes": len(other.payload),
                "trial": other.trial,
            }
            for other in result.also_found
        ],
        "passes": [
            {
                "pass": each.name,
                "candidates": each.candidates,
                "successes": each.successes,
                "saved_bytes": each.saved_bytes,
            }
            for each in result.passes
        ],
        "sizes": [
            {"seconds": round(each.seconds, 3), "bytes": each.bytes} for each in result.sizes
        ],
    }


def show_shrunk(result: ShrunkPayload, budget: float | None) -> None:
    """Show what was found, what passes beside it, and what it took."""
    sizes = f"{shown_bytes(result.before_bytes)} → {shown_bytes(result.after_bytes)}"
    trials = shown_count(result.trials, "trial")
    trials += f" ({result.warm} warm)" if result.warm else ""
    sides = f"; passes on {result.guarded_by}" if result.guarded_by else ""
    sides += f"; not a part of {result.good_file}, which passes" if result.good_file else ""
    sides += f"; not excluded: {result.not_excluded}" if result.not_excluded else ""
    refused = "; no longer valid in its format" if result.is_refused else ""
    refused += "; without the table's header" if result.lost_header else ""
    took = shown_seconds(result.wall_seconds)
    answer(f"{result.original}: {sizes} in {trials}, {took}{sides}{refused}")
    answer(f"  {_end(result, budget)}: {result.result}")
    for line in (*_remarks(result), *_others(result.also_found), *_gains(result.passes)):
        answer(f"  {line}")
    if result.changes is not None:
        _show_changes(result.changes)
    elif result.files is not None:
        _show_files(result.files)
    else:
        _show_content(result)
    if result.nearest_passing is not None:
        answer_lines("\n  the most similar version that passes (- fails, + passes):\n")
        for line in difference(result.content, result.nearest_passing):
            answer(f"    {line}")


def _remarks(result: ShrunkPayload) -> Iterator[str]:
    """Yield what is special about the result and how it was found."""
    if result.stopped is StopReason.TRIVIAL:
        yield "the failure doesn't depend on this file's content: an empty file fails, and so does a"
        yield "file with other content"
    elif not result.content or result.files == {}:
        yield "the failure doesn't depend on this file's content: an empty file also fails"
    if result.rate_at_least:
        yield f"it fails in {result.rate_at_least:.0%} of its runs or more"
    if result.needs_order:
        yield "it needs `PYTHONHASHSEED=0`: with another hash seed it fails differently, or passes"
    if result.cold_because:
        which = "some trials" if result.warm else "each trial"
        yield f"{which} ran from the start: {result.cold_because}"


def _others(also_found: Sequence[AlsoFound]) -> Iterator[str]:
    """Yield a line for each other failure."""
    for other in also_found:
        where = f" at {other.place}" if other.place else ""
        again = "" if other.trial is None else f": `whet again {other.trial}`"
        yield f"also found: {other.summary}{where} in {shown_bytes(len(other.payload))}{again}"


def _end(result: ShrunkPayload, budget: float | None) -> str:
    """Return why it ended, and what would let it continue."""
    if result.stopped is StopReason.OUT_OF_TIME and budget is not None:
        return f"{result.stopped.value} (`--budget {budget:g}`; `--resume` continues)"
    if result.stopped is StopReason.INTERRUPTED:
        return f"{result.stopped.value} (`--resume` continues)"
    return result.ended


def _show_content(result: ShrunkPayload) -> None:
    """Show what is left of a file, as a person reads it."""
    text = readable(result.content, name=result.result)
    if text is None and result.after_bytes <= _SHOWN_BYTES:
        content = result.content
        text = content.decode() if is_text(content) else hex_dump(content)
    if text is not None:
        lines = visible(text).splitlines()
        lines[_SHOWN_LINES:] = ["…"] if len(lines) > _SHOWN_LINES else []
        for line in ("", *(f"    {line}" for line in lines)):
            answer(line)


def _show_files(files: Mapping[str, bytes]) -> None:
    """Show what is left of a folder: its files, and what is in them if that is little."""
    is_short = sum(map(len, files.values())) <= _SHOWN_BYTES
    lines = [""]
    for path, content in list(files.items())[:_SHOWN_FILES]:
        lines.append(f"    {path}  ({shown_bytes(len(content))})")
        if is_short and is_text(content):
            lines += [f"        {line}" for line in visible(content.decode()).splitlines()]
    if len(files) > _SHOWN_FILES:
        lines.append(f"    and {len(files) - _SHOWN_FILES} more")
    for line in lines:
        answer(line)


def _show_changes(changes: Sequence[Change]) -> None:
    if not changes:
        answer("  the failure doesn't depend on a setting: it happens with the defaults, too")
    for each in changes:
        if each.before is None:
            answer(f"    {each.name}: new, {each.after}")
        elif each.after is None:
            answer(f"    {each.name}: gone, was {each.before}")
        else:
            answer(f"    {each.name}: {each.before} → {each.after}")


def _gains(passes: Sequence[PassStatistics]) -> list[str]:
    """Return a table of what each pass gained; those that gained nothing share a line."""
    gained = [each for each in passes if each.successes]
    vain = [each for each in passes if not each.successes]
    rows = [
        (each.name, str(each.candidates), str(each.successes), _change(each.saved_bytes))
        for each in gained
    ]
    if vain and rows:
        candidates = sum(each.candidates for each in vain)
        rows.append((f"{len(vain)} more", str(candidates), "0", "-"))
    if not rows:
        return []
    rows.insert(0, ("pass", "tried", "fail", "size"))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(row[at].rjust(widths[at]) for at in (1, 2, 3))])
        for row in rows
    ]


def _change(saved_bytes: int) -> str:
    """Return how a pass changed the size: what reads better, such as a plain type, may be larger."""
    if saved_bytes == 0:
        return "-"
    return f"-{shown_bytes(saved_bytes)}" if saved_bytes > 0 else f"+{shown_bytes(-saved_bytes)}"
