"""Whether a payload is still what its name says: a smaller one that any parser refuses shows nothing."""

import ast
import configparser
import json
import tomllib
import warnings
from collections.abc import Callable, Mapping
from pathlib import PurePath
from xml.parsers import expat


def _json(payload: bytes) -> None:
    json.loads(payload)


def _json_lines(payload: bytes) -> None:
    for line in payload.splitlines():
        if line.strip():
            json.loads(line)


def _toml(payload: bytes) -> None:
    tomllib.loads(payload.decode("utf-8"))


def _python(payload: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(ast.parse(payload), "<payload>", "exec", dont_inherit=True)


def _xml(payload: bytes) -> None:
    is_final = True
    expat.ParserCreate().Parse(payload, is_final)


def _ini(payload: bytes) -> None:
    configparser.RawConfigParser().read_string(payload.decode("utf-8"))


_PARSERS: Mapping[str, Callable[[bytes], None]] = {
    ".json": _json,
    ".geojson": _json,
    ".ipynb": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".toml": _toml,
    ".py": _python,
    ".xml": _xml,
    ".svg": _xml,
    ".ini": _ini,
}
_REFUSALS = (ValueError, SyntaxError, RecursionError, MemoryError, OverflowError)
_ERRORS = (*_REFUSALS, expat.ExpatError, configparser.Error)


def validity_of(payload: bytes, name: str) -> Callable[[bytes], bool] | None:
    """Return what says whether a payload is valid; None: no such rule holds for this one.

    Args:
        payload: as it is; what its own parser refuses need not be valid later either.
        name: file name, whose ending says the format.
    """
    parse = _PARSERS.get(PurePath(name).suffix.lower())
    if parse is None:
        return None

    def is_valid(candidate: bytes) -> bool:
        try:
            parse(candidate)
        except _ERRORS:
            return False
        return True

    return is_valid if is_valid(payload) else None
