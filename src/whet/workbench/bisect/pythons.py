"""`whet bisect --python 3.10..3.13`: the first Python on which a command fails."""

import re
from collections.abc import Mapping
from dataclasses import replace

from whet.bisection.picture import outline, picture
from whet.bisection.terms import Terms
from whet.core.errors import BadUsage, UnknownRelease
from whet.core.event import Notice
from whet.core.trial import Trial
from whet.host.python.environments import PYTHON
from whet.host.python.python_interpreter import PythonFacts
from whet.host.python.pythons import Minor, fetched_python, pythons_between
from whet.search.history.bisection import Bisection
from whet.search.history.version_graph import line_of
from whet.workbench.bisect.packages import pins_named
from whet.workbench.trials.bench import Workbench
from whet.workbench.versions.releases import environments_for
from whet.workbench.versions.versions import Versions

_ENDS = 2
_RANGE = re.compile(r"(?P<major>\d)\.(?P<first>\d+)\.\.(?:(?P=major)\.)?(?P<last>\d+)")


def pythons(bench: Workbench, trial: Trial, wanted: str, packages: str = "") -> Versions:
    """Return the Pythons of a range as versions to search.

    Each gets an environment of its own, with the packages that are named. A Python that is not
    on this machine is fetched by uv where it can be.

    Args:
        bench: the workbench.
        trial: the command.
        wanted: such as ``3.10..3.13``.
        packages: a file of pins, or ``now``; empty: no packages.

    Raises:
        BadUsage: if the range cannot be read.
        UnknownRelease: if there are not two Pythons in it.
        PayloadMissing, SettingsUnreadable: if the packages cannot be read.
    """
    first, last = _range(wanted)
    inherited = {**bench.environment, **trial.environment}
    found = pythons_between(first, last, inherited)
    missing = [(first[0], minor) for minor in range(first[1], last[1] + 1)
               if (first[0], minor) not in found]  # fmt: skip
    for minor in missing:
        fetched = fetched_python(minor, inherited)
        if fetched is None:
            bench.emit(Notice(text=f"Python {_shown(minor)} is not on this machine: left out"))
        else:
            found[minor] = fetched
    if len(found) < _ENDS:
        raise UnknownRelease(
            f"of the Pythons {wanted} this machine has {len(found)}",
            hint="`uv python list` shows them; `uv python install 3.12` gets one",
        )
    pins = dict(pins_named(bench, trial, packages)) if packages else dict[str, str]()
    return _versions(bench, trial, dict(sorted(found.items())), pins)


def _range(wanted: str) -> tuple[Minor, Minor]:
    told = _RANGE.fullmatch(wanted)
    if told is None or int(told["first"]) >= int(told["last"]):
        raise BadUsage(
            f"`--python {wanted}` is no range of Pythons",
            hint="write the oldest and the newest: `--python 3.10..3.13`",
        )
    major = int(told["major"])
    return (major, int(told["first"])), (major, int(told["last"]))


def _shown(minor: Minor) -> str:
    return f"{minor[0]}.{minor[1]}"


def _versions(
    bench: Workbench,
    trial: Trial,
    found: Mapping[Minor, PythonFacts],
    pins: Mapping[str, str],
) -> Versions:
    inherited = {**bench.environment, **trial.environment}
    facts = list(found.values())
    environments = replace(
        environments_for(bench, inherited, facts[-1]),
        pythons={each.version: each.path for each in facts},
    )
    line = [each.version for each in facts]

    def between(old: str, new: str) -> Bisection[str]:
        return Bisection(line_of(line[line.index(old) : line.index(new) + 1]), new, (old,))

    def drawn(state: Bisection[str], used: Terms) -> str:
        return picture(
            outline(state.standings(), first_bad=state.result().first_bad), str, terms=used
        )

    return Versions(
        kind="version",
        subject=PYTHON,
        old=line[0],
        new=line[-1],
        label=lambda version: version,
        describe=lambda versions: {each: environments.pythons[each] for each in versions},
        details=lambda version: f"Python {version}, {environments.pythons[version]}",
        on=lambda each, version: replace(each, packages={**pins, PYTHON: version}),
        place=environments.place,
        bisection=between,
        line=lambda: (line[::-1], frozenset()),
        picture=drawn,
    )
