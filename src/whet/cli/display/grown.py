"""What `whet grow` has found, in lines and in JSON."""

import sys
from collections.abc import Callable, Mapping, Sequence

from whet.cli.console import verdict_word
from whet.core.text.quantity import listed, shown_bytes, shown_count, shown_seconds
from whet.core.verdict import Verdict
from whet.search.growth.law import Law, Range, Shape
from whet.workbench.grow.grow import Growth, Prediction
from whet.workbench.grow.measured import CPU, MEMORY, TIME, Measured, Unfit

_BAR = 24
_WIDEST = 100
_MOST_ROWS = 24
_STEADY = 0.05
"""Time that varies less than this, as a share of it, is as good as the processor's."""

_UNCLEAR = 1.0
"""The width of an exponent's range from which on it says little."""


def growth_lines(growth: Growth) -> list[str]:
    """Return the answer, what each number cost, the laws, and what they predict."""
    lines = [*_answer(growth), "", *_pictured(growth), "", *_laws(growth)]
    if growth.unfit is not None:
        lines.append(_unfit(growth, growth.unfit))
    lines += [line for each in growth.predictions for line in _predicted(growth, each)]
    trials = shown_count(growth.trials, "trial")
    return [*lines, f"{trials} in {shown_seconds(growth.wall_seconds)}; {growth.stopped.value}"]


def growth_json(growth: Growth) -> dict[str, object]:
    """Return it as JSON data."""
    unfit = growth.unfit
    return {
        "dimension": growth.dimension.place,
        "from": growth.dimension.least,
        "to": growth.dimension.most,
        "smallest": growth.smallest,
        "largest_below": growth.largest_below,
        "failure": growth.row.failure if growth.row else "",
        "is_monotone": not growth.exceptions,
        "exceptions": list(growth.exceptions),
        **({} if growth.line is None else growth.line.facts()),
        "measured": [each.to_json() for each in growth.rows],
        "laws": {name: _law_json(law) for name, law in growth.laws.items()},
        "not_run": None
        if unfit is None
        else {
            "number": unfit.number,
            "because_of": unfit.what,
            "needs": _range_json(unfit.needs),
            "has": unfit.has,
        },
        "predictions": [
            {
                "number": each.number,
                **{name: _range_json(cost) for name, cost in each.costs.items()},
            }
            for each in growth.predictions
        ],
        "memory_bytes": growth.memory_bytes,
        "stopped": growth.stopped.name.lower(),
        "reason": growth.stopped.value,
        "trials": growth.trials,
        "wall_seconds": round(growth.wall_seconds, 3),
    }


def _law_json(law: Law) -> dict[str, object]:
    return {
        "shape": law.shape.value,
        "or": [each.value for each in law.others],
        "exponent": _range_json(law.exponent),
        "rate": law.rate,
        "constant": law.constant,
        "noise": round(law.noise, 4),
    }


def _range_json(known: Range) -> dict[str, float]:
    return {"best": known.best, "low": known.low, "high": known.high}


# ---- the answer ----


def _answer(growth: Growth) -> list[str]:
    name, row = growth.dimension.name, growth.row
    if row is None:
        return [f"{name}: {_none(growth)}", *_others(growth)]
    trial = "" if row.trial is None else f"  (trial {row.trial})"
    is_first = row.number == growth.dimension.least
    first = ": it fails from the first number on" if is_first else ""
    lines = [
        f"{name} = {row.number:,} is the smallest that fails{first}{trial}",
        f"  {_shortened(row.failure)}",
    ]
    if growth.repeats > 1:
        lines.append(
            f"  it fails only sometimes: {growth.repeats} runs of each smaller number pass"
        )
    return [*lines, *_monotone(growth), *_others(growth)]


def _none(growth: Growth) -> str:
    """Say that none fails, of all numbers only if each was tried."""
    tested = [each.number for each in growth.rows if each.verdict is not Verdict.SKIP]
    if not tested:
        return "no number could be judged"
    least, most = min(tested), max(tested)
    if len(tested) == most - least + 1:
        return f"no number from {least:,} to {most:,} fails"
    return f"none of the {len(tested)} numbers tried from {least:,} to {most:,} fails"


def _monotone(growth: Growth) -> list[str]:
    assert growth.smallest is not None
    above = [each.number for each in growth.rows if each.number > growth.smallest]
    if growth.exceptions:
        passing = _numbers(growth.exceptions)
        return [f"  not monotone: {passing} {_agree(growth.exceptions, 'does', 'do')} not fail so"]
    return [f"  larger numbers fail too: {_numbers(above)}"] if above else []


def _others(growth: Growth) -> list[str]:
    """Return a line for each other way in which numbers fail."""
    ways: dict[object, list[Measured]] = {}
    for each in growth.rows:
        if each.verdict is Verdict.SKIP and each.failure:
            way = each.failure if each.failed is None else each.failed.signature
            ways.setdefault(way, []).append(each)
    return [
        f"  another failure with {_numbers([each.number for each in rows])}: {_shortened(rows[0].failure)}"
        for rows in ways.values()
    ]


def _numbers(numbers: Sequence[int]) -> str:
    few = [f"{each:,}" for each in sorted(numbers)]
    most = 6
    return listed(few) if len(few) <= most else f"{', '.join(few[:most])} …"


def _agree(numbers: Sequence[int], one: str, more: str) -> str:
    return one if len(numbers) == 1 else more


# ---- the picture ----


def _pictured(growth: Growth) -> list[str]:
    """Return a row for each number: a bar as long as it ran, and a dot where the law has it."""
    rows = _chosen(growth.rows, growth.smallest)
    law = growth.laws.get(TIME)
    longest = max((each.wall_seconds for each in rows), default=0.0) or 1.0
    name = growth.dimension.name
    width = max([len(name), *(len(f"{each.number:,}") for each in rows)])
    head = f"  {name:>{width}}  {'':4}  {'':{_BAR}}  {'time':>8}  {'CPU':>8}  {'memory':>8}"
    return [head, *(_pictured_row(each, width, longest, law) for each in rows)]


def _pictured_row(row: Measured, width: int, longest: float, law: Law | None) -> str:
    bar = list("▇" * max(1, round(_BAR * row.wall_seconds / longest)) + " " * _BAR)[:_BAR]
    if law is not None and row.is_whole:
        place = min(_BAR - 1, max(0, round(_BAR * law.at(row.number) / longest) - 1))
        bar[place] = "●"
    memory = shown_bytes(row.peak_bytes) if row.peak_bytes else "-"  # it ended before whet looked
    verdict = verdict_word(row.verdict, sys.stdout) + " " * (4 - len(row.verdict.value))
    return (
        f"  {row.number:>{width},}  {verdict}  {''.join(bar)}  "
        f"{shown_seconds(row.wall_seconds):>8}  {shown_seconds(row.cpu_seconds):>8}  "
        f"{memory:>8}"
    )


def _chosen(rows: tuple[Measured, ...], smallest: int | None) -> list[Measured]:
    """Return the rows to show: those around the answer, and the most distant of the others."""
    if len(rows) <= _MOST_ROWS:
        return list(rows)
    near = sorted(rows, key=lambda each: abs(each.number - (smallest or rows[-1].number)))
    kept = {each.number for each in near[:6]}
    step = (len(rows) - 1) / (_MOST_ROWS - 7)
    kept |= {rows[round(place * step)].number for place in range(_MOST_ROWS - 6)}
    return [each for each in rows if each.number in kept]


# ---- the laws ----


def _laws(growth: Growth) -> list[str]:
    names = {TIME: "time", CPU: "CPU time", MEMORY: "memory"}
    if not growth.laws:
        return ["too few numbers pass for a law of the costs: 4 are needed"]
    width = max(len(names[name]) for name in growth.laws)
    return [
        f"{names[name]:>{width}}: {_law(law, _shown(name))}" for name, law in growth.laws.items()
    ]


def _law(law: Law, shown: Callable[[float], str]) -> str:
    if law.shape is Shape.CONSTANT:
        kind = "constant" if _is_clear(law) else "too noisy to say whether it grows"
        return f"{shown(law.constant)}, {kind}{_exponent(law.exponent)}"
    if law.rate is not None:
        return f"{shown(law.constant)} + exponential: each further 1 makes it {law.rate:.3g} times as much"
    if not _is_clear(law):
        words = f"it grows, but too little is known to say how{_exponent(law.exponent)}"
        return f"{shown(law.constant)} at first; {words}"
    shape = f"n^{law.exponent.best:.2f}" if law.shape is Shape.POWER else law.shape.value
    others = f", or {' or '.join(each.value for each in law.others)}" if law.others else ""
    return f"{shown(law.constant)} + a part that grows as {shape}{others}{_exponent(law.exponent)}"


def _is_clear(law: Law) -> bool:
    is_narrow = law.exponent.high - law.exponent.low <= _UNCLEAR
    return is_narrow or law.shape is Shape.EXPONENTIAL


def _exponent(exponent: Range) -> str:
    return f"  (exponent {exponent.best:.2f}, {exponent.low:.2f}..{exponent.high:.2f})"


def _shown(name: str) -> Callable[[float], str]:
    return _bytes if name == MEMORY else shown_seconds


def _bytes(count: float) -> str:
    return shown_bytes(round(min(count, 1e18)))


# ---- what isn't run ----


def _unfit(growth: Growth, unfit: Unfit) -> str:
    shown = _shown(unfit.what)
    has = "this machine has" if unfit.what == MEMORY else "the budget has left"
    verb = "need" if unfit.what == MEMORY else "take"
    return (
        f"whet doesn't run {growth.dimension.name} = {unfit.number:,}: it would {verb} about "
        f"{_about(unfit.needs, shown)}; {has} {shown(unfit.has)}"
    )


def _predicted(growth: Growth, prediction: Prediction) -> list[str]:
    costs: Mapping[str, Range] = prediction.costs
    clear = [name for name in costs if _is_clear(growth.laws[name])]
    if CPU in costs and CPU not in clear and growth.laws[CPU].shape is not Shape.CONSTANT:
        clear = [
            name for name in clear if name != TIME
        ]  # it grows too, once the start is less of it
    parts: list[str] = []
    # On a busy machine the processor's time varies much less.
    timed = min(
        (name for name in (TIME, CPU) if name in clear),
        key=lambda name: max(_STEADY, growth.laws[name].noise),
        default=None,
    )
    if timed is not None:
        of = " of CPU time" if timed == CPU else ""
        parts.append(f"take about {_about(costs[timed], shown_seconds)}{of}")
    if MEMORY in clear:
        needs = f"need about {_about(costs[MEMORY], _bytes)}"
        is_much = costs[MEMORY].best > growth.memory_bytes
        parts.append(
            f"{needs}; this machine has {_bytes(growth.memory_bytes)}" if is_much else needs
        )
    if not parts:
        return []
    return [f"{growth.dimension.name} = {prediction.number:,} would {' and '.join(parts)}"]


def _about(known: Range, shown: Callable[[float], str]) -> str:
    best, low, high = shown(known.best), shown(known.low), shown(known.high)
    return best if low == high else f"{best} ({low} to {high})"


def _shortened(words: str) -> str:
    return words if len(words) <= _WIDEST else f"{words[: _WIDEST - 1]}…"
