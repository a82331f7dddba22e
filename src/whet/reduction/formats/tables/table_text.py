"""Tables as a person reads them."""

from whet.core.text.quantity import shown_count
from whet.reduction.formats.tables.tables import Sheet

MOST_ROWS = 30
"""In longer tables, whet only counts the rest."""


def sheet_text(sheet: Sheet) -> str:
    """Return the columns with their types, and the rows below them."""
    if not (sheet.heads or sheet.rows or sheet.name):
        return "\n".join(sheet.notes) or "nothing"
    if not sheet.heads:
        text = f"{shown_count(sheet.rows, 'row')} without columns"
        return "\n".join([f"{sheet.name}: {text}" if sheet.name else text, *sheet.notes])
    blocks = [range(min(sheet.rows, MOST_ROWS))]
    shown = sheet.with_rows(blocks)
    columns = [
        [head, *(map(_cell_text, shown.column(column)))] for column, head in enumerate(sheet.heads)
    ]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in zip(*columns, strict=True)
    ]
    lines = [f"{sheet.name}:", *lines] if sheet.name else lines
    if sheet.rows > MOST_ROWS:
        lines.append(f"... {sheet.rows - MOST_ROWS} more rows")
    return "\n".join([*lines, *sheet.notes])


def _cell_text(cell: object) -> str:
    return repr(cell)
