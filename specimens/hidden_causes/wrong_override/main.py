"""Exports the month's sales, with a title."""

import sys

from exporters import CsvExporter
from templates import Templated

ROWS = [{"shop": "north", "sum": 12}, {"shop": "south", "sum": 9}]


class MonthlyExporter(Templated, CsvExporter):
    def export(self) -> None:
        self.use(title="March")
        self.write_all(ROWS, sys.stdout)


MonthlyExporter().export()
