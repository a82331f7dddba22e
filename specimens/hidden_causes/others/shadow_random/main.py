"""Writes what was drawn into a file."""

import tempfile

import random

with tempfile.TemporaryFile("w") as file:
    file.write(str(random.draw()))
