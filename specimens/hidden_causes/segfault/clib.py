"""Files by way of the C library, which tells more about errors than Python does."""

import ctypes
import ctypes.util

_C = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
_C.fgets.restype = ctypes.c_char_p


class CFile:
    def __init__(self, path: str) -> None:
        self._stream = _C.fopen(path.encode(), b"r")
        if not self._stream:
            raise OSError(ctypes.get_errno(), "cannot be opened", path)

    def lines(self) -> list[bytes]:
        found: list[bytes] = []
        buffer = ctypes.create_string_buffer(4096)
        while _C.fgets(buffer, len(buffer), self._stream):
            found.append(buffer.value)
        return found

    def close(self) -> None:
        _C.fclose(self._stream)
