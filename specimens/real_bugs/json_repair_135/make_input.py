"""Write entities.txt: the HTML5 named character references, in the shape of
the WHATWG's entities.json, as Python prints a dict (pprint) - the "nearly
JSON" people paste and log.  Standard library only."""

import html.entities
import pprint
import sys

out = sys.argv[1] if len(sys.argv) > 1 else "entities.txt"
table = {
    "&" + name: {"codepoints": [ord(c) for c in chars], "characters": chars}
    for name, chars in html.entities.html5.items()
}
with open(out, "w", encoding="utf-8") as f:
    pprint.pprint(table, stream=f)
