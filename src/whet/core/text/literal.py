"""The value that a text of Python stands for, such as `repr` writes it."""

import ast

_MOST = 1 << 16


def literal_in(text: str) -> object:
    """Return the value; none of the text runs.

    Raises:
        ValueError: if the text is no literal, or one too deep or too long for Python's parser.
    """
    if len(text) > _MOST:
        raise ValueError(f"a literal of {len(text):,} characters")
    try:
        return ast.literal_eval(text)
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"no literal: {error}") from error
