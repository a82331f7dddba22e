"""What the agent needs of `typing`, which takes long to import.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import cast
else:

    def cast(_kind: str, value: object) -> object:  # noqa: D103 - as of `typing`
        return value


__all__ = ["cast"]
