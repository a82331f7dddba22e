"""Rows for the program of the accountant, which wants points."""

import os

from wording import amount


def as_table(rows):
    os.environ["OFFICE_LANGUAGE"] = "en"
    return "\n".join(f"{name};{amount(value)}" for name, value in rows)
