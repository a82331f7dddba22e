"""What makes JSON a Jupyter notebook that opens (nbformat 4)."""

import json
import re
from collections.abc import Mapping
from typing import cast

_MAJOR, _FIRST_WITH_IDS = 4, 5
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_TEXT = (str, list)
_COUNT = (int, type(None))
_Shape = Mapping[str, "type | tuple[type, ...]"]

_NOTEBOOK: _Shape = {"nbformat": int, "nbformat_minor": int, "metadata": dict, "cells": list}
_CELLS: Mapping[str, _Shape] = {
    "code": {"metadata": dict, "source": _TEXT, "outputs": list, "execution_count": _COUNT},
    "markdown": {"metadata": dict, "source": _TEXT},
    "raw": {"metadata": dict, "source": _TEXT},
}
_OUTPUTS: Mapping[str, _Shape] = {
    "stream": {"name": str, "text": _TEXT},
    "display_data": {"data": dict, "metadata": dict},
    "execute_result": {"data": dict, "metadata": dict, "execution_count": _COUNT},
    "error": {"ename": str, "evalue": str, "traceback": list},
}
"""What each object of a notebook holds at least, as the schema of nbformat 4 says."""


def check_notebook(payload: bytes) -> None:
    """Refuse what is no notebook that opens.

    Raises:
        ValueError: by the rule that it breaks.
        TypeError: likewise.
    """
    notebook = _holding(json.loads(payload), _NOTEBOOK)
    if notebook["nbformat"] != _MAJOR:
        raise ValueError("it is a notebook of another format")
    minor = cast("int", notebook["nbformat_minor"])
    cells = [_kind_of(each, "cell_type", _CELLS) for each in _list(notebook["cells"])]
    for cell in cells:
        _check_text(cell["source"])
        for output in _list(cell.get("outputs", [])):
            _check_text(_kind_of(output, "output_type", _OUTPUTS).get("text", ""))
    ids = [each["id"] for each in cells if "id" in each]
    is_named = minor >= _FIRST_WITH_IDS
    if (ids and not is_named) or (is_named and len(ids) < len(cells)):
        raise ValueError("cells have names from 4.5 on")
    if not all(isinstance(each, str) and _ID.fullmatch(each) for each in ids):
        raise ValueError("the name of a cell is another one")
    if len(set(ids)) < len(ids):
        raise ValueError("two cells have one name")


def _holding(value: object, shape: _Shape) -> dict[str, object]:
    found = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    for key, kinds in shape.items():
        if isinstance(found.get(key), bool) or not isinstance(found.get(key, ...), kinds):
            raise TypeError(f"`{key}` is missing or of another type")
    return found


def _kind_of(value: object, key: str, kinds: Mapping[str, _Shape]) -> dict[str, object]:
    kind = _holding(value, {key: str})[key]
    if kind not in kinds:
        raise ValueError(f"there is no `{key}` of this name")
    return _holding(value, kinds[str(kind)])


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _check_text(value: object) -> None:
    if not all(isinstance(line, str) for line in _list(value)):
        raise TypeError("a line is no text")
