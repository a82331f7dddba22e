"""A place that a test changes is named, and holds what it held once it is put back."""

import json
import subprocess
import sys
from pathlib import Path

import whet.agent

SITE = Path(whet.agent.__file__).parent / "site"
BOX = """
import functools
class Box:
    size = 1
    names = ["a"]
    def full(self):
        return False
class Config:
    def __init__(self):
        self.debug = False
        self.parts = {"a": [1]}
CONFIG = Config()
SEEN, TABLE, GROUPS, PAIR, COUNT = [], {"a": {"b": [1]}}, {1, 2}, ([1], 2), 0
def add(item, into=[]):
    into.append(item)
@functools.lru_cache
def read(name):
    return name
"""
CHANGES = {
    "box.COUNT += 1": "`box.COUNT`: 0 → 1",
    "box.SEEN.append(1)": "`box.SEEN`: [] → [1]",
    "box.TABLE['a']['b'].append(2)": "`box.TABLE`: {'a': {'b': [1]}} → {'a': {'b': [1, 2]}}",
    "box.GROUPS.discard(2)": "`box.GROUPS`: {1, 2} → {1}",
    "box.PAIR[0].append(3)": "`box.PAIR`: ([1], 2) → ([1, 3], 2)",
    "box.NEW = 1": "`box.NEW`: nothing → 1",
    "del box.COUNT": "`box.COUNT`: 0 → nothing",
    "box.Box.size = 3": "`box.Box.size`: 1 → 3",
    "box.Box.names.append('b')": "`box.Box.names`: ['a'] → ['a', 'b']",
    "box.Box.full = lambda self: True": "`box.Box.full`: <function Box.full> → <function <lambda>>",
    "box.CONFIG.debug = True": "`box.CONFIG`: Config(debug=False, parts={'a': [1]}) → Config(debug=True, parts={'a': [1]})",
    "box.add(1)": "the default values of `box.add`: ([],) → ([1],)",
    "box.read('x')": "`box.read`: a cache of 0 → a cache of 1",
    "os.environ['REGION'] = 'x'": "`os.environ['REGION']`: nothing → 'x'",
    "os.environ.pop('HOLD')": "`os.environ['HOLD']`: '1' → nothing",
    "os.environ['API_TOKEN'] = 'hunter2'": "`os.environ['API_TOKEN']`: nothing → <secret>",
    "box.CONFIG.password = 'hunter2'": "`box.CONFIG`: Config(debug=False, parts={'a': [1]}) → Config(debug=False, parts={'a': [1]}, password='<secret>')",
    "box.SEEN.append('sk-live-1234567890abcdef')": "`box.SEEN`: [] → ['<secret>']",
    "os.chdir('/')": "the working folder: ",
    "sys.path.insert(0, '/x')": "`sys.path`: ",
    "random.random()": "the state of `random`: ",
    "warnings.simplefilter('error')": "`warnings.filters`: ",
    "logging.getLogger('a').setLevel(10)": "`level` of logger `a`: 0 → 10",
    "logging.getLogger('a').addHandler(logging.NullHandler())": "`handlers` of logger `a`: [] → [NullHandler(",
    "decimal.getcontext().prec = 3": "the precision of `decimal`: 28 → 3",
    "time.time = lambda: 0": "`time.time`: <builtin_function_or_method time> → <function <lambda>>",
}
ROUND = """
import decimal, json, logging, os, random, sys, time, warnings
sys.path.insert(0, {site!r})
from whet_closer.left_places import Saved, places, put_back, read, shown_place, shown_text, text_of
sys.path.pop(0)
import box
logging.getLogger("a")
def main():
    found = {{}}
    for change in {changes!r}:
        saved = {{one: (Saved(read(one)), text_of(read(one))) for one in places()}}
        exec(change, globals())
        now = dict.fromkeys([*saved, *places()])
        missing = read(("", ""))
        changed = {{
            one: saved.get(one, (Saved(missing), text_of(missing))) for one in now
            if text_of(read(one)) != saved.get(one, (0, text_of(missing)))[1]
        }}
        found[change] = [
            f"{{shown_place(one)}}: {{shown_text(one, was)}} → {{shown_text(one, text_of(read(one)))}}"
            for one, (_, was) in changed.items()
        ]
        for one, (each, was) in changed.items():
            put_back(one, each)
        found[change] += [
            f"{{shown_place(one)}} isn't put back" for one, (_, was) in changed.items()
            if text_of(read(one)) != was
        ]
    json.dump(found, sys.stdout)
main()
"""


def test_each_kind_of_state_is_named_with_what_it_held_and_put_back(tmp_path: Path) -> None:
    (tmp_path / "box.py").write_text(BOX)
    program = tmp_path / "main.py"
    program.write_text(ROUND.format(site=str(SITE), changes=list(CHANGES)))
    environment = {"PATH": "/usr/bin:/bin", "HOLD": "1"}

    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, check=True, env=environment
    )

    found = json.loads(done.stdout)
    wrong = {
        change: found[change]
        for change, says in CHANGES.items()
        if len(found[change]) != 1 or not found[change][0].startswith(says)
    }
    assert wrong == {}


def test_no_method_of_the_programs_own_objects_is_called(tmp_path: Path) -> None:
    """Not even where an object says that it is of another class."""
    (tmp_path / "box.py").write_text(
        "class Sly:\n"
        "    def __getattribute__(self, name):\n        raise SystemExit(name)\n"
        "    def __repr__(self):\n        raise SystemExit('repr')\n"
        "    def __eq__(self, other):\n        raise SystemExit('eq')\n"
        "    def __iter__(self):\n        raise SystemExit('iter')\n"
        "SLY = Sly()\nALL = [SLY, {'sly': SLY}]\n"
    )
    program = tmp_path / "main.py"
    program.write_text(ROUND.format(site=str(SITE), changes=["pass"]))

    done = subprocess.run([sys.executable, str(program)], capture_output=True, check=True)

    assert json.loads(done.stdout) == {"pass": []}
