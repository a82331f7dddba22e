"""A search that finds nothing, and a caller that does not look."""

import re


def first_word(text):
    return re.match("[a-z]+", text).group()


first_word("  indented")
