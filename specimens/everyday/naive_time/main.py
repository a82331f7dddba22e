"""Which messages came after the last reading of the box."""

import json
from datetime import datetime, timezone
from pathlib import Path

from times import parse, started

HERE = Path(__file__).parent


def newer(messages, since):
    return [each for each in messages if each["at"] > since]


def load(path):
    messages = json.loads(path.read_text())
    for message in messages:
        message["at"] = parse(message["at"])
    return messages


def main():
    messages = load(HERE / "messages.json")
    since = started(datetime(2024, 5, 1, 8, 0, tzinfo=timezone.utc))
    for message in newer(messages, since):
        print(message["at"].isoformat(), message["from"])


if __name__ == "__main__":
    main()
