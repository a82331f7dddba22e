"""`whet bisect --python 3.10..3.13`: the first Python on which a command fails."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from whet.core.errors import BadUsage, UnknownRelease
from whet.core.event import Notice
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.python.environments import PYTHON
from whet.host.python.pythons import Minor, fetched_python, pythons_between
from whet.search.history.bisection import Bisection
from whet.search.history.version_graph import line_of
from whet.workbench.bisect.packages import pins_named
from whet.workbench.trials.bench import Workbench
from whet.workbench.versions.releases import environments_for
from whet.workbench.versions.version_source import Versions

_ENDS = 2
_RANGE = re.compile(r"(?P<major>\d)\.(?P<first>\d+)\.\.(?:(?P=major)\.)?(?P<last>\d+)")


def pythons(bench: Workbench, trial: Trial, range_text: str, packages: str = "") -> Versions:
    """Return the Pythons of a range as versions to search.

    Each gets an environment of its own, with the packages that are named. A Python that isn't
    on this machine is fetched by uv where it can be.

    Args:
        bench: the workbench.
        trial: the command.
        range_text: such as ``3.10..3.13``.
        packages: a file of pins, or ``now``; empty: no packages.

    Raises:
        BadUsage: if the range can't be read.
        UnknownRelease: if there aren't two Pythons in it.
        PayloadMissing, SettingsUnreadable: if the packages can't be read.
    """
    first, last = _range(range_text)
    inherited = {**bench.environment, **trial.environment}
    versions = pythons_between(first, last, inherited)
    missing = [(first[0], minor) for minor in range(first[1], last[1] + 1)
               if (first[0], minor) not in versions]  # fmt: skip
    for minor in missing:
        fetched = fetched_python(minor, inherited)
        if fetched is None:
            bench.emit(Notice(text=f"Python {_shown(minor)} isn't on this machine; skipped"))
        else:
            versions[minor] = fetched
    if len(versions) < _ENDS:
        raise UnknownRelease(
            f"this machine has {len(versions)} of the Pythons {range_text}",
            hint="`uv python list` lists them; `uv python install 3.12` installs one",
        )
    pins = dict(pins_named(bench, trial, packages)) if packages else dict[str, str]()
    facts = [versions[minor] for minor in sorted(versions)]
    environments = replace(
        environments_for(bench, inherited, facts[-1]),
        pythons={each.version: each.path for each in facts},
    )
    return _Pythons(
        subject=PYTHON,
        old=facts[0].version,
        new=facts[-1].version,
        place=environments.place,
        pythons=environments.pythons,
        pins=pins,
    )


@value_class(kw_only=True)
class _Pythons(Versions):
    """Pythons of several versions.

    Attributes:
        pythons: where each of them is, by its version, oldest first.
        pins: the packages that each gets.
    """

    kind: ClassVar[str] = "version"
    pythons: Mapping[str, str]
    pins: Mapping[str, str]

    def describe(self, versions: Sequence[str]) -> Mapping[str, str]:
        return {each: self.pythons[each] for each in versions}

    def details(self, version: str) -> str:
        return f"Python {version}, {self.pythons[version]}"

    def on(self, trial: Trial, version: str) -> Trial:
        return replace(trial, packages={**self.pins, PYTHON: version})

    def bisection(self, old: str, new: str) -> Bisection[str]:
        line = list(self.pythons)
        return Bisection(line_of(line[line.index(old) : line.index(new) + 1]), new, (old,))

    def line(self) -> tuple[Sequence[str], frozenset[int]]:
        return list(self.pythons)[::-1], frozenset()


def _range(text: str) -> tuple[Minor, Minor]:
    match = _RANGE.fullmatch(text)
    if match is None or int(match["first"]) >= int(match["last"]):
        raise BadUsage(
            f"`--python {text}` isn't a range of Pythons",
            hint="write the oldest and the newest: `--python 3.10..3.13`",
        )
    major = int(match["major"])
    return (major, int(match["first"])), (major, int(match["last"]))


def _shown(minor: Minor) -> str:
    return f"{minor[0]}.{minor[1]}"
