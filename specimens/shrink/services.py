"""Check the configuration of services: python services.py FOLDER"""

import json
import sys
from pathlib import Path

documents = [json.loads(path.read_text()) for path in sorted(Path(sys.argv[1]).rglob("*.json"))]
is_on = {each["plugin"]: each["enabled"] for each in documents if "plugin" in each}
for each in documents:
    for plugin in each.get("needs", ()):
        if is_on.get(plugin) is False:
            raise RuntimeError("a service needs a plugin that is off")
print(len(documents))
