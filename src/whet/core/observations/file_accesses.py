"""What a run looked at in the checkout that it ran in."""

import json

from whet.core.text.json_record import Record
from whet.core.text.record import as_record, decoded
from whet.core.value_class import value_class

READS_GIT = "reads git's own metadata"
"""The gap of a run for which two commits differ though their files are equal."""


@value_class(kw_only=True)
class FileAccesses(Record):
    """All paths that a run and its reset steps named, and more than they saw.

    Attributes:
        gap: why nothing may be concluded from it, such as that git's own data were read; empty:
            two checkouts that are equal on all of it are the same to this run.
        paths: named in any way, found or not, by their real place from the top of the checkout.
        folders: opened, so that the names in them may have been seen; the top is empty.
        moved: folders that were given another place.
        calls: how many system calls were held to find out.
        held_seconds: for how long, all together.
    """

    gap: str = ""
    paths: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    calls: int = 0
    held_seconds: float = 0.0

    def to_bytes(self) -> bytes:
        """Return it as JSON text."""
        return json.dumps(self.to_json()).encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> "FileAccesses":
        """Return what ``to_bytes`` wrote.

        Raises:
            ValueError, MalformedRecordError: if it is something else.
        """
        return cls.from_json(as_record(decoded(data), "looks"))
