"""What `whet repeat --amplify` has found, in lines and as data."""

import re
import sys
from collections.abc import Iterator

from whet.cli.console import styled
from whet.core.text.quantity import shown_count
from whet.search.flaky.failure_rates import Runs
from whet.workbench.toggle.amplified import AmplifyReport, Tried

_MOST_PLACES = 3
_MORE_RUNS = 40


def amplified_lines(report: AmplifyReport) -> Iterator[str]:
    """Yield the lines that tell it."""
    plain = report.as_it_is
    if not plain.total:
        yield "no run has a verdict yet"
        return
    what = f"{report.summary}, " if plain.failed else ""
    yield f"as it is: {what}{_share(plain)}"
    if not plain.passed:
        yield "it fails every time: no switch can make it more frequent"
        return
    yield from _table(report)
    yield from _conclusion(report)


def _table(report: AmplifyReport) -> Iterator[str]:
    ordered = sorted(report.tried, key=lambda each: (not each.raises, -_rate(each.runs)))
    width = max((len(each.name) for each in ordered), default=0)
    for each in ordered:
        word = _word(each, report.as_it_is)
        style = "green" if each.raises else "dim"
        slowdown = "" if each.slowdown is None else f"{each.slowdown:5.1f} x"
        number = "" if each.trial is None else f"  #{each.trial}"
        yield (
            f"{each.name:{width}}  {styled(f'{word:9}', style, sys.stdout)}"
            f"  {_share(each.runs):22} {slowdown}{number}"
        ).rstrip()
        if each.raises:
            yield styled(f"{'':{width}}  {each.toggles[0].does}", "dim", sys.stdout)
    if report.unread:
        yield styled(f"nothing reads: {', '.join(report.unread)}", "dim", sys.stdout)


def _word(each: Tried, plain: Runs) -> str:
    if each.raises:
        return "raises it"
    if not each.runs.total:  # whether the program reads it was seen in one run
        return "not run" if each.slowdown is None else "unclear"
    return "unclear" if _rate(each.runs) > _rate(plain) else "no more"


def _conclusion(report: AmplifyReport) -> Iterator[str]:
    for place in report.places[:_MOST_PLACES]:
        where = place.name.partition("@")[2]
        yield f"a sleep in {styled(where, 'bold', sys.stdout)} alone: {_share(place.runs)}"
    strongest = report.kept
    if strongest is None and not report.stopped.is_complete:
        yield f"{report.stopped.value} before it was clear which switch makes it more frequent"
    elif strongest is None:
        yield from _unproved(report)
    else:
        what = "" if report.as_it_is.failed else f": {report.summary}"
        yield f"most with {strongest.name}: {_share(strongest.runs)}, in runs of their own{what}"
        yield (
            f"continue with that: `whet again {strongest.trial}`,"
            f" `whet shrink --like {strongest.trial} FILE`, `whet repeat --like {strongest.trial}`"
        )
    if any(each.raises for each in (*report.tried, *report.places)):
        chance = f"{100 * report.error:.2g} %"
        yield f"the chance that any of these is wrong is at most {chance}"


def _unproved(report: AmplifyReport) -> Iterator[str]:
    """Yield what is known where nothing is proved: that is no proof of the contrary."""
    best = max(report.tried, key=lambda each: _rate(each.runs), default=None)
    if best is None or _rate(best.runs) <= _rate(report.as_it_is):
        yield "no switch made it fail more often"
        return
    yield "no switch is proved to make it more frequent"
    yield f"it failed most often with {best.name}: {_share(best.runs)}"
    options = dict.fromkeys(re.split("[@=]", each.name)[0] for each in (best, *report.tried))
    option = next(iter(options))
    if len(options) > 1:
        yield f"testing it alone takes fewer runs: `whet repeat --amplify --amplifier {option} -- COMMAND`"
    else:
        more = max(_MORE_RUNS, 2 * report.as_it_is.total)
        yield f"for a clearer answer, start with more plain runs: `-n {more}`"


def _share(runs: Runs) -> str:
    if not runs.total:
        return ""
    return f"{runs.failed} of {shown_count(runs.total, 'run')} ({100 * _rate(runs):.0f} %)"


def _rate(runs: Runs) -> float:
    return runs.failed / runs.total if runs.total else 0.0


def amplified_json(report: AmplifyReport) -> dict[str, object]:
    """Return it as JSON data."""
    strongest = report.kept
    return {
        "failure": report.summary,
        "failed": report.as_it_is.failed,
        "runs": report.as_it_is.total,
        "amplifiers": [_tried_json(each) for each in report.tried],
        "unread": list(report.unread),
        "run_off": [_tried_json(each) for each in report.run_off],
        "places": [_tried_json(each) for each in report.places],
        "kept": None if strongest is None else _tried_json(strongest),
        "error": report.error,
        "trials": report.trials,
        "stopped": report.stopped.name.lower(),
        "reason": report.stopped.value,
        "wall_seconds": round(report.wall_seconds, 3),
    }


def _tried_json(each: Tried) -> dict[str, object]:
    return {
        "toggles": [toggle.name for toggle in each.toggles],
        "failed": each.runs.failed,
        "runs": each.runs.total,
        "raises": each.raises,
        "took": each.took,
        "slowdown": None if each.slowdown is None else round(each.slowdown, 2),
        "trial": each.trial,
    }
