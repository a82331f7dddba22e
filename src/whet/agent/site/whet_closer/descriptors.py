"""Who holds the descriptors when there are no more: by the line that has opened them."""

from __future__ import annotations

import os
import sys

from .report_file import user_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .report_file import ReportLines

_MOST_PLACES = 6
_MOST_DESCRIPTORS = 70_000
_above = vars(sys)["_getframe"]
_OPENS = {"open", "subprocess.Popen"}


class Descriptors:
    """Remembers which line of the user's has opened which file, and made how many sockets."""

    def __init__(self, told: ReportLines) -> None:
        self._told = told
        self._by_path: dict[str, list[Any]] = {}
        self._sockets: list[tuple[Any, list[Any]]] = []
        self._pipes: dict[tuple[Any, ...], int] = {}
        self._has_told = False
        self._is_noting = False

    def begin(self) -> None:
        """Have Python call for each file that it opens."""
        sys.addaudithook(lambda name, given: self._hear(name, given) if name in _OPENS else None)

    def watch_sockets(self, module: dict[str, Any]) -> None:
        """Remember each socket of the program by a weak reference, with the line that made it."""
        kind = module["socket"]
        make = kind.__init__
        refer = __import__("_weakref").ref

        def begin_known(own: Any, *arguments: Any, **named: Any) -> None:
            make(own, *arguments, **named)
            at = user_place(_above(1))
            if at:
                self._sockets.append((refer(own), at))

        kind.__init__ = begin_known

    def _hear(self, event: str, arguments: Any) -> None:
        if self._is_noting:
            return
        self._is_noting = True
        try:
            at = user_place(_above(1).f_back)  # there is none when Python opens the script itself
            path = arguments[0]
            if not at:
                return
            if event == "open" and type(path) in {str, bytes}:
                self._by_path[os.path.abspath(os.fsdecode(path))] = at
            elif event == "subprocess.Popen":
                self._pipes[tuple(at)] = self._pipes.get(tuple(at), 0) + 1
        except (OSError, ValueError):
            return  # the folder is gone, or it is no path
        finally:
            self._is_noting = False

    def tell(self) -> None:
        """Write down who holds the open descriptors, the first time that there are no more."""
        if self._has_told:
            return
        self._has_told = True
        held: dict[tuple[Any, ...], list[Any]] = {}
        total = kinds = 0
        for number in range(_limit()):
            # Nothing is opened for this: there is no descriptor for it.
            try:
                target = os.readlink("/proc/self/fd/{}".format(number))
            except OSError:
                continue
            total += 1
            at = self._by_path.get(target.replace(" (deleted)", ""))
            if at is not None:
                held.setdefault(tuple(at), [0, target])[0] += 1
            elif target.startswith(("pipe:", "socket:")):
                kinds += 1
        for reference, at in self._sockets:
            own = reference()
            if own is not None and own.fileno() >= 0:
                held.setdefault(tuple(at), [0, "sockets"])[0] += 1
        if kinds and self._pipes:
            starter, count = max(self._pipes.items(), key=lambda each: each[1])
            held.setdefault(starter, [0, "pipes of programs that it started"])[0] += min(
                kinds, 3 * count
            )
        most = sorted(held.items(), key=lambda each: -each[1][0])[:_MOST_PLACES]
        self._told.tell(
            "descriptors",
            total=total,
            holders=[{"place": list(at), "count": n, "such_as": path} for at, (n, path) in most],
        )


def _limit() -> int:
    soft = 4096
    try:
        with_limits = __import__("resource")
        soft = with_limits.getrlimit(with_limits.RLIMIT_NOFILE)[0]
    except ImportError:
        pass
    return min(max(soft, 0) or _MOST_DESCRIPTORS, _MOST_DESCRIPTORS)
