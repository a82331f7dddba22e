"""Write a JSON document as TOML: python to_toml.py FILE"""

import json
import sys

import toml

with open(sys.argv[1], encoding="utf-8") as f:
    document = json.load(f)
if not isinstance(document, dict):
    sys.exit("not an object")
print(toml.dumps(document))
