"""Sorted runs of records that wait in temporary files until they are merged."""

import tempfile
from collections.abc import Iterable, Iterator


class SpoolError(Exception):
    pass


class Spool:
    def __init__(self) -> None:
        self._runs: list[tempfile._TemporaryFileWrapper[str]] = []

    def add(self, records: Iterable[str]) -> None:
        run = tempfile.NamedTemporaryFile("w+", prefix="run-", suffix=".txt")
        self._runs.append(run)
        try:
            run.writelines(f"{record}\n" for record in sorted(records))
            run.flush()
        except Exception:
            raise SpoolError("cannot keep a run") from None

    def __iter__(self) -> Iterator[Iterable[str]]:
        for run in self._runs:
            run.seek(0)
            yield run
