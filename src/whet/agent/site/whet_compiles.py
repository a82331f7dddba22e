"""Tells what JAX and torch compile in this process: which function, from where, for which types.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    Guards = dict[str, Callable[[dict[str, Any]], None]]
    Tell = Callable[[str, bytes], None]
if TYPE_CHECKING or __name__.startswith("whet."):
    from whet.agent.site.whet_installed import is_library
else:
    from whet_installed import is_library

_SUFFIX = ".compilations"
_MOST, _MOST_TYPES, _MOST_CHARACTERS = 2000, 40, 400
_COMPILED = "/jax/core/compile/backend_compile_duration"
_BEFORE = (
    "/jax/core/compile/jaxpr_trace_duration",
    "/jax/core/compile/jaxpr_to_mlir_module_duration",
)
_LOGGER, _MESSAGE = "jax._src.interpreters.pxla", "Compiling %s with global shapes and types"
_ANY_ERROR = (Exception,)
_above = vars(sys)["_getframe"]


def begin(tell: Tell) -> Guards:
    """Return what is called when the compilers have been imported."""
    compilations = _Compilations(tell)
    return {"jax": compilations.hear_jax, "torch._dynamo.utils": compilations.hear_torch}


class _Compilations:
    """The compilations of one process."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._count = 0
        self._types: dict[int, list[str]] = {}
        self._before: dict[tuple[int, str], float] = {}

    def hear_jax(self, module: dict[str, Any]) -> None:
        """Hear of each compilation of JAX."""
        try:
            module["monitoring"].register_event_duration_secs_listener(self._note_duration)
            self._hear_types()
        except _ANY_ERROR:  # a JAX that has no such call
            pass

    def hear_torch(self, module: dict[str, Any]) -> None:
        """Hear of each compilation of torch, whose metrics it keeps in a queue."""
        kept: Any = module.get("_compilation_metrics")
        if kept is None:
            return
        note = self._note_metrics
        plain: Any = kept.__class__

        def append(queue: Any, metrics: Any) -> None:
            note(metrics)
            plain.append(queue, metrics)

        queue_class: Any = type("Metrics", (plain,), {"append": append})
        module["_compilation_metrics"] = queue_class(kept, maxlen=kept.maxlen)

    # ---- JAX ----

    def _hear_types(self) -> None:
        """Read the types of arguments in what JAX logs; what it logs on its own stays as it is."""
        logging: Any = sys.modules["logging"]
        logger: Any = logging.getLogger(_LOGGER)
        own_level = logger.level

        def is_for_the_program(record: Any) -> bool:
            try:
                if isinstance(record.msg, str) and record.msg.startswith(_MESSAGE):
                    shown = [_shown_type(each) for each in record.args[1][:_MOST_TYPES]]
                    self._types[get_ident()] = shown
            except _ANY_ERROR:
                pass
            return bool(record.levelno >= (own_level or logger.parent.getEffectiveLevel()))

        logger.addFilter(is_for_the_program)
        logger.setLevel(logging.DEBUG)

    def _note_duration(self, event: str, seconds: float, **more: Any) -> None:
        name = str(more.get("fun_name", ""))
        thread = get_ident()
        if event in _BEFORE:
            self._before[thread, name] = seconds
        if event != _COMPILED:
            return
        function = name[4:-1] if name.startswith("jit(") else name
        for each in (name, function):
            seconds += self._before.pop((thread, each), 0.0)
        self._before = {key: value for key, value in self._before.items() if key[0] != thread}
        frame = _users_frame(_above(1))
        place = ("", 0, "")
        if frame is not None:
            place = frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
        types = self._types.pop(thread, None)
        unknown = "its types weren't logged" if types is None else ""
        self._note("JAX", function, place, seconds, types or [], unknown)

    # ---- torch ----

    def _note_metrics(self, metrics: Any) -> None:
        try:
            name = metrics.co_name
            if not name:
                return
            place = str(metrics.co_filename or ""), int(metrics.co_firstlineno or 0), ""
            seconds = metrics.entire_frame_compile_time_s
            if seconds is None:
                seconds = (getattr(metrics, "duration_us", None) or 0) / 1e6
            reason = getattr(metrics, "recompile_reason", None) or ""
            self._note("torch.compile", str(name), place, float(seconds), [], str(reason))
        except _ANY_ERROR:  # a torch that keeps other metrics: the program is what matters
            pass

    def _note(
        self,
        compiler: str,
        function: str,
        place: tuple[str, int, str],
        seconds: float,
        types: list[str],
        reason: str,
    ) -> None:
        self._count += 1
        if self._count > _MOST:
            return
        import json

        words = {
            "compiler": compiler, "function": function, "path": place[0], "line": place[1],
            "caller": place[2], "seconds": round(seconds, 6), "types": types,
            "reason": reason[:_MOST_CHARACTERS],
        }  # fmt: skip
        self._tell(_SUFFIX, (json.dumps(words) + "\n").encode("ascii", "replace"))


def _shown_type(value: Any) -> str:
    short = getattr(value, "str_short", None)
    return str(value if short is None else short())[:_MOST_CHARACTERS]


def _users_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the user's own code."""
    while frame is not None:
        path = frame.f_code.co_filename
        if path != __file__ and not path.startswith("<") and not is_library(path):
            return frame
        frame = frame.f_back
    return None
