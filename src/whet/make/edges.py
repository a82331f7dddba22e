"""Texts, dates and bytes that break programs; numbers are in `elements.fills`."""

from datetime import date, datetime

HUGE = 100_000
"""Characters of a huge text."""

LONE_SURROGATE = "lone \ud800 surrogate"
"""Python holds it, and JSON; UTF-8 has no bytes for it."""

TEXTS = (
    "",
    " ",
    "  leading and trailing  ",
    "two\nlines",
    "carriage\r\nreturn",
    "tab\tand \x00 zero",
    'quote " and comma, and \\ backslash',
    "it's",
    "NULL",
    "NaN",
    "null",
    "None",
    "true",
    "0123",
    "1e5",
    "-0.0",
    "=1+1",
    "é",  # composed …
    "é",  # … and decomposed: equal to a reader only
    "İstanbul ß ẞ ﬁ",  # other lengths in upper and lower case
    "👩‍👩‍👧",  # five characters, one sign
    "\u202eright to left",
    "\ufeffbyte order mark",
    "\U0010ffff",
    "../../etc/passwd",
    "<b>&amp;</b>",
    "x" * HUGE,
    LONE_SURROGATE,
)

DATES = (
    date(1970, 1, 1),
    date(2024, 2, 29),
    date(2000, 2, 29),
    date(1900, 3, 1),  # 1900 had no 29 February
    date(1969, 12, 31),
    date(2100, 2, 28),
    date(1, 1, 1),
    date(9999, 12, 31),
)

TIMES = tuple(
    map(
        datetime.fromisoformat,
        (
            "1970-01-01T00:00:00",
            "2024-02-29T23:59:59.999999",
            "1969-12-31T23:59:59",
            "2038-01-19T03:14:08",  # one second more than 32 bits hold
            "2024-03-31T02:30:00",  # an hour that many clocks skip
            "2024-10-27T02:30:00",  # and one that they have twice
            "1900-01-01T00:00:00",
            "1677-09-21T00:12:43",  # before the first nanosecond of 64 bits
            "0001-01-01T00:00:00",
            "9999-12-31T23:59:59.999999",
        ),
    )
)

BYTES = (b"", b"\x00", b"\xff\xfe", b"\x80", b"\r\n", b"\xed\xa0\x80", bytes(range(256)))
