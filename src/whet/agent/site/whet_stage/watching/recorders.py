"""What records the sections of the program (`whet_sections`): a copy begins a record of its own.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Recorder(Protocol):
        """What says that it records, by the audit event `RECORDER`."""

        def rest(self) -> None:
            """Hold no file open."""

        def resume(self) -> None:
            """Begin again, in a copy that has resumed."""


RECORDER = "whet.sections"
_ANY_ERROR = (Exception,)  # whoever has raised the event


class Recorders:
    """Those of the program: whet's own, and that of a file which stands alone."""

    def __init__(self) -> None:
        self._all: list[Recorder] = []

    def add(self, recorder: Any) -> None:
        """Take in what has said that it records."""
        if hasattr(recorder, "rest") and hasattr(recorder, "resume"):
            self._all.append(recorder)

    def rest(self) -> None:
        """Have them hold no file open: a copy is about to be taken."""
        for each in self._all:
            try:
                each.rest()
            except _ANY_ERROR:
                continue

    def resume(self) -> None:
        """Have them begin again, in a copy that has resumed."""
        for each in self._all:
            try:
                each.resume()
            except _ANY_ERROR:
                continue
