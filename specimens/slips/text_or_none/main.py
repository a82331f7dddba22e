"""Names of authors, in lower case."""

import json
import sys


def key(book: dict) -> tuple:
    return book["author"].lower(), book["title"].lower()


print(sorted(json.load(open(sys.argv[1])), key=key))
