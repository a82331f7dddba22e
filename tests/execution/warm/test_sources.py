"""What a source of the program costs where the program looks at its functions."""

import subprocess
import sys
from pathlib import Path

import whet.agent

LOOKS = """
import sys
sys.path.insert(0, {site!r})
from whet_stage.rewriting.sources import Source
text = b"\\n".join(b"def f%d(): return %d" % (n, n) for n in range(50))
source, space, compilations = Source("m", "m.py", text), {{}}, []
exec(source.code(), space)
compiled = source.compiled
source.compiled = lambda body: compilations.append(body) or compiled(body)
for n in range(50):
    source.show(space[f"f{{n}}"])
print(len(compilations), space["f7"]())
"""


def test_a_source_is_compiled_once_however_many_functions_are_looked_at() -> None:
    site = Path(whet.agent.__file__).parent / "site"
    said = subprocess.run(
        [sys.executable, "-c", LOOKS.format(site=str(site))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert said.stdout == "1 7\n"
