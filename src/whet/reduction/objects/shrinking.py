"""`whet.shrink`: the smallest value for which a function still fails in the same way."""

import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import islice
from typing import Self, TypeVar, cast

from whet.core.errors import BaselineDoesNotFail
from whet.core.verdict import Verdict
from whet.reduction.objects.passes import reduce_tree
from whet.reduction.objects.reading import Reader
from whet.reduction.objects.tree import Node, NotBuiltError, build
from whet.search.proposal import run_search

ValueT = TypeVar("ValueT")

_LONGEST = 60
_UNIT = 2  # bytes of code that each have a position


def shrink(
    value: ValueT, fails: Callable[[ValueT], object], *, most_calls: int | None = None
) -> ValueT:
    """Return the smallest and plainest value for which ``fails`` still fails in the same way.

    What "fails" means is decided by the first call, on the value itself::

        smallest = whet.shrink(orders, lambda orders: total(orders) < 0)  # it returns true
        smallest = whet.shrink(orders, total)  # it raises

    Where it raises, the same way is an exception of the same class from the same expression of
    the same line of code; any other exception, and none, isn't it. Where it returns, what is true fails, and an
    exception doesn't.

    Lists, tuples, sets, dictionaries and records (data classes, named tuples, attrs and pydantic
    classes) lose their elements, or get their defaults back; then numbers, texts and bytes become
    as plain as they can: 0, 1, "", "a". Arrays, data frames and tensors get shorter along each
    axis, then plain in dtype and values. Objects of ordinary classes keep their attributes, which
    get smaller. Any other object is copied and kept as it is, or None takes its place.

    The value itself is never changed, and no call is given an object that another call had, but
    for what can't be copied. In the end no single element can be left out and no value made
    plainer, and the same value and function always give the same result.

    Args:
        value: what to start from.
        fails: takes a value; may change it.
        most_calls: call ``fails`` no more often, and return the smallest value so far; None: until
            nothing smaller fails. Ctrl-C does the same, with a warning.

    Raises:
        BaselineDoesNotFail: if ``fails`` doesn't fail for ``value``.
    """
    calls = _Calls(fails=cast("Callable[[object], object]", fails), most_calls=most_calls)
    tree = Reader().read(value)
    calls.begin(tree, value)
    try:
        run_search(reduce_tree(tree), calls.test)
    except _OutOfCallsError:
        pass
    except KeyboardInterrupt:
        warnings.warn(
            f"stopped by Ctrl-C after {calls.count} calls: the smallest value so far",
            RuntimeWarning,
            stacklevel=2,
        )
    return cast("ValueT", build(calls.best))


class _OutOfCallsError(Exception):
    """``most_calls`` are spent."""


@dataclass(slots=True, kw_only=True)
class _Calls:
    """The calls of the function: none on a value that was tried before.

    Attributes:
        fails: the function.
        most_calls: how many there may be; None: any number.
        best: the smallest tree that fails.
        count: how many there were.
    """

    fails: Callable[[object], object]
    most_calls: int | None
    count: int = 0
    _best: Node | None = None
    _way: Hashable = None
    _tried: set[Node] = field(default_factory=set[Node])

    @property
    def best(self) -> Node:
        """The smallest tree that fails."""
        assert self._best is not None, "`begin` comes first"
        return self._best

    def begin(self, tree: Node, value: object) -> None:
        """Call the function on the value itself, and learn what its failing is.

        Raises:
            BaselineDoesNotFail: if it doesn't fail.
        """
        self._best = tree
        self._tried.add(tree)
        self._way = self._way_of(build(tree))
        if self._way is False:
            name = getattr(self.fails, "__name__", "the function")
            shown = repr(value)
            cut = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
            raise BaselineDoesNotFail(
                f"`{name}` neither raises nor returns true for `{cut}`",
                hint="give a function that returns true, or raises, where a value shows the failure",
            )

    def test(self, tree: Node) -> Verdict:
        """Return whether a value fails in the same way; one that is known or is none doesn't."""
        if tree in self._tried:
            return Verdict.GOOD
        self._tried.add(tree)
        try:
            value = build(tree)
        except NotBuiltError:
            return Verdict.GOOD
        if self.most_calls is not None and self.count >= self.most_calls:
            raise _OutOfCallsError
        if self._way_of(value) != self._way:
            return Verdict.GOOD
        self._best = tree
        return Verdict.BAD

    def _way_of(self, value: object) -> Hashable:
        """Return how the function fails: where it raised what, or that it returned what is true."""
        self.count += 1
        returned: object = None
        with _Raised() as raised:
            returned = self.fails(value)
        return bool(returned) if raised.error is None else _place_of(raised.error)


class _Raised:
    """Takes what a block raises: `sys.exit` and `pytest.fail` are failures too, Ctrl-C is none."""

    error: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, KeyboardInterrupt | GeneratorExit):
            self.error = error
        return self.error is not None


def _place_of(error: BaseException) -> Hashable:
    """Return the class of an exception and the expression that raised it: its lines and columns."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return (type(error), "", 0)
    code = trace.tb_frame.f_code
    expression = next(islice(code.co_positions(), trace.tb_lasti // _UNIT, None), None)
    return (type(error), code.co_filename, trace.tb_lineno, expression)
