"""How good a person's guesses have been, in sentences and as JSON."""

from whet.cli.display.expected import shown_factor
from whet.core.expectation import ExpectationKind
from whet.core.text.quantity import shown_count
from whet.measurement.expectations.calibration import CONFIDENCE, Bias, Calibration
from whet.search.flaky.rates import Interval
from whet.workbench.expect.record import Record

_RIGHT = 1.05
"""A factor below that is as good as none."""

_WORDS = {
    ExpectationKind.TIME: ("times", "too optimistic", "too pessimistic"),
    ExpectationKind.MEMORY: ("memory", "too optimistic", "too pessimistic"),
    ExpectationKind.NUMBER: ("numbers", "too low", "too high"),
    ExpectationKind.OUTPUT: ("output", "", ""),
    ExpectationKind.ENDING: ("endings", "", ""),
}


def record_lines(record: Record) -> list[str]:
    """Return a block of lines for each kind of guess, and what was left out."""
    lines = [line for each in record.calibrations for line in _lines(each)]
    if lines and record.projects > 1:
        lines.append(
            f"These are your guesses in {record.projects} projects; --here counts only this one."
        )
    if record.left_out:
        runs = shown_count(record.left_out, "run")
        lines.append(f"Left out: the numbers of {runs} that failed, or that whet ended or resumed.")
    if record.unreadable:
        lines.append(f"Left out: {shown_count(record.unreadable, 'project')} that whet can't read.")
    return lines


def _lines(of: Calibration) -> list[str]:
    name, *_ = _WORDS[of.kind]
    share = f"{of.met} of {of.stated} as you expected ({_percent(of.share)})"
    if of.bias is None:
        return [f"{name}: {share}"]
    lines = [f"{name}: {_bias(of.bias, of.kind)}", f"  {share}"]
    if of.bias.advised is not None:
        lines.append(f"  {_advice(of.bias)}")
    if of.furthest is not None and of.furthest.ratio is not None and not of.furthest.was_met:
        ratio = of.furthest.ratio
        off = f"{shown_factor(max(ratio, 1 / ratio))} × {'more' if ratio > 1 else 'less'}"
        lines.append(f"  furthest off: {of.furthest.text}: {off} ({of.furthest.place})")
    return lines


def _bias(bias: Bias, kind: ExpectationKind) -> str:
    count = shown_count(bias.count, "guess")
    if bias.interval is None:
        return f"{_side(bias.middle, kind)} so far, but {count} can't show more than chance"
    low, high = bias.interval.low, bias.interval.high
    sure = f"{CONFIDENCE:.0%} sure, {count}"
    if bias.is_sure:
        ends = sorted(max(each, 1 / each) for each in (low, high))
        span = f"{shown_factor(ends[0])} to {shown_factor(ends[1])} ×"
        return f"{_side(bias.middle, kind)} ({span}, {sure})"
    span = f"{_side(low, kind)} to {_side(high, kind)}"
    return f"not off on one side, as far as {count} show ({span}, {sure})"


def _side(ratio: float, kind: ExpectationKind) -> str:
    _, more, less = _WORDS[kind]
    factor = max(ratio, 1 / ratio)
    if factor < _RIGHT:
        return "right"
    return f"{shown_factor(factor)} × {more if ratio > 1 else less}"


def _advice(bias: Bias) -> str:
    assert bias.advised is not None
    reach = shown_factor(max(bias.advised, _RIGHT))
    if not bias.is_sure:
        return f"a factor of {reach} each way would have held 8 of 10"
    scale = f"{bias.middle:.1f}" if bias.middle > 1 else f"{bias.middle:.2g}"
    return f"your guess times {scale}, and a factor of {reach} each way, would have held 8 of 10"


def _percent(share: Interval) -> str:
    return f"in the long run {share.low:.0%} to {share.high:.0%}"


def record_json(record: Record) -> dict[str, object]:
    """Return it as JSON data."""
    return {
        "confidence": CONFIDENCE,
        "kinds": [_json(each) for each in record.calibrations],
        "projects": record.projects,
        "left_out": record.left_out,
        "unreadable": record.unreadable,
    }


def _json(of: Calibration) -> dict[str, object]:
    bias = of.bias
    interval = None if bias is None else bias.interval
    return {
        "kind": of.kind.value,
        "stated": of.stated,
        "met": of.met,
        "share_low": of.share.low,
        "share_high": of.share.high,
        "guesses": 0 if bias is None else bias.count,
        "ratio": None if bias is None else bias.middle,
        "ratio_low": None if interval is None else interval.low,
        "ratio_high": None if interval is None else interval.high,
        "advised_factor": None if bias is None else bias.advised,
        "furthest": None if of.furthest is None else of.furthest.text,
    }
