"""Whether two failures of different versions of a program may be one bug: by grades, in words.

Between versions the code changes, and with it what a failure is called, what it says and where
it comes from. So an equal signature is too much to ask there. What is asked for is that enough of
the three stays: the error's class, the frame, the text.
"""

import builtins
import re

from whet.core.failure import Failure, FailureKind

_ALIKE = 0.5
"""The share of common words above which one text is the other, reworded."""
_ALIKE_ALONE = 0.6
_WORDS_ALONE = 3
"""A text without other evidence needs more words than this."""

_WORD = re.compile(r"[^\W\d_]+")

_SURROUNDINGS = frozenset({
    FailureKind.BROKEN_IMPORT, FailureKind.USAGE_ERROR, FailureKind.RESET, FailureKind.TIMEOUT,
    FailureKind.OUT_OF_MEMORY, FailureKind.NO_SPACE_LEFT, FailureKind.SIGNAL,
})  # fmt: skip
_MISFITS = frozenset({
    "AttributeError", "NameError", "UnboundLocalError", "TypeError", "SyntaxError",
    "IndentationError", "TabError", "NotImplementedError",
})  # fmt: skip
"""Python's errors where code meets another version of what it calls."""
_SPOKEN = frozenset({"AssertionError", "Exception", "RuntimeError", "ValueError"})
"""Built-in classes that programs mostly raise on purpose."""


def likeness(known: Failure, met: Failure) -> str:
    """Say how ``met`` resembles ``known``, by the strongest likeness; empty: not at all.

    Args:
        known: the failure that is looked for, on one version.
        met: what another version showed.
    """
    is_text_alike = _similarity(known, met) >= _ALIKE
    if known.kind in _SURROUNDINGS or met.kind in _SURROUNDINGS:
        is_same = known.kind is met.kind and known.signature.signal == met.signature.signal
        is_near = is_text_alike or (_is_one_frame(known, met) and _may_say_otherwise(known, met))
        return f"{known.kind.value} again, with another text" if is_same and is_near else ""
    return (
        _by_frame(known, met, is_text_alike=is_text_alike)
        or _by_class(known, met, is_text_alike=is_text_alike)
        or _by_chain(known, met, is_text_alike=is_text_alike)
        or _by_words(known, met)
    )


def tells_of_itself(failure: Failure) -> bool:
    """Whether a failure is of the program at work: no code that doesn't fit, no start in vain."""
    place = failure.place
    is_import = place is not None and place.function == "<module>" and place != failure.frames[0]
    is_misfit = _name(failure.signature.exception) in _MISFITS
    return failure.kind not in _SURROUNDINGS and not is_misfit and not is_import


def _by_frame(known: Failure, met: Failure, *, is_text_alike: bool) -> str:
    if not _is_one_frame(known, met):
        return ""
    before, after = _name(met.signature.exception), _name(known.signature.exception)
    if not before or not after:
        return ""
    if before == after:
        is_one = is_text_alike or _may_say_otherwise(known, met)
        return f"the same {after} in the same frame, reworded" if is_one else ""
    is_spoken = all(name in _SPOKEN or not _is_built_in(name) for name in (before, after))
    is_function = not _frame(known).endswith("<module>") and _may_say_otherwise(known, met)
    if is_text_alike or is_spoken or is_function:
        return f"same frame, {before} became {after}"
    return ""


def _by_class(known: Failure, met: Failure, *, is_text_alike: bool) -> str:
    name = _name(known.signature.exception)
    if not name or name != _name(met.signature.exception):
        return ""
    moved = f"from {_frame(met) or 'no frame'} to {_frame(known) or 'no frame'}"
    if is_text_alike:
        return f"the same {name} and text, moved {moved}"
    if _operation(known) == _operation(met) != "":
        return f"the same {name} by the same operation, moved {moved}"
    here, there = _frame(known).split(":"), _frame(met).split(":")
    is_near = "" not in (*here, *there) and (here[0] == there[0] or here[-1] == there[-1])
    return f"the same {name}, moved {moved}" if is_near and not _is_built_in(name) else ""


def _by_chain(known: Failure, met: Failure, *, is_text_alike: bool) -> str:
    for outer, inner in ((known, met), (met, known)):
        name = _name(inner.signature.exception)
        if name not in map(_name, outer.signature.causes) or not name:
            continue
        places = {(frame.path, frame.function) for frame in outer.frames}
        is_shared = any((frame.path, frame.function) in places for frame in inner.frames)
        if not _is_built_in(name) or is_shared or is_text_alike:
            wrapper = _name(outer.signature.exception)
            return f"{name} on one side, {wrapper} raised from {name} on the other"
    return ""


def _by_words(known: Failure, met: Failure) -> str:
    if _similarity(known, met) >= _ALIKE_ALONE and len(_words(known)) >= _WORDS_ALONE:
        return "the same text, in another kind of failure"
    code = known.signature.exit_code
    if known.kind is met.kind is FailureKind.EXIT and code == met.signature.exit_code is not None:
        return f"the same exit code {code}, another text"
    return ""


def _is_one_frame(known: Failure, met: Failure) -> bool:
    return _frame(known) == _frame(met) != ""


def _may_say_otherwise(known: Failure, met: Failure) -> bool:
    """Whether the words of both are the program's own, so that a release may change them."""
    names = {_name(each.signature.exception) for each in (known, met)}
    is_import = FailureKind.BROKEN_IMPORT in {known.kind, met.kind}
    return not is_import and names.isdisjoint(_MISFITS)


def _frame(failure: Failure) -> str:
    return failure.signature.user_function or failure.signature.library_function


def _operation(failure: Failure) -> str:
    return "" if failure.site is None else failure.site.operation


def _name(exception: str) -> str:
    return exception.rsplit(".", 1)[-1]


def _is_built_in(name: str) -> bool:
    return hasattr(builtins, name)


def _words(failure: Failure) -> set[str]:
    return {word.lower() for word in _WORD.findall(failure.signature.message)}


def _similarity(known: Failure, met: Failure) -> float:
    """Return which share of the words of both texts is in both; 0 where one says nothing."""
    left, right = _words(known), _words(met)
    return len(left & right) / len(left | right) if left and right else 0.0
