"""A default that counts as given: the merge is the cause, with the key and both values."""

import json
import sys

import pytest
from whet_command import Whet

SETTINGS = """\
import argparse
import json

def load(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("--compress", action="store_true")
    parser.add_argument("--level", type=int, default=6)
    with open("settings.json") as file:
        settings = json.load(file)
    for name, value in vars(parser.parse_args(words)).items():
        if value is not None:
            settings[name] = value
    return settings
"""
STORE = """\
import sys
import zlib
from settings import load

settings = load(sys.argv[1:])
data = b"status=ok;" * 400
packed = zlib.compress(data, settings["level"]) if settings["compress"] else data
if len(packed) > 1024:
    raise OverflowError(f"{len(packed)} bytes don't fit into a block")
"""


@pytest.mark.slow
def test_a_flag_that_was_not_given_and_wins_over_the_settings_is_the_cause(whet: Whet) -> None:
    whet.write("settings.py", SETTINGS)
    whet.write("store.py", STORE)
    whet.write("settings.json", '{"compress": true, "level": 9}')
    whet("investigate", "--budget", "2m", "--", sys.executable, "store.py")
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    found = report["answer"]["cause"]
    assert (found["line"], found["sureness"]) == (12, "shown")
    assert "the default of `compress`, False (settings.py:6), counts as given" in found["says"]
    assert "takes the place of True from `json.load(file)`" in found["says"]
