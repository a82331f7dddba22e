"""What a source of the program costs where it is read, and where the program looks at its functions."""

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

HOOKS = """
import sys
sys.path.insert(0, {site!r})
from whet_stage.rewriting.sources import Source
text = b"class C:\\n  def f(self):\\n    y = [1, 2]\\n    def g(): return y\\n    return g()\\nz = 3\\n"
source, space = Source("m", "m.py", text), {{}}
(old, z), (new, same) = source.tree.body, source.hooked(source.tree.body)
old_f, new_f = old.body[0], new.body[0]
print(len(old_f.body), len(new_f.body), len(old_f.body[1].body), len(new_f.body[2].body))
print(new_f.body[1] is old_f.body[0], new_f.body[3] is old_f.body[2], same is z)
exec(source.code(), space)
print(space["C"]().f(), sorted(source.used))
"""


def test_a_hook_copies_nothing_that_holds_no_function() -> None:
    """Each import of a large package would wait for that."""
    site = Path(whet.agent.__file__).parent / "site"
    said = subprocess.run(
        [sys.executable, "-c", HOOKS.format(site=str(site))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert said.stdout == "3 4 1 2\nTrue True True\n[1, 2] [('f', 2), ('g', 4)]\n"


def test_a_source_is_compiled_once_however_many_functions_are_looked_at() -> None:
    site = Path(whet.agent.__file__).parent / "site"
    said = subprocess.run(
        [sys.executable, "-c", LOOKS.format(site=str(site))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert said.stdout == "1 7\n"
