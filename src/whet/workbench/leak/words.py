"""What `whet leak` has found out, in lines and in JSON."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from whet.core.text.quantity import shown_bytes, shown_count
from whet.measurement.leaks.slope import Slope
from whet.measurement.leaks.verdict import (
    CHILDREN,
    CUDA,
    DESCRIPTORS,
    JAX,
    MAPPED,
    MEMORY,
    RESIDENT,
    THREADS,
    Judgement,
    Kind,
)
from whet.workbench.leak.holder import Holder
from whet.workbench.leak.leak import Leak, Piece
from whet.workbench.leak.native import NativeBlocks
from whet.workbench.leak.reports import Growth

_NAMES = {
    MEMORY: "memory in use", RESIDENT: "resident memory", MAPPED: "mapped memory",
    CUDA: "GPU memory (torch)", JAX: "JAX arrays", DESCRIPTORS: "open files",
    THREADS: "threads", CHILDREN: "child processes",
}  # fmt: skip
_COUNTS = {DESCRIPTORS: "open file", THREADS: "thread", CHILDREN: "child process"}
_UNITS = ("character", "byte", "item", "row")
"""What a value consists of that is replaced by a larger one."""
_ALWAYS = (MEMORY, RESIDENT, DESCRIPTORS, THREADS)
_HIDDEN_SHARE = 0.1
_MOST_LINES, _MOST_HOLDERS, _MOST_THREADS = 3, 3, 2
_SOURCE = 60


def leak_lines(found: Leak) -> list[str]:
    """Return the verdict, who holds what is added, the numbers, and what to do next."""
    piece, judgement = found.piece, found.judgement
    if piece is None or judgement is None:
        return [
            f"whet can't tell: {'; '.join(found.notes)}",
            "next: name what to repeat, with `--call FILE.py:FUNCTION` before the `--`",
        ]
    lines = [_verdict(found, piece, judgement), *_held(found, judgement)]
    if judgement.slopes:
        lines += ["", *_table(found, judgement)]
    lines += _doubled(found)
    lines += _lines(found.growth, judgement) if judgement.growing else []
    lines += [
        f"another loop grows too: {_place(loop.path, loop.line)} by {shown_bytes(round(gain))} a round"
        for loop, gain in found.others[:1]
        if not judgement.growing
    ]
    following = list(_next(found, judgement))
    return [*lines, "", *following] if following else lines


def leak_json(found: Leak) -> dict[str, object]:
    """Return it as JSON data."""
    piece, judgement, growth = found.piece, found.judgement, found.growth
    return {
        "verdict": found.kind.value,
        "piece": None
        if piece is None
        else {
            "kind": "call" if not piece.is_loop else "loop" if piece.path else "section",
            "path": piece.path,
            "line": piece.line,
            "function": piece.function,
        },
        "repetitions": 0 if not found.series or not found.series.numbers else found.series.numbers[-1],
        "growing": [] if judgement is None else list(judgement.growing),
        "below_bytes": None if judgement is None else judgement.below,
        "is_python": None if judgement is None else judgement.is_python,
        "slopes": {}
        if judgement is None
        else {
            name: {"best": each.best, "low": each.low, "high": each.high, "gained": each.gained}
            for name, each in judgement.slopes.items()
        },
        "doubled": {str(count): added for count, added in found.doubled.items()},
        "holders": [_holder_json(each) for each in found.holders],
        "lines": []
        if growth is None
        else [
            {"path": each.path, "line": each.line, "is_own": each.is_own, "gained": each.gained}
            for each in growth.lines
        ],
        "types": {} if growth is None else dict(growth.types),
        "files": [] if growth is None else [f"{number} {path}" for number, path in growth.files],
        "threads": [] if growth is None else [list(each) for each in growth.threads],
        "native": None
        if found.native is None
        else {
            "path": found.native.place.path, "line": found.native.place.line,
            "calls": found.native.calls, "held": found.native.held, "count": found.native.count,
        },
        "notes": list(found.notes),
        "trials": list(found.trials),
    }  # fmt: skip


def _holder_json(holder: Holder) -> dict[str, object]:
    grown = holder.grown
    return {
        "name": grown.label,
        "kind": grown.kind,
        "within": grown.within,
        "type": grown.type,
        "path": holder.made_path,
        "line": holder.made_line,
        "added": grown.added,
        "length": grown.length,
        "bound": grown.bound,
        "item": grown.item,
        "filled": [
            {"path": each.path, "line": each.line, "source": each.source} for each in holder.fills
        ],
    }


# ---- the verdict ----


def _verdict(found: Leak, piece: Piece, judgement: Judgement) -> str:
    each = "round of the loop" if piece.is_loop else "call of"
    name = f" (in {piece.function})" if piece.is_loop and piece.function else ""
    where = _place(piece.path, piece.line)
    what = f"{each} {where}{name}" if piece.is_loop else f"{each} {piece.function} ({where})"
    if not piece.path:
        what = f"run of the section {piece.function}" if piece.function else "run of this cell"
    count = found.series.numbers[-1] if found.series and found.series.numbers else 0
    times = shown_count(count, "call" if not piece.is_loop else "round" if piece.path else "run")
    if found.kind is Kind.UNSURE:
        return f"whet can't tell whether a {what} leaks: {_why_unsure(found, judgement, times)}"
    if judgement.growing and found.fills_up:
        grown = found.holders[0].grown
        return (
            f"NO LEAK: `{grown.label}` fills up, and has {grown.length:,} of the {grown.bound:,}"
            f" items that it may have; each {what} adds {_amount(judgement)}"
        )
    if found.kind is Kind.RESULT:
        grown = found.holders[0].grown
        return (
            f"A RESULT GROWS: each {what} adds {_amount(judgement)} ({times}) to `{grown.label}`,"
            f" which `{grown.within}` returns"
        )
    if found.kind is Kind.SLOWS:
        return f"PROBABLY NO LEAK: {_slowing(found, judgement, what, times)}"
    if found.kind is Kind.NONE:
        below = (
            "" if judgement.below is None else f": below {shown_bytes(_rounded(judgement.below))}"
        )
        same = "" if piece.is_loop else ", with the same arguments each time"
        return f"NO LEAK{below} for each {what} ({times}{same}){_at_first(judgement)}"
    if found.kind is Kind.SMALL:
        return (
            f"NO LEAK that matters: each {what} adds {_amount(judgement)}, less than `--least`"
            " (64 B if you don't set it)"
        )
    return f"LEAK: each {what} adds {_amount(judgement)} ({times})"


def _slowing(found: Leak, judgement: Judgement, what: str, times: str) -> str:
    """Return how the growth slows down, and where it ends at this pace."""
    name = judgement.growing[0]
    slope = judgement.slopes[name]
    slowing = slope.slowing
    assert slowing is not None, "what doesn't slow down is a leak"
    first, last = (_gain(name, replace(slope, best=each)) for each in (slowing.first, slowing.last))
    assert found.series is not None
    end = round(found.series.usages[-1].get(name, 0) + slowing.rest)
    return (
        f"each {what} adds less and less, {first} at first and {last} at the end ({times}),"
        f" as a table does that fills up; at this pace it ends at about {_level(name, end)}"
    )


def _why_unsure(found: Leak, judgement: Judgement, times: str) -> str:
    if found.notes and not judgement.slopes:
        return found.notes[0]
    if not judgement.slopes:
        return f"{times} are too few"
    if found.notes:
        return found.notes[-1]
    below = shown_bytes(_rounded(judgement.below or 0.0))
    return f"its memory varies too much; below {below} each time"


def _amount(judgement: Judgement) -> str:
    words = [_gain(name, judgement.slopes[name]) for name in judgement.growing]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _gain(name: str, slope: Slope) -> str:
    if name in _COUNTS:
        noun = _COUNTS[name]
        plural = "es" if noun.endswith("s") else "s"
        return f"{slope.best:.2g} {noun}{'' if round(slope.best, 2) == 1 else plural}"
    extra = {
        CUDA: " of GPU memory",
        JAX: " of JAX arrays",
        MAPPED: " of mapped memory",
        RESIDENT: " of resident memory",
    }
    return f"{shown_bytes(round(slope.best))}{extra.get(name, '')}"


def _at_first(judgement: Judgement) -> str:
    slope = judgement.slopes.get(MEMORY)
    if slope is None or slope.early < (1 << 16) or slope.early < slope.gained * 4:
        return ""
    return f"; it took {shown_bytes(round(slope.early))} at first, and then stayed: a warm-up or a cache"


# ---- who holds it ----


def _held(found: Leak, judgement: Judgement) -> Iterator[str]:
    for each in _shown_holders(found, judgement):
        yield f"  {_holder(each, found.growth)}"
        for fill in each.fills:
            yield f"    filled at {_place(fill.path, fill.line)}: {fill.source[:_SOURCE]}"
    growth = found.growth
    if growth is None:
        return
    if THREADS in judgement.growing:
        for name, path, line, target in growth.threads[:_MOST_THREADS]:
            at = f", now at {_place(path, line)}" if path else ""
            yield f"  thread `{name}` runs {target or 'a function'}{at}"
    if DESCRIPTORS in judgement.growing and growth.files:
        files = ", ".join(dict.fromkeys(path for _, path in growth.files))
        yield f"  still open: {files}"
    if MEMORY in judgement.growing and not found.holders:
        yield "  whet finds no Python object that holds it and grows" + (
            ": native code may keep it (an extension, `ctypes`), or one large object inside others"
            if not judgement.is_python
            else ""
        )
    if found.native is not None:
        yield f"  {_native(found.native)}"


def _native(native: NativeBlocks) -> str:
    place = native.place
    called = f", in {native.calls}" if native.calls else ""
    size, source = shown_bytes(native.held), _source(place.path, place.line)
    return (
        f"{size} in {shown_count(native.count, 'block')} are allocated at"
        f" {_place(place.path, place.line)}{called}, and still held at the peak (memray){source}"
    )


def _shown_holders(found: Leak, judgement: Judgement) -> list[Holder]:
    """Return the holders to show: the tables that Python itself keeps of threads tell nothing."""
    holders = found.holders
    if THREADS in judgement.growing:
        holders = tuple(each for each in holders if each.grown.within != "threading")
    # Weak references keep nothing alive.
    strong = [each for each in holders if each.grown.item != "ReferenceType"] or list(holders)
    return strong[:_MOST_HOLDERS]


def _holder(holder: Holder, growth: Growth | None) -> str:
    grown = holder.grown
    where = _place(holder.made_path, holder.made_line) if holder.made_path else ""
    kinds = {
        "module": f"global of {grown.within}", "local": f"local of {grown.within}",
        "context": "context variable", "class": "of the class", "function": "of the function", "cache": "cache of the function",
    }  # fmt: skip
    facts = ", ".join(word for word in (grown.type, kinds.get(grown.kind, "")) if word)
    if grown.type == "graph":
        return (
            f"{where} `{grown.label}` (a tensor with its graph) gains {grown.added:,} operations in"
            f" {growth.repetitions if growth else 0:,} repetitions: everything that they made stays"
        )
    if not grown.length:
        return (
            f"{where} `{grown.label}` ({facts}) leads to {grown.added:,} new {grown.item}".strip()
        )
    times = growth.repetitions if growth is not None else 0
    is_whole = grown.item in _UNITS
    items = "" if not grown.item or is_whole or grown.kind == "cache" else f" of {grown.item}"
    gains = shown_count(grown.added, grown.item if is_whole else "item")
    return (
        f"{where} `{grown.label}` ({facts}) gains {gains}{items}"
        f" in {times:,} repetitions, and has {grown.length:,}"
    ).strip()


# ---- the numbers ----


def _table(found: Leak, judgement: Judgement) -> Iterator[str]:
    assert found.series is not None
    first, last = found.series.usages[0], found.series.usages[-1]
    numbers = found.series.numbers
    yield (
        f"  {'':18}  {'each time':>10}  {'95 % interval':>22}  "
        f"{f'at {numbers[0]:,}':>10}  {f'at {numbers[-1]:,}':>10}"
    )
    for name, title in _NAMES.items():
        slope = judgement.slopes.get(name)
        if slope is None or name not in last or name not in first:
            continue
        if name not in _ALWAYS and name not in judgement.growing:
            continue
        shown = _count if name in _COUNTS else _bytes
        interval = f"{shown(slope.low)} to {shown(slope.high)}"
        yield (
            f"  {title:18}  {shown(slope.best):>10}  {interval:>22}  "
            f"{_level(name, first[name]):>10}  {_level(name, last[name]):>10}"
        )


def _doubled(found: Leak) -> Iterator[str]:
    """Yield what 0, 1, 2, 4 and 8 calls add to copies that have seen none."""
    counts = sorted(found.doubled)
    if len(counts) > 1:
        added = ", ".join(_bytes(found.doubled[count]) for count in counts)
        calls = ", ".join(map(str, counts))
        yield f"  each in a copy of its own, {calls} calls add {added}"


def _bytes(size: float) -> str:
    whole = round(size)
    return f"−{shown_bytes(-whole)}" if whole < 0 else shown_bytes(whole)


def _count(size: float) -> str:
    return f"{round(size, 2) + 0.0:.2g}".replace("-", "−")


def _level(name: str, value: int) -> str:
    return f"{value:,}" if name in _COUNTS else shown_bytes(value)


def _rounded(size: float) -> int:
    """Return a bound with one digit, upwards: more of them would mean nothing."""
    whole = max(1, round(size))
    step = int(10 ** max(0, len(str(whole)) - 2))
    return -(-whole // step) * step


def _lines(growth: Growth | None, judgement: Judgement) -> Iterator[str]:
    memory = judgement.slopes.get(MEMORY)
    if growth is None or memory is None or MEMORY not in judgement.growing:
        return
    least = max(1.0, memory.best * _HIDDEN_SHARE) * growth.repetitions
    for each in [each for each in growth.lines if each.gained >= least][:_MOST_LINES]:
        size = shown_bytes(each.gained // max(1, growth.repetitions))
        source = _source(each.path, each.line)
        yield f"  {size} each time allocated at {_place(each.path, each.line)}{source}"


def _source(path: str, line: int) -> str:
    try:
        text = Path(path).read_text("utf-8").splitlines()[line - 1].strip()
    except (OSError, ValueError, IndexError):
        return ""
    return f": {text[:_SOURCE]}"


# ---- what to do ----


def _next(found: Leak, judgement: Judgement) -> Iterator[str]:
    numbers = ", ".join(map(str, found.trials))
    trials = f"trial{'s' if len(found.trials) > 1 else ''} {numbers}"
    if found.piece is not None and found.piece.is_loop and not found.piece.path and not numbers:
        yield from _next_for_cell(found)
    elif found.kind is Kind.UNSURE:
        yield f"next: more repetitions with `--budget 5min`, or another piece with `--call` or `--loop` ({trials})"
    elif found.kind in {Kind.RESULT, Kind.SLOWS}:
        yield _next_if_it_ends(found, trials)
    elif found.kind is not Kind.LEAK and found.piece is not None and not found.piece.is_loop:
        yield (
            "next: a table by argument doesn't grow when the argument stays the same: "
            f"without `--call`, whet measures a loop with the arguments as they come ({trials})"
        )
    elif found.kind is not Kind.LEAK:
        yield f"next: another piece with `--call FILE.py:FUNCTION` or `--loop FILE.py:LINE` ({trials})"
    elif THREADS in judgement.growing:
        yield f"next: end these threads (`join`, a pool), then run this again ({trials})"
    elif found.holders and found.holders[0].grown.type == "graph":
        name = found.holders[0].grown.label
        yield f"next: add `.item()` or `.detach()` to `{name}`, then run this again ({trials})"
    elif found.holders and found.holders[0].grown.length:
        name = found.holders[0].grown.label
        yield f"next: empty `{name}`, give it a bound, or keep less in it; then run this again ({trials})"
    else:
        yield _next_for_memory(found, judgement, trials)


def _next_for_memory(found: Leak, judgement: Judgement, trials: str) -> str:
    """Return what to do about memory that no object of Python's is known to hold."""
    if found.native is not None:
        return f"next: free what is allocated there, then run this again ({trials})"
    if judgement.is_python or not set(judgement.growing) & {MEMORY, RESIDENT, MAPPED}:
        return f"next: release what is named above, then run this again ({trials})"
    return (
        f"next: narrow it down with `--call FILE.py:FUNCTION`; for the native stack: "
        f"`memray run --native` ({trials})"
    )


def _next_if_it_ends(found: Leak, trials: str) -> str:
    """Return how to find out whether what grows stays, or stops to grow."""
    piece = found.piece
    if found.kind is Kind.RESULT and piece is not None:
        call = f"{_place(piece.path, 0)}:{piece.function}"
        return f"next: whether anything stays after it: `whet leak --call {call} -- COMMAND` ({trials})"
    return (
        "next: let the program repeat its work two or three times as often, and run this again:"
        f" a table that is full stops to grow ({trials})"
    )


def _next_for_cell(found: Leak) -> Iterator[str]:
    if found.kind is Kind.UNSURE:
        yield "next: more repetitions with `%%leak 200`"
    elif found.kind is Kind.SLOWS:
        yield "next: run the cell more often, `%%leak 1000`: a table that is full stops to grow"
    elif found.kind is Kind.LEAK:
        names = [f"`{each.grown.label}`" for each in found.holders[:1]] or ["what is named above"]
        yield f"next: empty {names[0]}, give it a bound, or keep less in it; then run the cell again"


def _place(path: str, line: int) -> str:
    short = os.path.relpath(path) if path[:1] == "/" else path
    shown = path if short.startswith("../../..") else short
    return f"{shown}:{line}" if line else shown
