"""Names of columns that aren't there, and those that were meant."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from whet.core.errors import ColumnMissing

_MOST_NAMES = 10


def check_columns(asked: Sequence[str], there: Collection[str], shown: str) -> None:
    """Refuse a column that isn't there.

    Args:
        asked: the names that the user wrote.
        there: the names that there are.
        shown: the table, in words.

    Raises:
        ColumnMissing: if there is such a column.
    """
    for name in asked:
        if name not in there:
            raise column_missing(name, there, shown)


def column_missing(name: str, there: Collection[str], shown: str) -> ColumnMissing:
    """Return the error for a column that isn't there, with the closest names."""
    if not there:
        return ColumnMissing(f"{shown} has no columns, so no `{name}`", hint="leave it out")
    return ColumnMissing(f"{shown} has no column `{name}`", hint=close_names(name, there))


def close_names(name: str, there: Collection[str]) -> str:
    """Return the names that may have been meant, or those that there are, as a hint."""
    folded = {each.lower(): each for each in there}
    near = [folded[each] for each in get_close_matches(name.lower(), folded, n=3, cutoff=0.6)]
    if near:
        return f"did you mean {_quoted(near)}?"
    names = sorted(there)
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"it has {_quoted(names[:_MOST_NAMES])}{more}" if names else "there is none"


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{each}`" for each in names)
