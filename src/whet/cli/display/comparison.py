"""What `whet compare` has found, in lines and in JSON."""

import math
import shutil
from collections.abc import Callable, Sequence

from whet.core.measurements import NumberKind
from whet.core.observations.profile import BYTES
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.measurement.comparison.contest import Ruling
from whet.measurement.comparison.evidence import Effect
from whet.measurement.comparison.quantities import CPU, MEMORY, WALL, Quantity
from whet.measurement.profiles.difference import ProfileDifference
from whet.workbench.compare.comparison import Compared, Comparison

_TWICE = 2.0
_TENTH, _HUNDREDTH = 0.1, 0.01
_MINUTE = 60
_BUSY = 0.75
_PART = 0.2
_MOST_LINES = 5
_WIDEST, _NUMBERS = 1000, 3


def comparison_lines(comparison: Comparison) -> list[str]:
    """Return the answer in a sentence, the table, and what to do next."""
    lines = [_answer(comparison), *_first(comparison), ""]
    if comparison.compared:
        lines += [*_table(comparison), ""]
    lines += [f"  {note}" for note in _notes(comparison)]
    lines += _where(comparison)
    lines += _next(comparison)
    runs = shown_count(comparison.pairs, "run")
    return [
        *lines,
        f"{runs} of each in {shown_seconds(comparison.wall_seconds)}, order {comparison.seed}; {comparison.stopped.value}",
    ]


def comparison_json(comparison: Comparison) -> dict[str, object]:
    """Return it as JSON data."""
    about = comparison.deciding
    return {
        "a": comparison.a,
        "b": comparison.b,
        "answer": _answer(comparison),
        "ruling": None if about is None or about.ruling is None else about.ruling.value,
        "decided_by": None if about is None else about.quantity.name,
        "pairs": comparison.pairs,
        "output": comparison.output,
        "ends": comparison.ends,
        "confidence": comparison.confidence,
        "smallest": comparison.smallest,
        "quantities": [_json_of(each) for each in comparison.compared],
        "not_measured": dict(comparison.not_measured),
        "seed": comparison.seed,
        "order": comparison.order,
        "trials": {arm: list(numbers) for arm, numbers in comparison.trials.items()},
        "stopped": comparison.stopped.name.lower(),
        "reason": comparison.stopped.value,
        "more_pairs": comparison.more_pairs,
        "wall_seconds": round(comparison.wall_seconds, 3),
        "load": round(comparison.load, 2),
        "processors": comparison.processors,
        "notes": list(comparison.notes),
        "where": None if comparison.where is None else _where_json(comparison.where),
    }


def _where_json(where: ProfileDifference) -> list[dict[str, object]]:
    return [
        {
            "path": each.path,
            "line": each.line,
            "function": each.function,
            "a": each.before,
            "b": each.after,
            "is_sure": each.is_sure,
        }
        for each in where.lines
    ]


def _json_of(compared: Compared) -> dict[str, object]:
    return {
        "name": compared.quantity.name,
        "a": compared.a,
        "b": compared.b,
        "is_ratio": compared.is_ratio,
        "effect": _effect_json(compared.effect),
        "against_itself": None if compared.own is None else _effect_json(compared.own),
        "ruling": None if compared.ruling is None else compared.ruling.value,
        "decides": compared.decides,
        "confidence": compared.confidence,
    }


def _effect_json(effect: Effect) -> dict[str, float | None]:
    ends = {"best": effect.best, "low": effect.low, "high": effect.high}
    return {name: end if math.isfinite(end) else None for name, end in ends.items()}


# ---- the answer ----


def _answer(comparison: Comparison) -> str:
    about = comparison.deciding
    runs = shown_count(comparison.pairs, "run")
    if about is None or not comparison.pairs:
        return "No answer: no pair of runs ended"
    what = about.quantity.label
    if about.ruling is Ruling.DIFFERENT:
        return f"{_difference(about)}, sure after {runs} of each"
    if about.ruling is Ruling.ALIKE:
        low, high = about.effect.low, about.effect.high
        if low == high == 0:
            return f"No difference in {what}: each of {runs} took the same"
        return f"No difference above {_size(comparison.smallest)} in {what} ({_between(about)}), sure after {runs} of each"
    if not about.is_ratio:
        return f"Not sure: B's {what} differs by {_between(about)} after {runs} of each"
    most = max(abs(about.effect.low), abs(about.effect.high))
    if not math.isfinite(most) or about.effect.low <= -1:
        return f"Not sure: {runs} of each are too few to say anything"
    return f"No difference in {what} is visible here: after {runs} of each, one below {_size(most)} can't be ruled out ({_between(about)})"


def _difference(about: Compared) -> str:
    """Say by how much B is more or less than A."""
    quantity, best = about.quantity, about.effect.best
    name = quantity.name
    if not about.is_ratio:
        word = "higher" if best > 0 else "lower"
        return f"B's {quantity.label} is {abs(best):.4g} {word} than A's ({_between(about)})"
    if name in {WALL, CPU}:
        of = " in CPU time" if name == CPU else ""
        if best >= 1:
            low, high = 1 + about.effect.low, 1 + about.effect.high
            return f"B takes {1 + best:.2g} times as long as A{of} ({low:.2g} to {high:.2g} times)"
        if best <= 1 / _TWICE - 1:
            return f"B is {1 / (1 + best):.2g} times as fast as A{of} ({_times(about.effect)})"
        word = "slower" if best > 0 else "faster"
        return f"B is {_size(best)} {word} than A{of} ({_sizes(about.effect)})"
    word = "more" if best > 0 else "less"
    if name == MEMORY:
        return f"B uses {_size(best)} {word} memory than A ({_sizes(about.effect)})"
    if quantity.is_counted:
        word = "more" if best > 0 else "fewer"
        return f"B needs {_size(best)} {word} {quantity.label} than A ({_sizes(about.effect)})"
    word = "higher" if best > 0 else "lower"
    return f"B's {quantity.label} is {_size(best)} {word} than A's ({_sizes(about.effect)})"


def _size(share: float) -> str:
    return f"{abs(100 * share):.{_digits(share)}f} %"


def _sizes(effect: Effect) -> str:
    """Return an interval of which both ends lie on the same side."""
    ends = sorted((abs(effect.low), abs(effect.high)))
    digits = _digits(ends[0] or ends[1])
    return f"{100 * ends[0]:.{digits}f} to {100 * ends[1]:.{digits}f} %"


def _times(effect: Effect) -> str:
    return f"{1 / (1 + effect.high):.3g} to {1 / max(1 + effect.low, 1e-9):.3g} times"


def _between(about: Compared) -> str:
    low, high = about.effect.low, about.effect.high
    if not math.isfinite(high - low) or (about.is_ratio and low <= -1):
        return "too few runs to say"
    if about.is_ratio:
        return f"{_percent(low)} to {_percent(high)}"
    return f"{low:+.3g} to {high:+.3g}"


def _percent(share: float) -> str:
    return f"{100 * share:+.{_digits(share)}f} %"


def _digits(share: float) -> int:
    """Return how many digits behind the point are worth reading."""
    if abs(share) >= _TENTH:
        return 0
    return 1 if abs(share) >= _HUNDREDTH or not share else 2


def _first(comparison: Comparison) -> list[str]:
    """Return what must be known to read the answer: which is which, and whether both do the same."""
    lines = [f"  A: {comparison.a}", f"  B: {comparison.b}"]
    if comparison.ends:
        lines.append(f"  they fail: {comparison.ends}")
    return [*lines, f"  both print {comparison.output}"] if comparison.output else lines


# ---- the table ----


def _table(comparison: Comparison) -> list[str]:
    head = ("", "A", "B", "B against A", "", "an arm against itself")
    rows: list[tuple[str, ...]] = [head]
    for each in comparison.compared:
        shown = _shown(each.quantity)
        mark = "*" if each.decides else " "
        best = _percent(each.effect.best) if each.is_ratio else f"{each.effect.best:+.3g}"
        own = "" if each.own is None else _own(each)
        name = f"{each.quantity.label} {mark}"
        rows.append((name, shown(each.a), shown(each.b), best, f"({_between(each)})", own))
    lines = _aligned(rows)
    if max(map(len, lines)) > shutil.get_terminal_size((_WIDEST, 0)).columns:
        lines, narrow = lines[:0], _aligned([row[:4] for row in rows])
        for row, line in zip(rows, narrow, strict=True):
            own = f", against itself {row[5]}" if row[5] else ""
            lines += [line] if row is head else [line, f"    {row[4]}{own}"]
    unmeasured = [
        f"  {Quantity(name).label}: {why}" for name, why in comparison.not_measured.items()
    ]
    return [*lines, *unmeasured]


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table: numbers to the right, the others to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if 0 < column <= _NUMBERS else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _own(each: Compared) -> str:
    own = each.own
    assert own is not None
    if not math.isfinite(own.high - own.low):
        return ""
    if each.is_ratio:
        return f"{_percent(own.low)} to {_percent(own.high)}"
    return f"{own.low:+.3g} to {own.high:+.3g}"


def _shown(quantity: Quantity) -> Callable[[float], str]:
    if quantity.kind is NumberKind.TIME:
        return _duration
    return _bytes if quantity.kind is NumberKind.MEMORY else _number


def _duration(seconds: float) -> str:
    """Return a time; short ones with the digits in which two of them differ."""
    if 0 < seconds < 1:
        milliseconds = 1000 * seconds
        return f"{milliseconds:.3g} ms"
    return f"{seconds:.2f} s" if seconds < _MINUTE else shown_seconds(seconds)


def _bytes(count: float) -> str:
    return shown_bytes(round(count)) if count >= 0 else f"-{shown_bytes(round(-count))}"


def _number(value: float) -> str:
    return f"{value:.4g}"


# ---- what to know, and what to do ----


def _notes(comparison: Comparison) -> list[str]:
    notes = list(comparison.notes)
    decides = [each for each in comparison.compared if each.decides]
    others = [each for each in comparison.compared if not each.decides]
    if len(decides) > 1:
        notes.append(
            f"* wall and CPU time share the {_chance(comparison.confidence)} chance of a wrong answer; the first that is sure decides"
        )
    if len(others) > 1:
        notes.append(
            f"the other {len(others)} intervals all hold at once with {comparison.confidence:.0%} confidence"
        )
    against = [each for each in comparison.compared if (each.b - each.a) * each.effect.best < 0]
    if against:
        names = " and ".join(each.quantity.label for each in against)
        notes.append(
            f"{names}: A and B are medians of all runs; the difference is that of runs in a pair, which see the same load"
        )
    for each in comparison.compared:
        own = each.own
        if own is not None and (own.low > 0 or own.high < 0):
            notes.append(
                f"the control failed: an arm differs from itself in {each.quantity.label} by {_own(each)}; such chance is rare, so repeat this on a quieter machine"
            )
    if comparison.load > _BUSY * comparison.processors and not comparison.is_queued:
        notes.append(
            f"the machine is busy: load {comparison.load:.1f} on {shown_count(comparison.processors, 'processor')}"
        )
    return notes


def _where(comparison: Comparison) -> list[str]:
    """Return the functions that explain a part of the difference."""
    where = comparison.where
    if where is None:
        return []
    is_memory = where.unit == BYTES
    runs = "one profiled run" if is_memory else "three profiled runs"
    least = _PART * abs(where.after - where.before)
    lines = [each for each in where.sure if abs(each.change) >= least][:_MOST_LINES]
    if not lines:
        return [f"where: no function of yours stands out in {runs} of each"]
    how = "held at the peak" if is_memory else "sampled: a wait for a processor counts too"
    found = [f"where, in {runs} of each ({how}):"]
    shown: Callable[[float], str] = _size_of if is_memory else _duration
    for each in lines:
        change = f"{'+' if each.change >= 0 else '-'}{shown(abs(each.change))}"
        costs = f"A {shown(each.before)}, B {shown(each.after)}"
        found.append(f"  {change:>9}  {each.path}:{each.line} {each.function}  ({costs})")
    return found


def _size_of(size: float) -> str:
    return shown_bytes(round(size))


def _chance(confidence: float) -> str:
    return f"{100 * (1 - confidence):.2g} %"


def _next(comparison: Comparison) -> list[str]:
    """Return the next step."""
    about = comparison.deciding
    if about is None:
        return []
    is_worse = about.ruling is Ruling.DIFFERENT and about.is_ratio and about.effect.best > 0
    option = {WALL: "--slower-than", CPU: "--slower-than", MEMORY: "--more-memory-than"}
    if comparison.versions and is_worse and about.quantity.name in option:
        half = _percent(about.effect.best / 2).lstrip("+").replace(" ", "")
        ends = " ".join(comparison.versions)
        what = option[about.quantity.name]
        return [f"next: which commit? `whet bisect {what} {half} {ends} -- COMMAND`"]
    has_profile = about.quantity.name in {WALL, CPU, MEMORY}
    if about.ruling is Ruling.DIFFERENT and has_profile and comparison.where is None:
        return ["next: where? `--where` profiles both and shows which of your functions differ"]
    if comparison.more_pairs is not None and comparison.more_pairs > comparison.pairs:
        seconds = comparison.wall_seconds / max(1, comparison.pairs) * comparison.more_pairs
        return [
            f"next: to see {_percent(comparison.smallest).lstrip('+')} here takes about {comparison.more_pairs:,} runs of each ({shown_seconds(seconds)}): `--runs {comparison.more_pairs}`, or a larger `--smallest`"
        ]
    return []
