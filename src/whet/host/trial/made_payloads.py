"""A program's report of what it made with `whet.make`."""

from contextlib import suppress
from pathlib import Path

from whet.core.observations.evidence import MADE, Evidence
from whet.core.text.record import MalformedRecordError, decoded, record_of
from whet.host.files.agent_files import reports_in

SUFFIX = ".made"
_MOST_BYTES, _MOST = 1 << 20, 100


def read_made(agent_folder: Path) -> Evidence:
    """Return what the programs of a trial made, as one observation; of very much, the first."""
    found: list[object] = []
    for _, report in reports_in(agent_folder, SUFFIX, most_bytes=_MOST_BYTES):
        with suppress(MalformedRecordError):
            for line in report.splitlines():
                found += [] if record_of(each := decoded(line)) is None else [each]
    return Evidence(kind=MADE, detail={"made": found[:_MOST]})
