"""Read settings; a part of them is JSON again, as text."""

import json
import sys


def read(text: str) -> dict:
    return json.loads(text)


settings = read(open(sys.argv[1]).read())
extra = read(settings.get("extra", "{}"))
print({**settings, **extra})
