"""Say which bug a program shows on a payload: the operation of its innermost own frame, and of those who called it.

    python witness.py PROGRAM PAYLOAD WORTH

It knows nothing of whet. It prints a JSON object: the exception, the operations, innermost first, and
whether WORTH, an expression over the variables of the innermost frame, is true there; empty: it is.
"""

import ast
import json
import runpy
import sys
from itertools import islice
from types import TracebackType
from typing import Any

_MOST_FRAMES = 10


def operation(trace: TracebackType, source: str) -> str:
    """Return the line and the source of what was being evaluated in a frame."""
    at = next(islice(trace.tb_frame.f_code.co_positions(), trace.tb_lasti // 2, None))
    line, end_line, column, end_column = at
    place: Any = ast.Constant(
        0, lineno=line, end_lineno=end_line, col_offset=column, end_col_offset=end_column
    )
    return f"{line}:{column}: {ast.get_source_segment(source, place)}"


def main() -> None:
    """Run the program, and print what it dies of."""
    program, payload, worth = sys.argv[1:]
    sys.argv = [program, payload]
    told: dict[str, object] = {"exception": ""}
    output, sys.stdout = sys.stdout, sys.stderr
    try:
        runpy.run_path(program, run_name="__main__")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        with open(program, encoding="utf-8") as file:
            source = file.read()
        traces: list[TracebackType] = []
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == program:
                traces.append(trace)
            trace = trace.tb_next
        frame = traces[-1].tb_frame
        told = {
            "exception": type(error).__name__,
            "operations": [operation(each, source) for each in traces[:-_MOST_FRAMES:-1]],
            "is_worth": bool(eval(worth or "True", frame.f_globals, frame.f_locals)),  # noqa: S307
        }
    sys.stdout = output
    print(json.dumps(told))


if __name__ == "__main__":
    main()
