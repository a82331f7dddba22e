"""The base of every error, and the exit codes of sysexits.h."""

import re
from typing import ClassVar


class WhetError(Exception):
    """Something that the user can act on.

    Attributes:
        slug: name of the error's page.
        exit_code: as in sysexits.h, 64 to 78.
        hint: the next step, in one line.
    """

    slug: ClassVar[str] = ""
    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint

    def __init_subclass__(cls) -> None:
        cls.slug = re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()


USAGE, DATA, NO_INPUT, UNAVAILABLE, SOFTWARE = 64, 65, 66, 69, 70
CANNOT_CREATE, INPUT_OUTPUT, INCOMPLETE, NO_PERMISSION, CONFIGURATION = 73, 74, 75, 77, 78
