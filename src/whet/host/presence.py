"""Which Pythons took up whet's agent in a trial, as they told from inside, behind whatever wrapper."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from whet.core.evidence import PYTHONS, Evidence
from whet.core.record import records, text, texts
from whet.host.stacks import is_user_code

_SUFFIX = ".python"
_MOST_BYTES = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """A Python that told of itself.

    Attributes:
        executable: its path.
        version: such as ``CPython 3.11.7``.
        files: the user's files that it was started with or had imported at its end.
    """

    executable: str
    version: str
    files: tuple[str, ...]


def read_pythons(agent_folder: Path) -> Evidence:
    """Return the Pythons of a trial as one observation."""
    told: list[dict[str, object]] = []
    for path in sorted(agent_folder.glob(f"*{_SUFFIX}"), key=_by_process):
        with suppress(OSError):
            found = _record(path.read_bytes()[:_MOST_BYTES])
            if found not in told:
                told.append(found)
    return Evidence(kind=PYTHONS, detail={"pythons": told})


def pythons_in(evidence: Sequence[Evidence]) -> tuple[Present, ...]:
    """Return the Pythons that told of themselves."""
    return tuple(
        Present(
            executable=text(told, "executable"),
            version=text(told, "version"),
            files=texts(told, "files"),
        )
        for each in evidence
        if each.kind == PYTHONS
        for told in records(each.detail, "pythons")
        if text(told, "executable")
    )


def _record(data: bytes) -> dict[str, object]:
    executable = version = ""
    files: dict[str, None] = {}
    for record in data.split(b"\0\0"):
        kind, *parts = map(os.fsdecode, record.split(b"\0"))
        if kind == "python" and len(parts) > 1:
            executable, version = parts[:2]
        elif kind == "files":
            found = map(os.path.realpath, filter(_is_of_user, parts))
            files.update(dict.fromkeys(found))
    return {"executable": executable, "version": version, "files": list(files)}


def _is_of_user(path: str) -> bool:
    return path.endswith(".py") and is_user_code(path) and os.path.isfile(path)


def _by_process(path: Path) -> int:
    return int(path.stem) if path.stem.isdigit() else 0
