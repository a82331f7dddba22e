"""Looks at a failed program's frames: what each variable held, as data that can be shown later.

No code of the program's own is run: no `__repr__`, no property, no `__class__`. What raises, hangs or
answers with a gigabyte can't do so here. Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

if __name__ == "whet_state":  # in the program; whet itself takes single modules of it
    from .raised import capture

    __all__ = ["capture"]
