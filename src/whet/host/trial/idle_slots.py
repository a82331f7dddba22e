"""Slots that wait for the next executor: a spawner takes longer to start than many programs run."""

import threading

from whet.host.process.ending import cleaning_up
from whet.host.trial.slot import Slot

_MOST = 4


class IdleSlots:
    """Slots of executors that are closed, for those that are opened after them.

    Nothing runs in an idle slot, and nothing is kept in it.
    """

    def __init__(self) -> None:
        """Hold none yet."""
        self._slots: list[Slot] = []
        self._is_closed = False
        self._lock = threading.Lock()

    def take(self) -> Slot | None:
        """Return a slot, which is the caller's from now on; None: there is none."""
        with self._lock:
            return self._slots.pop() if self._slots else None

    def give_back(self, slot: Slot) -> None:
        """Keep a slot that its executor doesn't need any more, or close it."""
        with self._lock:
            is_kept = not self._is_closed and slot.is_plain and len(self._slots) < _MOST
            if is_kept:
                self._slots.append(slot)
        if not is_kept:
            slot.close()

    def close(self) -> None:
        """Close them all, and each that comes back later."""
        with self._lock:
            self._is_closed = True
            slots, self._slots = self._slots, []
        with cleaning_up():
            for slot in slots:
                slot.close()
