"""What a smaller payload must keep, so that the command still fails for the cause that is known."""

import re
from collections.abc import Callable

from whet.core.trial import Trial
from whet.core.value_class import value_class

IsShown = Callable[[Trial], bool | None]


@value_class(kw_only=True)
class SameCause:
    """A cause that is known before a payload is made smaller.

    Attributes:
        values: words of the failure's message that stand in the payload, and must stay in the message.
        records: patterns of the records that the cause names, which must stay in the payload.
        says: what must stay, in words.
        is_shown: whether a run on a smaller payload leads to the same cause; None: it can't tell,
            or no such run is possible.
    """

    values: tuple[str, ...] = ()
    records: tuple[re.Pattern[bytes], ...] = ()
    says: str = ""
    is_shown: IsShown | None = None


NO_CAUSE = SameCause()
