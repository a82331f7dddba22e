"""The kinds of payload that hold tables in a form that nobody reads."""

from dataclasses import replace

from whet.reduction.formats.tables.arrow_tables import ARROW, ARROW_STREAM, PARQUET
from whet.reduction.formats.tables.excel import EXCEL
from whet.reduction.formats.tables.sqlite_tables import SQLITE
from whet.reduction.formats.tables.table_passes import TABLE_PASSES, texts_in_tables
from whet.reduction.formats.tables.table_text import sheet_text
from whet.reduction.formats.tables.tables import TableLayout, Tables, order_of_tables
from whet.reduction.payload_kind import Kind, Part, lifted
from whet.reduction.reduction_pass import Format


def _kind(layout: TableLayout) -> Kind:
    format_: Format[Tables] = layout.format()

    def shown(payload: bytes) -> str:
        view = format_.parse(payload)
        return "" if view is None else "\n\n".join(map(sheet_text, view.sheets))

    def again(payload: bytes) -> bytes:
        view = format_.parse(payload)
        return payload if view is None else view.written(lambda: view.sheets)

    def inside(payload: bytes) -> list[Part]:
        return texts_in_tables(format_.parse(payload))

    return Kind(
        name=layout.name,
        claims=lambda payload, _name: format_.parse(payload) is not None,
        passes=tuple(
            replace(each, name=f"{each.name} ({layout.name})")
            for each in lifted(format_, TABLE_PASSES)
        ),
        order=order_of_tables(format_),
        is_text=False,
        inside=inside,
        shown=shown,
        again=again,
    )


TABLE_KINDS = tuple(map(_kind, (PARQUET, ARROW, ARROW_STREAM, EXCEL, SQLITE)))
