"""The last calls of C functions by way of ctypes, kept where a crash doesn't reach them."""

from __future__ import annotations

import os
import sys

from .report_file import as_json, open_high, reserve, user_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .report_file import ReportLines

_FUNCTION = "_FuncPtr"
_SLOTS, _SLOT_BYTES = 64, 1024
_above = vars(sys)["_getframe"]


class ForeignCalls:
    """Notes each call before it is made, in a file that is mapped into memory."""

    def __init__(self, told: ReportLines, folder: str) -> None:
        self._told = told
        self._folder = folder
        self._memory: Any = None
        self._pid = 0
        self._count = 0

    def watch(self, module: dict[str, Any]) -> None:
        """Let libraries that are loaded from now on tell of their calls."""
        calls, library = self, module["CDLL"]
        begin = library.__init__
        plain = module["_CFuncPtr"].__call__
        address = module["_SimpleCData"]

        def begin_told(own: Any, *arguments: Any, **named: Any) -> None:
            begin(own, *arguments, **named)
            made = getattr(own, _FUNCTION)
            kept = {"_flags_": made._flags_, "_restype_": made._restype_, "__call__": call}
            setattr(own, _FUNCTION, type(_FUNCTION, (made,), kept))

        def call(function: Any, *values: Any, **more: Any) -> Any:
            note = calls.start(function, values, user_place(_above(1)), address)
            result = plain(function, *values, **more)
            calls.end(note, result)
            return result

        library.__init__ = begin_told

    def start(self, function: Any, values: Any, at: list[Any], simple: Any) -> dict[str, Any]:
        """Note a call before it is made."""
        default = _default_of(function.__class__)
        note: dict[str, Any] = {
            "function": str(getattr(function, "__name__", "")),
            "place": at,
            "declares": [function.argtypes is not None, function.restype is not default],
            "values": [_number(each, simple) for each in values[:8]],
            "result": None,
            "over": False,
        }
        note["order"] = self._count
        self._count += 1
        self._write(note)
        return note

    def end(self, note: dict[str, Any], result: Any) -> None:
        """Note that a call has come back, and with what."""
        note["over"] = True
        note["result"] = result if type(result) is int else None
        self._write(note)

    def _write(self, note: dict[str, Any]) -> None:
        if self._pid != os.getpid():
            self._open()
        if self._memory is None:
            return
        line = as_json(note).encode("ascii")
        if len(line) < _SLOT_BYTES:
            start = note["order"] % _SLOTS * _SLOT_BYTES
            self._memory[start : start + _SLOT_BYTES] = line.ljust(_SLOT_BYTES)

    def _open(self) -> None:
        self._pid = os.getpid()
        try:
            mapping = __import__("mmap")
            path = os.path.join(self._folder, "{}.calls".format(self._pid))
            descriptor = open_high(path, os.O_RDWR | os.O_CREAT)
            # With a hole in it, to write there on a full disk would end the program (SIGBUS).
            if reserve(descriptor, _SLOTS * _SLOT_BYTES):
                self._memory = mapping.mmap(descriptor, _SLOTS * _SLOT_BYTES)
            os.close(descriptor)
        except (ImportError, OSError, ValueError):
            self._memory = None


def _number(value: Any, simple: Any) -> int | None:
    """Return a whole number or an address that is handed over; None: it is something else."""
    if type(value) is int:
        return int(value)
    if isinstance(value, simple):
        held = value.value
        return held if type(held) is int else None
    return None


def _default_of(kind: type) -> object:
    """Return what a library's functions are taken to return where nothing is declared."""
    found: object = kind.__dict__["_restype_"]
    return found
