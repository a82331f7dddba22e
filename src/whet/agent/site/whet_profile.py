"""Waits at the start of a Python until a profiler watches it, so that none of its lines is missed.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_SECONDS = 10.0


def begin(name: str) -> dict[str, Callable[[dict[str, object]], None]]:
    """Wait until whet lets this Python start, or can't be reached.

    Args:
        name: of the socket at which whet waits.
    """
    import _socket

    own = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    try:
        own.settimeout(_MOST_SECONDS)
        own.connect(b"\0" + name.encode())
        own.send("{}.{}".format(*sys.version_info[:2]).encode())
        own.recv(1)
    except OSError:
        pass  # another network, or whet has gone: the program is what matters
    finally:
        own.close()
    return {}
