"""Times as the mail service writes them."""

from datetime import datetime, timedelta, timezone


def parse(text):
    text = text.replace("Z", "+00:00")
    return datetime.fromisoformat(text)


def started(now, hours=2):
    return datetime(now.year, now.month, now.day, now.hour) - timedelta(hours=hours)
