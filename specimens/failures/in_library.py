"""Fails inside the standard library, called from the program's own code."""

import json


def load(text):
    return json.loads(text)


load('{"a": 1,, "b": 2}')
