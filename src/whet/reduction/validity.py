"""Whether a payload is still what its name says: a smaller one that any parser refuses shows nothing."""

import ast
import configparser
import csv
import io
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePath
from xml.parsers import expat

from whet.core.text.toml import toml_data
from whet.reduction.formats.documents.notebooks import check_notebook
from whet.reduction.formats.documents.transcripts import rules_of
from whet.reduction.formats.tables.csv_table import CSV


def _json(payload: bytes) -> None:
    json.loads(payload)


def _json_lines(payload: bytes) -> None:
    for line in payload.splitlines():
        if line.strip():
            json.loads(line)


def _toml(payload: bytes) -> None:
    toml_data(payload.decode("utf-8"))


def _python(payload: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(ast.parse(payload), "<payload>", "exec", dont_inherit=True)


def _xml(payload: bytes) -> None:
    is_final = True
    expat.ParserCreate().Parse(payload, is_final)


def _ini(payload: bytes) -> None:
    configparser.RawConfigParser().read_string(payload.decode("utf-8"))


def _yaml(payload: bytes) -> None:
    try:
        import yaml
        from yaml import SafeLoader, YAMLError, compose_all
    except ImportError as error:  # not installed, or broken: no rule holds then
        raise ValueError from error
    try:
        for _ in compose_all(payload, Loader=getattr(yaml, "CSafeLoader", SafeLoader)):
            pass
    except YAMLError as error:
        raise ValueError from error


_PARSERS: Mapping[str, tuple[Callable[[bytes], None], ...]] = {
    ".json": (_json,),
    ".geojson": (_json,),
    ".ipynb": (check_notebook, _json),
    ".jsonl": (_json_lines,),
    ".ndjson": (_json_lines,),
    ".toml": (_toml,),
    ".py": (_python,),
    ".xml": (_xml,),
    ".svg": (_xml,),
    ".ini": (_ini,),
    ".yaml": (_yaml,),
    ".yml": (_yaml,),
}
"""What reads the files of an ending, the strictest first."""

_TABLES, _JSONS = (".csv", ".tsv"), (".json", ".jsonl", ".ndjson")
_REFUSALS = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, OverflowError)
_ERRORS = (*_REFUSALS, expat.ExpatError, configparser.Error, csv.Error)


def _table_of(payload: bytes) -> Callable[[bytes], None] | None:
    """Return what reads a table by the delimiter of a payload; None: the payload is none."""
    table = CSV.parse(payload)
    if table is None:
        return None
    delimiter = payload[table.rows[0].cells[0][1] :][:1].decode("latin-1")

    def read(candidate: bytes) -> None:
        text = io.StringIO(candidate.decode("latin-1"), newline="")
        widths = {len(row) for row in csv.reader(text, delimiter=delimiter, strict=True) if row}
        if len(widths) > 1:
            raise ValueError("rows of different lengths")

    return read


def lost_header(payload: bytes, candidate: bytes, name: str) -> bool:
    """Whether a table had a header, and a smaller one starts with something else.

    A header is a first row of different words over columns of which one holds numbers alone.
    """
    is_named = PurePath(name).suffix.lower() in _TABLES
    if not is_named or _table_of(payload) is None or not candidate:
        return False
    head, *rows = _cells(payload)
    is_header = len(set(head)) == len(head) and not any(map(_is_number, head)) and all(head)
    columns = zip(*(row for row in rows if len(row) == len(head)), strict=False)
    has_numbers = any(all(map(_is_number, column)) for column in columns)
    first = (_cells(candidate) or [candidate.splitlines()[:1]])[0]
    return is_header and has_numbers and not set(first) <= set(head)


def _cells(payload: bytes) -> list[list[bytes]]:
    table = CSV.parse(payload)
    rows = () if table is None else table.rows
    return [[payload[start:end] for start, end in row.cells] for row in rows]


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def validity_of(payload: bytes, name: str) -> Callable[[bytes], bool] | None:
    """Return what says whether a payload is valid; None: no such rule holds for this one.

    Args:
        payload: as it is; what its own parser refuses need not be valid later either.
        name: file name, whose ending says the format.
    """
    suffix = PurePath(name).suffix.lower()
    for parse in _parsers_of(payload, suffix):
        if _is_read(parse, payload):
            return partial(_is_read, parse)
    return None


def _parsers_of(payload: bytes, suffix: str) -> Iterator[Callable[[bytes], None]]:
    """Yield what may read a payload, the strictest first."""
    table = _table_of(payload) if suffix in _TABLES else None
    if table is not None:
        yield table
    rules = rules_of(payload) if suffix in _JSONS else None
    if rules is not None:
        yield rules.check
    yield from _PARSERS.get(suffix, ())


def _is_read(parse: Callable[[bytes], None], payload: bytes) -> bool:
    try:
        parse(payload)
    except _ERRORS:
        return False
    return True
