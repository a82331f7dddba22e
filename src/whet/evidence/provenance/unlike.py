"""Arrays that an operation can't take together: on two devices, of two element types, of two shapes."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from whet.core.text.record import items_of
from whet.core.value_class import value_class
from whet.evidence.provenance.recording import ARRAY, Value

# PyTorch's other names for an element type in its messages.
_CALLED = {
    "float16": "half", "float32": "float", "float64": "double", "int64": "long", "int32": "int",
    "int16": "short", "uint8": "byte", "complex64": "complexfloat", "complex128": "complexdouble",
}  # fmt: skip
_WORD = re.compile(r"[a-z_]+\d*|\d+")
_TENSOR = re.compile(r"(\w+)tensor\b")


@value_class
class Unlike:
    """What two arrays differ in, as the error says.

    Attributes:
        fact: `device`, `dtype` or `shape`.
        odd: what the one has that most arrays of the program have not; empty: neither stands out.
    """

    fact: str
    odd: str

    def of(self, value: Value) -> str:
        """Return what an array has of it."""
        return _fact(value, self.fact)

    def like(self, value: Value) -> Callable[[Value], bool]:
        """Return the question whether another array has the same of it."""
        own = self.of(value)
        return lambda other: self.of(other) == own

    def words(self, value: Value) -> str:
        """Return that as the end of a sentence: "on cpu", "an array of float32", "an array of shape 7x5"."""
        head = {"device": "on", "dtype": "an array of"}.get(self.fact, "an array of shape")
        return f"{head} {self.of(value) or 'no dimension'}"


def unlike_in(message: str, arrays: Sequence[Value], all_values: Iterable[Value]) -> Unlike | None:
    """Return what arrays of a failed operation differ in, where its error speaks of that.

    What a library holds by itself, such as weights, may not have been recorded: of an array that
    stands alone, the element type that the error names beside its own is the other one's.

    Args:
        message: what the error says.
        arrays: what the operation was given.
        all_values: every value that was recorded.
    """
    said = message.lower()
    known = {each.number: each for each in all_values if each.kind == ARRAY}.values()
    for fact in ("device", "dtype", "shape"):
        for one, other in combinations(arrays, 2):
            first, second = _fact(one, fact), _fact(other, fact)
            if first != second and _speaks_of(said, fact, first, second):
                return Unlike(fact, "" if fact == "shape" else _rarer(fact, first, second, known))
    for own in {_fact(each, "dtype") for each in arrays} if len(arrays) == 1 else ():
        for beside in _CALLED:
            if beside != own and _speaks_of(said, "dtype", own, beside):
                is_odd = _rarer("dtype", own, beside, known) == own
                return Unlike("dtype", own if is_odd else "")
    return None


def _rarer(fact: str, first: str, second: str, known: Iterable[Value]) -> str:
    """Return which of two is rarer among the arrays of a program; empty: neither."""
    usual = Counter(_fact(each, fact) for each in known)
    rarer, other = sorted((first, second), key=lambda each: usual[each])
    return rarer if usual[rarer] < usual[other] else ""


def _fact(value: Value, fact: str) -> str:
    held = value.facts.get(fact, "")
    return "x".join(map(str, items_of(held))) if fact == "shape" else str(held)


def _speaks_of(said: str, fact: str, first: str, second: str) -> bool:
    """Whether an error's words are about two arrays' facts that differ."""
    if not (first and second):
        return False
    if fact == "device":
        kinds = {first.partition(":")[0], second.partition(":")[0]}
        names = kinds if len(kinds) > 1 else {first, second}
        is_asked_for = "same" in said and ("device" in said or any(kind in said for kind in kinds))
        return is_asked_for or all(name in said for name in names)
    words = {*_WORD.findall(said), *_TENSOR.findall(said)}
    if fact == "dtype":
        return all(each in words or _CALLED.get(each, each) in words for each in (first, second))
    one, other = set(first.split("x")), set(second.split("x"))
    return bool((one - other) & words) and bool((other - one) & words)
