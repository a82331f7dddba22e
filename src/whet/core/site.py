"""Where exactly a program failed: what tells one bug from its neighbour while the code stays as it is."""

from whet.core.text.json_record import Record
from whet.core.value_class import value_class


@value_class(kw_only=True)
class Site(Record):
    """The operation that failed, and the calls that led to it; equal for two failures of one bug.

    It holds lines and columns, so it means nothing once the code has changed: that is why it is no
    part of the signature.

    Attributes:
        at: the innermost frame of the user's own code, ``file.py:function:line``, with the columns
            that its traceback marks: which subscript, attribute or call of the line failed.
        operation: what is there, as it is written; empty: the traceback doesn't show it.
        callers: the frames of the user's own code that led there, in the same words, outermost
            first, up to the first function that calls itself.
        is_recursive: a function in the stack calls itself: how deep is up to the data.
        sign: whether the first of two numbers that a failed assertion states is larger (1), smaller
            (-1) or neither (0); None: it doesn't state two.
    """

    at: str
    operation: str = ""
    callers: tuple[str, ...] = ()
    is_recursive: bool = False
    sign: int | None = None

    def is_that_of(self, other: "Site | None") -> bool:
        """Whether another failure is in the same place: this one is the original."""
        if other is None or other.at != self.at or other.sign != self.sign:
            return False
        if self.is_recursive:
            return other.callers[: len(self.callers)] == self.callers
        return other.callers == self.callers
