"""Profiles as files: for the viewers that others made."""

from collections.abc import Callable, Mapping, Sequence

from whet.core.errors import BadUsage
from whet.core.observations.evidence import TIMELINE
from whet.core.observations.profile import Profile
from whet.core.observations.timeline import Timeline
from whet.core.text.record import as_record, decoded
from whet.host.files.files import write_atomically
from whet.measurement.profiles.exports.chrome_trace import chrome_trace
from whet.measurement.profiles.exports.collapsed import collapsed
from whet.measurement.profiles.exports.pprof import pprof
from whet.measurement.profiles.exports.speedscope import speedscope
from whet.workbench.files.asked_files import asked_file
from whet.workbench.trials.bench import Workbench

_Write = Callable[[Profile, Sequence[Timeline], str], bytes]


def _trace(profile: Profile, timelines: Sequence[Timeline], _name: str) -> bytes:
    return chrome_trace(profile, timelines)


def _speedscope(profile: Profile, _timelines: Sequence[Timeline], name: str) -> bytes:
    return speedscope(profile, name)


def _collapsed(profile: Profile, _timelines: Sequence[Timeline], _name: str) -> bytes:
    return collapsed(profile)


def _pprof(profile: Profile, _timelines: Sequence[Timeline], _name: str) -> bytes:
    return pprof(profile)


FORMATS: Mapping[str, _Write] = {
    ".trace.json": _trace,
    ".speedscope.json": _speedscope,
    ".collapsed": _collapsed,
    ".pb.gz": _pprof,
}
"""What writes a profile, by the end of the file's name."""


def check_format(file: str) -> None:
    """Check before the program runs that the name of a file tells a format.

    Raises:
        BadUsage: if it doesn't.
    """
    if not any(file.endswith(end) for end in FORMATS):
        raise BadUsage(
            f"`--export {file}`: the end of the name doesn't say which format",
            hint=f"the name ends in {', '.join(FORMATS)}; `--html` writes a page",
        )


def export(file: str, profile: Profile, timelines: Sequence[Timeline], name: str) -> None:
    """Write a profile to a file, in the format that its name tells.

    Raises:
        DiskFull: if there is no space for it.
        CannotWrite: if it can't be written.
    """
    write = next(write for end, write in FORMATS.items() if file.endswith(end))
    write_atomically(asked_file("--export", file), write(profile, timelines, name))


def timelines_of(bench: Workbench, number: int) -> list[Timeline]:
    """Return what else was recorded of a trial over time, such as its sections."""
    return [
        Timeline.from_json(as_record(decoded(each.data), TIMELINE))
        for each in bench.notebook.evidence_of(number, TIMELINE)
    ]
