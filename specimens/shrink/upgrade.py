"""Apply a git diff to json_repair 0.30.0 and read a text with it: python upgrade.py FILE"""

import os
import shutil
import subprocess
import sys
import tempfile

patch = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    old = os.path.join(sys.prefix, "releases", "json_repair-0.30.0", "json_repair")
    shutil.copytree(
        old, os.path.join(folder, "json_repair"), ignore=shutil.ignore_patterns("__pycache__")
    )
    subprocess.run(["git", "apply", patch], cwd=folder, check=True)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    import json_repair

    print(json_repair.loads("[']"))
