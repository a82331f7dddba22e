"""Tables in plain text, with a header and a bar between cells."""

from tinytable.reading import load
from tinytable.rows import Row, Table

__all__ = ["Row", "Table", "load"]
