"""Words and numbers in the language of the office."""

import os

HEADINGS = {"de": {"bills": "Rechnungen"}, "en": {"bills": "Bills"}}


def language():
    return os.environ.get("OFFICE_LANGUAGE", "de")


def heading(name):
    return HEADINGS[language()][name]


def amount(value):
    text = f"{value:,.2f}"
    if language() == "de":
        text = text.translate(str.maketrans(",.", ".,"))
    return text
