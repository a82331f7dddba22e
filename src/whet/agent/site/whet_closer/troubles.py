"""What a value tells that a program drops: trouble, or that it is new and was meant for something.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os

from .report_file import is_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from whet.agent.site.whet_state.secret_rule import masked
else:
    from whet_state.secret_rule import masked

_TROUBLE = {
    "missing", "unexpected", "failed", "failure", "failures", "error", "errors", "skipped",
    "unmatched", "rejected", "invalid", "refused", "conflicts", "unresolved", "incomplete",
    "undelivered",
}  # fmt: skip
"""Words of the names of fields that are empty as long as all went well."""
_MOST_FIELDS, _MOST_TOLD = 40, 4
_LONGEST = 80
_MAGIC_FOLDER = 0x57686574  # tags what is whet's own, see `whet.host.kernel.syscalls`
_CONTAINERS = (list, tuple, set, frozenset, dict)
_ENDED_BY_SIGNAL = {-2, -9, -15}
"""The program mostly sent these itself."""
_WAITS = {"wait", "communicate", "join", "poll"}
_LOCKING = {"acquire", "wait", "wait_for"}
_OF_LOCKS = {"_thread", "threading", "multiprocessing", "whet_closer"}
_SENDS = {"send", "write"}
_COMPARED = {"datetime", "pathlib", "decimal", "fractions", "ipaddress", "uuid"}
_TEXT = (str, bytes)
_KEEPERS = ("list", "dict", "deque", "OrderedDict", "defaultdict", "Counter", "bytearray")
_EXECUTOR_MAP = "result_iterator"
kind_of: Any = type  # of what nothing is known
_parts: Any = vars(tuple)["__iter__"]


def trouble_of(value: Any, owner: Any, given: list[Any], name: str) -> dict[str, Any] | None:
    """Return what a dropped value tells of trouble; None: nothing.

    Args:
        value: what is dropped.
        owner: what the method was called of; None: that isn't known.
        given: the arguments, as far as they are known.
        name: what was called.
    """
    looks = (_in_status, _in_kind, _in_answer, _in_parts)
    return next(filter(None, (look(value, owner, given, name) for look in looks)), None)


def _in_status(value: Any, owner: Any, given: list[Any], name: str) -> dict[str, Any] | None:
    kind = kind_of(value)
    if kind.__name__ == "CompletedProcess" and _module_of(kind) == "subprocess":
        return _of_process(value) if value.returncode else None
    if kind is not int or not _is_status(owner, name):
        return None
    status = value >> 8 or value if name == "system" else value
    command = given[0] if given else ""
    return (
        {"is": "status", "status": status, "said": "", "absent": absent_in(command)}
        if status
        else None
    )


def _in_kind(value: Any, _owner: Any, _given: list[Any], _name: str) -> dict[str, Any] | None:
    """Return what the type of a value tells: an error, or what runs only when it is gone through."""
    if isinstance(value, BaseException):
        return {"is": "error", **told_of_error(value)}
    return {"is": "lazy"} if kind_of(value) in (map, filter) or _is_new_generator(value) else None


def _in_answer(value: Any, owner: Any, given: list[Any], name: str) -> dict[str, Any] | None:
    """Return what the answer of a method tells: it gave up waiting, or did a part."""
    if value is False and name in _LOCKING and _module_of(kind_of(owner)) in _OF_LOCKS:
        return {"is": "gave up"}
    if (
        kind_of(value) is int
        and name in _SENDS
        and given
        and isinstance(given[0], (bytes, bytearray))
    ):
        whole = len(given[0])
        return {"is": "short", "count": value, "of": whole} if 0 <= value < whole else None
    return None


def _in_parts(value: Any, owner: Any, given: list[Any], _name: str) -> dict[str, Any] | None:
    if any(value is each for each in (owner, *given)):
        return None  # the program has it still
    kind = kind_of(value)
    if kind in (list, tuple):
        errors = [each for each in value if isinstance(each, BaseException)]
        if errors:
            facts = told_of_error(errors[0])
            return {"is": "errors", "count": len(errors), "of": len(value), **facts}
    if kind is dict and value and _module_of(kind_of(owner)) == "smtplib":
        return {"is": "fields", "fields": [["refused", *_size_and_words(value)]]}
    fields = [
        [each, *_size_and_words(held)]
        for each, held in _fields_of(value)
        if _TROUBLE.intersection(each.lower().split("_")) and _is_trouble(held)
    ]
    return {"is": "fields", "fields": fields[:_MOST_TOLD]} if fields else None


def _is_new_generator(value: Any) -> bool:
    """Whether a generator of the user's has run nothing yet."""
    if kind_of(value).__name__ != "generator" or value.gi_frame is None:
        return False
    is_suspended = getattr(value, "gi_suspended", value.gi_frame.f_lasti >= 0)
    return not (is_suspended or value.gi_running) and is_own(value.gi_code.co_filename)


def exit_status_of(owner: Any, name: str) -> int:
    """Return the status with which the process ended that was waited for; 0: well, or not at all."""
    kind = kind_of(owner)
    is_process = any(
        each.__name__ in ("Popen", "BaseProcess")
        and _module_of(each) in ("subprocess", "multiprocessing")
        for each in kind.__mro__
    )
    if not is_process or name not in _WAITS:
        return 0
    status = owner.returncode if hasattr(owner, "returncode") else owner.exitcode
    return 0 if status is None or status in _ENDED_BY_SIGNAL else int(status)


def absent_in(command: Any) -> str:
    """Return the last path that a command names and that isn't there; empty: there is none."""
    words: list[Any] = command.split() if kind_of(command) is str else []
    if kind_of(command) in (list, tuple):
        words = [*command]
    for each in reversed(words):
        path = str(each) if kind_of(each) is str or hasattr(each, "__fspath__") else ""
        is_one = not set(path) & set(" \n;()=")
        if path[:1] != "-" and is_one and ("/" in path or "." in path):
            try:
                os.stat(os.path.abspath(path), dir_fd=_MAGIC_FOLDER)
            except FileNotFoundError:
                return str(masked(path))[:_LONGEST]
            except (OSError, ValueError):
                continue
    return ""


def _is_status(owner: Any, name: str) -> bool:
    return getattr(owner, "__name__", "") in ("os", "subprocess") and name in ("system", "call")


def _of_process(value: Any) -> dict[str, Any]:
    said = value.stderr or ""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    lines = text.strip().splitlines()
    return {
        "is": "status",
        "status": int(value.returncode),
        "said": masked(lines[-1])[:_LONGEST] if lines else "",
        "absent": absent_in(value.args),
    }


def told_of_error(error: BaseException) -> dict[str, Any]:
    """Return what an error says, and where it was raised in the user's own code."""
    arguments = BaseException.__dict__["args"].__get__(error)
    words = ": ".join(str(each) for each in arguments if kind_of(each) in (str, int, float))
    raised: list[Any] = []
    trace = BaseException.__dict__["__traceback__"].__get__(error)
    while trace is not None:
        code = trace.tb_frame.f_code
        if is_own(code.co_filename):
            raised = [code.co_filename, trace.tb_lineno, getattr(code, "co_qualname", code.co_name)]
        trace = trace.tb_next
    says = "{}: {}".format(type(error).__name__, words) if words else type(error).__name__
    return {"error": masked(says)[: 2 * _LONGEST], "raised": raised}


# ---- values that aren't there yet ----


class _Future:
    """A future whose result or error no code of the program can read any more."""

    def __init__(self, own: Any, kind: str) -> None:
        self._own = own
        self._kind = kind

    def watch(self, met: Callable[[BaseException], None]) -> None:
        """Call ``met`` with the error, if one comes; the future doesn't learn that it was looked at."""
        if self._kind == "pool":
            held = self._own.__dict__
            held["_error_callback"] = held["_error_callback"] or met
            return

        def ended(own: Any) -> None:
            error = getattr(own, "_exception", None)  # to ask for it would mark it as read
            if isinstance(error, BaseException):
                met(error)

        self._own.add_done_callback(ended)


def is_group(owner: Any) -> bool:
    """Whether an object asks for the results of all tasks that it starts."""
    return bool(kind_of(owner).__name__ == "TaskGroup")


def futures_in(value: Any) -> Iterator[_Future]:
    """Yield the futures that a dropped value is, or that it alone holds."""
    kind = kind_of(value)
    module = kind.__module__
    if module in ("_asyncio", "asyncio.tasks", "asyncio.futures", "concurrent.futures._base"):
        if hasattr(value, "add_done_callback"):
            yield _Future(value, "future")
    elif module == "multiprocessing.pool" and hasattr(value, "_error_callback"):
        yield _Future(value, "pool")
    elif kind.__name__ == "generator" and value.gi_code.co_name == _EXECUTOR_MAP:
        held: Any = {} if value.gi_frame is None else value.gi_frame.f_locals
        for each in held.get("fs") or ():
            yield _Future(each, "future")


# ---- fields ----


def _fields_of(value: Any) -> list[tuple[str, Any]]:
    """Return the fields of a record, by their names; no code of the program's is run for it."""
    kind = kind_of(value)
    if kind is dict:
        pairs = list(value.items()) if len(value) <= _MOST_FIELDS else []
        return [(key, each) for key, each in pairs if kind_of(key) is str]
    names: Any = next(
        (e.__dict__["_fields"] for e in kind.__mro__ if "_fields" in e.__dict__), None
    )
    if _is_any(value, (tuple,)) and kind_of(names) is tuple:
        return [(str(names[at]), each) for at, each in enumerate(_parts(value))]
    try:
        held: Any = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        return []
    if kind_of(held) is not dict or len(held) > _MOST_FIELDS or _is_any(value, (type,)):
        return []
    return [(str(key), each) for key, each in held.items()]


def _is_trouble(value: Any) -> bool:
    if _is_any(value, _CONTAINERS):
        return len(value) > 0
    if kind_of(value) is int:
        return bool(value > 0)
    is_text = kind_of(value) is str and " " in value  # a word may be a setting
    return value is True or isinstance(value, BaseException) or is_text


def _size_and_words(value: Any) -> list[Any]:
    """Return the number of items (0 if it isn't a container), and the first one in words."""
    if not _is_any(value, _CONTAINERS):
        return [0, _words(value)]
    return [len(value), _words(next(iter(value)))]


def _words(value: Any) -> str:
    plain = (str, int, float, bool, bytes)
    if isinstance(value, BaseException):
        return _cut(str(told_of_error(value)["error"]))
    parts: list[Any] = [value]
    if kind_of(value) in (dict, tuple):
        parts = [*value, *(value.values() if kind_of(value) is dict else ())]
    is_short = len(parts) <= 2 * _MOST_TOLD and all(kind_of(each) in plain for each in parts)
    return _cut(masked(repr(value))) if is_short else kind_of(value).__name__


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"


# ---- what is new ----


def is_new(value: Any, held: Any, *, is_method: bool) -> bool:
    """Whether a value is of the type of another one, isn't it, and differs from it.

    The methods of a list and a dictionary return what is in it, or a copy.
    """
    kind = kind_of(value)
    if value is held or kind is not kind_of(held) or kind in (bool, int, float, type(is_new)):
        return False
    if is_method and kind.__name__ in _KEEPERS:
        return False
    if kind in _TEXT or kind.__module__.partition(".")[0] in _COMPARED:
        return bool(value != held)
    if kind in (list, tuple):
        return len(value) != len(held) or any(a is not held[at] for at, a in enumerate(value))
    if kind in (set, frozenset):
        return len(value) != len(held)
    return not _is_any(value, (type,))


def _is_any(value: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds)


def _module_of(kind: type) -> str:
    return kind.__module__.partition(".")[0]
