"""A recorded value in one line, as the agent shows it in the program itself."""

from whet.agent.site.whet_state import shown
from whet.core.text.record import MalformedRecordError

_WIDTH = 100


def value_line(value: object, width: int = _WIDTH) -> str:
    """Return a kept value in one line of about a width.

    Raises:
        MalformedRecordError: if it is nothing that the agent keeps.
    """
    try:
        return shown.value_line(value, width)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise MalformedRecordError(f"not a value as it is kept: {error}") from error
