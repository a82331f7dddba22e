"""Two cuts at once in what is left of source code, where neither can be made alone.

A quote and what stands behind it may need each other: with one of them gone the rest fails
otherwise or doesn't parse. There are thousands of such pairs in a line, most of which don't
parse; of the rest the largest are tried, and only where little is left.
"""

from collections.abc import Iterator
from itertools import islice

from whet.reduction.edit import first_that_fails
from whet.reduction.formats.source.source_tree import SourceTree
from whet.reduction.formats.text.pieces import WORDS
from whet.reduction.reduction_pass import PassSearch

MOST_WORDS = 32
"""A text with more words, blanks and signs than this has too many pairs of cuts."""

MOST_TRIALS = 60
"""How many pairs whet tries at once, those that save most first."""

_LONGEST_RUN = 8
"""The most words in the longer cut; the other cut is one word."""


def cut_pairs(tree: SourceTree) -> PassSearch:
    """Cut a run of words and one word elsewhere."""
    found = sorted(set(_pairs(tree)), key=lambda payload: (len(payload), payload))
    smaller = yield from first_that_fails(islice(filter(tree.parses, found), MOST_TRIALS))
    return tree.payload if smaller is None else smaller


def _pairs(tree: SourceTree) -> Iterator[bytes]:
    payload = tree.payload
    pieces = WORDS.parse(payload)
    if pieces is None or len(pieces.bounds) > MOST_WORDS + 1:
        return
    words, head = pieces.texts(), payload[: pieces.bounds[0]]
    for start in range(len(words)):
        for stop in range(start + 1, min(start + _LONGEST_RUN, len(words)) + 1):
            left, right = words[:start], words[stop:]
            for place in range(start):
                yield head + b"".join((*left[:place], *left[place + 1 :], *right))
            for place in range(len(right)):
                yield head + b"".join((*left, *right[:place], *right[place + 1 :]))
