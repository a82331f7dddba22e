"""Functions that do the same inside of something: a section, an annotation.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

from functools import update_wrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from contextlib import AbstractContextManager
    from typing import Any

    Around = Callable[[], AbstractContextManager[object]]

_COROUTINE, _GENERATOR, _ASYNC_GENERATOR = 0x180, 0x20, 0x200  # flags of code objects
_BOUND = (staticmethod, classmethod)
_ANYTHING = (BaseException,)  # may be thrown into a generator


def decorated(function: Any, around: Around) -> Any:
    """Return a function that does the same inside of what `around` makes each time.

    Raises:
        TypeError: if it is a class, or nothing that can be called.
    """
    if type(function) in _BOUND:
        return _bound(type(function), function, around)
    if isinstance(function, type) or not callable(function):
        name = getattr(function, "__name__", repr(function))
        raise TypeError("{} is no function: decorate its methods".format(name))
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    kinds = (_ASYNC_GENERATOR, _async_generator), (_COROUTINE, _coroutine), (_GENERATOR, _generator)
    make = next((make for kind, make in kinds if flags & kind), _plain)
    return update_wrapper(make(function, around), function)


def _bound(kind: Any, function: Any, around: Around) -> Any:
    return kind(decorated(function.__func__, around))


def _plain(function: Any, around: Around) -> Any:
    def call(*values: Any, **named: Any) -> Any:
        with around():
            return function(*values, **named)

    return call


def _coroutine(function: Any, around: Around) -> Any:
    async def call(*values: Any, **named: Any) -> Any:
        with around():
            return await function(*values, **named)

    return call


def _generator(function: Any, around: Around) -> Any:
    def call(*values: Any, **named: Any) -> Generator[Any, Any, Any]:
        with around():
            inner: Generator[Any, Any, Any] = function(*values, **named)
            return (yield from inner)

    return call


def _async_generator(function: Any, around: Around) -> Any:
    async def call(*values: Any, **named: Any) -> AsyncGenerator[Any, Any]:
        with around():
            inner = function(*values, **named)
            try:
                value = await inner.asend(None)
                while True:
                    try:
                        sent = yield value
                    except GeneratorExit:
                        raise
                    except _ANYTHING as error:
                        value = await inner.athrow(error)
                    else:
                        value = await inner.asend(sent)
            except StopAsyncIteration:
                return
            finally:
                await inner.aclose()

    return call
