"""A path as Python prints it where its name isn't UTF-8."""

import re

_BYTE = re.compile(r"\\udc([89a-f][0-9a-f])")
_SURROGATE = 0xDC00


def path_printed(path: str) -> str:
    r"""Return the path that a program printed: on standard error Python writes the byte E9 as `\udce9`."""
    return _BYTE.sub(lambda found: chr(_SURROGATE + int(found[1], 16)), path)
