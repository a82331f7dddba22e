"""Orders that come by mail."""

from datetime import date
from email.message import Message
from email.parser import Parser
from email.utils import mktime_tz, parsedate_tz


def received(text: str) -> tuple[str, date]:
    message: Message = Parser().parsestr(text)
    return str(message["Subject"]), _day(str(message["Date"]))


def _day(header: str) -> date:
    parts = parsedate_tz(header)
    if parts is None:
        raise ValueError(f"no date: {header}")
    return date.fromtimestamp(mktime_tz(parts))
