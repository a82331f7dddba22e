"""Tables as text."""

from collections.abc import Iterable
from typing import TextIO

Row = dict[str, object]


class Exporter:
    def write_all(self, rows: Iterable[Row], to: TextIO) -> None:
        for row in rows:
            to.write(self.render(row))

    def render(self, row: Row) -> str:
        raise NotImplementedError


class CsvExporter(Exporter):
    def render(self, row: Row) -> str:
        return ",".join(str(value) for value in row.values()) + "\n"
