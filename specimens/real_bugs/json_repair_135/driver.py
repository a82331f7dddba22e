"""Load a file of almost-JSON with json_repair: python driver.py FILE"""

import sys
import json_repair

with open(sys.argv[1], encoding="utf-8") as f:
    data = json_repair.loads(f.read())
print(type(data).__name__, len(data))
