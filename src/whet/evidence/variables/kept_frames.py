"""A recorded failure as a traceback of real frames, which any debugger can walk.

For each frame, whet compiles a few instructions with the same file, function and line, and runs them with
the recorded variables until they raise. It runs no code of the program.
"""

import ast
from collections.abc import Mapping, Sequence
from types import CodeType, FrameType, FunctionType, TracebackType

from whet.core.text.record import MalformedRecordError
from whet.evidence.variables.kept_failure import KeptError, KeptFrame, Variable
from whet.evidence.variables.kept_objects import rebuilt


class _StoppedHereError(Exception):
    """Ends the instructions that stand for a frame."""


def traceback_of(error: KeptError) -> TracebackType | None:
    """Return the traceback of an error; None if no frames were kept.

    Raises:
        MalformedRecordError: if a frame stands where none can.
    """
    spaces: dict[str, dict[str, object]] = {}
    trace: TracebackType | None = None
    for entry in reversed(error.frames):
        try:
            frame = _frame(entry, spaces.setdefault(entry.module, {"__name__": entry.module}))
            trace = TracebackType(trace, frame, frame.f_lasti, entry.frame.line)
        except (ValueError, OverflowError) as refused:  # as of a line number of 100 digits
            raise MalformedRecordError(f"a frame stands nowhere: {refused}") from refused
    return trace


def user_depth(error: KeptError) -> int:
    """Return the position of the innermost frame of the user's code."""
    own = [at for at, entry in enumerate(error.frames) if entry.frame.in_user_code]
    return own[-1] if own else len(error.frames) - 1


def _frame(kept: KeptFrame, space: dict[str, object]) -> FrameType:
    variables = kept.variables or ()
    space.update(_values([each for each in variables if each.is_global]))
    # Globals and locals in one: what a function's own instructions would tell apart is known.
    names = {**space, **_values([each for each in variables if not each.is_global])}
    stands: TracebackType | None = None
    try:
        FunctionType(_code(kept), names)()
    except _StoppedHereError as stopped:
        stands = stopped.__traceback__
    while stands is not None and stands.tb_next is not None:
        stands = stands.tb_next
    assert stands is not None, "it always raises"
    return stands.tb_frame


def _values(variables: Sequence[Variable]) -> Mapping[str, object]:
    return {each.name: rebuilt(each.value) for each in variables}


def _code(kept: KeptFrame) -> CodeType:
    """Return instructions that raise at the frame's place."""
    first = max(kept.first_line, 1)
    line = max(kept.frame.line - first + 1, 1)
    begins = kept.position or (kept.frame.line, kept.frame.line, 0, 0)
    end = max(begins[1] - first + 1, line)
    raising = ast.Raise(exc=ast.Constant(value=None), cause=None)
    for node in ast.walk(raising):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno, node.end_lineno = line, end
            node.col_offset, node.end_col_offset = begins[2], begins[3]
    module = ast.Module(body=[raising], type_ignores=[])
    code = compile(module, kept.frame.path, "exec")
    consts = tuple(_StoppedHereError if each is None else each for each in code.co_consts)
    return code.replace(
        co_consts=consts,
        co_firstlineno=first,
        co_name=kept.name,
        co_qualname=kept.frame.function,
    )
