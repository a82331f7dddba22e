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
compiled = source._compiled
source._compiled = lambda make: compilations.append(make) or compiled(make)
for n in range(50):
    source.show(space[f"f{{n}}"])
print(len(compilations), space["f7"]())
"""

SPARED = """
import sys
sys.path.insert(0, {site!r})
from whet_stage.rewriting.sources import Source, has_hook
store = type("Store", (dict,), {{"load": lambda self, text: self.get(text, b""), "save": dict.__setitem__}})()
for run in range(2):
    source, space, compilations = Source("m", "m.py", b"def f(): return 1", None, store), {{}}, []
    sys.modules["m"] = type(sys)("m")
    exec(source.code(), vars(sys.modules["m"]))
    f, compiled = sys.modules["m"].f, source._compiled
    source._compiled = lambda make: compilations.append(make) or compiled(make)
    f()
    said = [sorted(source.used), has_hook(f.__code__), len(compilations)]
    for _ in range(10_100):
        f()
    print(*said, has_hook(f.__code__), len(compilations))
"""

STANDING = """
import gc, sys
sys.path.insert(0, {site!r})
from whet_stage.rewriting.edits import Functions
from whet_stage.rewriting.sources import Source
sources = {{}}
for n in range(30):
    path = f"m{{n}}.py"
    source = sources[path] = Source(f"m{{n}}", path, b"def f():\\n  yield 1\\n")
    module = sys.modules[f"m{{n}}"] = type(sys)(f"m{{n}}")
    exec(source.code(), vars(module))
standing = sys.modules["m7"].f()
next(standing)
looks, referrers = [], gc.get_referrers
gc.get_referrers = lambda *objects: looks.append(objects) or referrers(*objects)
functions = Functions()
print(functions.is_any_standing("m3.py", sources), functions.is_any_standing("m7.py", sources), len(looks))
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


STORED = """
import gc, marshal, os, sys, types
sys.path.insert(0, {site!r})
from whet_stage.rewriting.sources import Source, codes_in
from whet_stage.rewriting import module_facts

class Store(dict):
    load = lambda self, source: self.get(source, b"")
    save = dict.__setitem__

def told(source):
    code = source.code()
    names = lambda code: (code.co_code, code.co_names, code.co_filename, code.co_firstlineno)
    codes = {{key: each and names(each) for key, each in codes_in(code).items()}}
    clean = {{key: (each := source.clean(key)) and names(each) for key in source.functions}}
    return names(code), codes, clean, source.flags, source.functions, source.has_last_words()

store, folder, count = Store(), os.path.dirname(os.__file__), 0
for name in ("dataclasses", "typing", "contextlib", "ast", "enum", "socket", "_pydecimal"):
    path = os.path.join(folder, name + ".py")
    text = open(path, "rb").read()
    plain = told(Source(name, path, text))
    first = told(Source(name, path, text, None, store))
    kept = Source(name, path, text, None, store)
    assert kept._tree is None, name
    assert told(kept) == first == plain, name
    assert kept._tree is None, name
    moved = told(Source(name, "/elsewhere.py", text, None, store))
    assert {{each[2] for each in moved[1].values() if each}} == {{"/elsewhere.py"}}
    count += len(plain[1])
    for spoilt in (store[text][:-20], b"x", marshal.dumps((module_facts.FORM + 1,))):
        assert told(Source(name, path, text, None, Store({{text: spoilt}}))) == plain, name
warns = b"x = 1 is 1\\n"
assert Source("w", "w.py", warns, None, store).code() and warns not in store

def doubled(tree, text):
    tree.body.append(tree.body[-1])

seen = b"x.append(1)\\n"
for mark in (b"one", b"other", b""):
    for _ in range(2):
        space = {{"x": []}}
        change = (doubled if mark == b"one" else lambda tree, text: None, mark)
        exec(Source("w", "w.py", seen, change, store).code(), space)
        assert len(space["x"]) == (2 if mark == b"one" else 1), (mark, space["x"])
assert store.keys() & {{seen, b"one" + seen, b"other" + seen}} == {{b"one" + seen, b"other" + seen}}
print(count > 1000)
"""

TREES = """
import gc, sys
sys.path.insert(0, {site!r})
from whet_stage.rewriting.sources import Source
def objects(statements):
    text = b"def f(a):\\n" + b"    b = [a + 1, a, (a)]\\n" * statements + b"    return a\\n"
    gc.collect()
    before = len(gc.get_objects())
    source, space = Source("m", "m.py", text), {{}}
    exec(source.code(), space)
    space["f"](1)
    source.show(space["f"])
    source.calls, source.note_run_unseen(5), source.has_last_words()
    gc.collect()
    return len(gc.get_objects()) - before
objects(1)
print(objects(2000))
"""


FORMS = """
import ast, sys
sys.path.insert(0, {site!r})
from whet_stage.rewriting.module_facts import FORM
from whet_stage.rewriting.sources import Source, _without_own_hooks
source = Source("m", "m.py", b"class C:\\n  def f(self):\\n    'x'\\n    def g(): pass\\nasync def h(): pass\\n")
for body in (source.hooked(source.tree.body), _without_own_hooks(source.tree)):
    text = ast.unparse(ast.Module(body, []))
    print(FORM, *(line.strip() for line in text.splitlines() if "used" in line))
"""


def run(program: str) -> str:
    site = Path(whet.agent.__file__).parent / "site"
    done = subprocess.run(
        [sys.executable, "-c", program.format(site=str(site))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return done.stdout


def test_what_an_earlier_run_has_kept_of_a_module_is_what_its_text_says() -> None:
    assert run(STORED) == "True\n"


def test_other_hooks_have_another_number() -> None:
    """What an earlier whet has kept would be run as if this one had made it."""
    assert run(FORMS).splitlines() == [
        r"4 '\x00whet:used:f:2'.n() '\x00whet:used:g:4'.n() '\x00whet:used:h:5'.n()",
        r"4 '\x00whet:used:g:4'.n()",
    ]


def test_the_tree_of_a_module_goes_when_its_code_is_made() -> None:
    """In a large package it would make each collection of garbage ten times longer."""
    assert int(run(TREES)) < 100


def test_a_function_that_is_called_often_is_spared_its_hook_and_one_called_seldom_no_compilation() -> (
    None
):
    first, second = run(SPARED).splitlines()

    assert first == "[('f', 1)] True 0 False 1"
    assert second == "[('f', 1)] True 0 False 0"  # the run before has kept its code


def test_what_stands_still_is_looked_for_in_all_files_at_once() -> None:
    """Each look goes through all objects of the program, and the user waits."""
    assert run(STANDING) == "False True 2\n"


def test_a_hook_copies_nothing_that_holds_no_function() -> None:
    """Each import of a large package would wait for that."""
    assert run(HOOKS) == "3 4 1 2\nTrue True True\n[1, 2] [('f', 2), ('g', 4)]\n"


def test_a_source_is_compiled_once_however_many_functions_are_looked_at() -> None:
    assert run(LOOKS) == "1 7\n"
