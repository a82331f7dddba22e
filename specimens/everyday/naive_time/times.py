"""Times as the mail service writes them."""

from datetime import datetime, timedelta


def parse(text):
    if text.endswith("Z"):
        text = text[:-1] + "+00:00"
    return datetime.fromisoformat(text)


def started(now, hours=2):
    return now - timedelta(hours=hours)
