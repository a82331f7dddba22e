"""What the agents of a trial have heard of its compilers."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from whet.core.observations.profile import Compilation
from whet.core.text.record import MalformedRecordError, as_record, decoded
from whet.host.files.agent_files import process_of, reports_in

VARIABLES = {"WHET_COMPILES": "1"}
"""They tell the agent to listen."""


def read_compilations(folder: Path) -> tuple[Compilation, ...]:
    """Return the compilations of all processes of a trial, in the order of each process."""
    return tuple(_compilations(folder))


def _compilations(folder: Path) -> Iterator[Compilation]:
    for path, report in reports_in(folder, ".compilations"):
        for line in report.splitlines():
            with suppress(MalformedRecordError):  # it was killed on the way
                told = as_record(decoded(line), "compilation")
                yield Compilation.from_json({**told, "pid": process_of(path)})
