"""Rows for the program of the accountant, which wants points."""

import os

from wording import amount


def as_table(rows):
    before = os.environ.get("OFFICE_LANGUAGE", "de")
    os.environ["OFFICE_LANGUAGE"] = "en"
    try:
        return "\n".join(f"{name};{amount(value)}" for name, value in rows)
    finally:
        os.environ["OFFICE_LANGUAGE"] = before
