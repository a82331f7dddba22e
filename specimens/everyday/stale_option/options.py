"""The options, from a file and from defaults."""

import json
from pathlib import Path

DEFAULTS = {"sender": "news@example.org", "batch": 3, "retries": 2}
RENAMED = {"from": "sender", "tries": "retries"}


def _current(told):
    return {RENAMED.get(name, name): value for name, value in told.items()}


def merged(told, defaults):
    options = {name: told.get(name) for name in defaults}
    for name, value in told.items():
        options[name] = value
    return options


def load(name):
    told = json.loads((Path(__file__).parent / name).read_text())
    return merged(_current(told), DEFAULTS)
