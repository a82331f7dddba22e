"""Days on which the shop is closed."""

from datetime import date

CLOSED = {date(2024, 1, 1), date(2024, 12, 25)}


def is_open(day: date) -> bool:
    return day not in CLOSED and day.weekday() < 6
