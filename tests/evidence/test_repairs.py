"""A change of a program takes away one thing, leaves the rest alone, and ends the failure it is for."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evidence.experiments import repairs
from whet.evidence.experiments.changes import Change, changed_in_place, text_with
from whet.evidence.experiments.repairs import repairs_of

WRONG = {
    "a key that is added by looking it up": (
        ("from collections import defaultdict\nseen = defaultdict(list)\nseen[1].append(2)\n"
        "late = [n for n in (1, 3) if not seen[n]]\nassert len(seen) + len(late) == 2\n"), 4,
    ),
    "default": ("def f(x, seen=[]):\n    seen.append(x)\n    return seen\nf(1)\nassert f(2) == [2]\n", 1),
    "named default": (
        "def f(*, seen={}):\n    seen[len(seen)] = 1\n    return seen\nf()\nassert len(f()) == 1\n", 1,
    ),
    "base": (
        ("class A:\n    def __init__(self):\n        self.x, self.n = [1], 1\n    def out(self, x):\n"
        "        self.n -= 1\nclass B(A):\n    def out(self, x):\n        self.x.remove(x)\n"
        "b = B()\nb.out(1)\nassert len(b.x) == b.n\n"), 7,
    ),
    "an answer of the base": (
        ("class A:\n    def __init__(self):\n        self.x = [1]\n    def may(self, x):\n        return x in self.x\n"
        "class B(A):\n    def may(self, x):\n        return x > 0\nassert not B().may(2)\nassert B().may(1)\n"), 8,
    ),
    "a base's beginning": (
        ("class A:\n    def __init__(self, *n, k):\n        self.n = [*n, k]\nclass B(A):\n"
        "    def __init__(self, *n, k):\n        'Begin.'\n        self.m = 0\nassert getattr(B(1, k=2), 'n', 0) == [1, 2]\n"), 5,
    ),
    "each with each": (
        ("import numpy as np\na = np.arange(3.0)\nb = a.reshape(3, 1)\nc = ((a * 2 - b) ** 2).mean()\n"
        "assert c == (a ** 2).mean()\n"), 4,
    ),
    "columns": (
        ("import numpy as np\na = np.arange(3.0)\nb = a.reshape(3, 1)\n\nc = (b - a).mean(axis=1)\n"
        "assert not c.any()\n"), 5,
    ),
    "a key without what a decorated function is given": (
        ("def memo(f):\n    known = {}\n    def call(*args, **named):\n        if args not in known:\n"
        "            known[args] = f(*args, **named)\n        return known[args]\n    return call\n@memo\ndef size(n, unit=1):\n    return n * unit\n"
        "size(2)\nassert size(2, unit=3) == 6\n"), 4,
    ),
    "converted at one place": (
        ("class A:\n    def __init__(self):\n        self.ages = {}\n    def add(self, name):\n"
        "        self.ages[name.lower()] = 1\n    def age(self, name):\n        return self.ages.get(name)\n"
        "a = A()\na.add('Zoe')\nassert a.age('Zoe') == 1\n"), 7,
    ),
    "handed on twice": (
        ("def both(rows):\n    first(rows)\n    return second(rows)\ndef first(rows):\n    return list(rows)\n"
        "def second(rows):\n    return sum(rows)\nassert both(n for n in range(3)) == 3\n"), 2,
    ),
    "compared with a column": (
        ("import numpy as np\na = np.arange(3)\nb = a.reshape(3, 1)\nc = (b <= a).mean()\nassert c == 1\n"), 4,
    ),
    "a difference of small integers": (
        ("import numpy as np\na, b = np.array([[3, 250], [5, 2]], 'u1')\nc = np.abs(a - b)\n"
        "assert c.tolist() == [2, 248]\n"), 3,
    ),
    "a product of small integers": (
        ("import numpy as np\na, b = np.array([[50000, 2], [60000, 3]], 'i4')\nc = a * b\n"
        "assert (c > 0).all()\n"), 3,
    ),
    "a sum of small integers in place": (
        ("import numpy as np\nrows = np.array([[100, 1]] * 2, 'i1')\ntotal = np.zeros(2, 'i1')\nfor row in rows:\n"
        "    total += row\nassert total.tolist() == [200, 2]\n"), 5,
    ),
    "steps between small integers": (
        ("import numpy as np\na = np.array([9, 4], 'u2')\nb = np.diff(a, n=1)\nassert b.tolist() == [-5]\n"), 3,
    ),
    "bound in a loop": (
        ("made = []\nfor n in range(3):\n    m = n + 1\n    if n < 9:\n        def f():\n            return m\n"
        "    made.append(f)\nassert made[0]() == 1\n"), 5,
    ),
    "a lambda of what is bound in a loop": (
        ("made, n = [], 0\nwhile n < 3:\n    n += 1\n    m = n * 2\n    made.append(lambda: m)\n"
        "assert made[0]() == 2\n"), 5,
    ),
    "truth by a type that is looked up": (
        ("kinds = {'dry': bool, 'n': int}\ngiven = {'dry': 'false', 'n': '3'}\n"
        "x = {k: kinds[k](v) for k, v in given.items()}\nassert x == {'dry': False, 'n': 3}\n"), 3,
    ),
    "class": (
        "class A:\n    rows = []\na, b = A(), A()\na.rows.append(1)\nassert b.rows == []\n", 2,
    ),
    "class with a beginning": (
        ("class A:\n    rows = []\n    def __init__(self, n):\n        self.n = n\n"
        "a, b = A(1), A(2)\na.rows.append(1)\nassert b.rows == [] and b.n == 2\n"), 2,
    ),
    "a default kept nowhere": (
        ("seen = {}\ndef note(day, n):\n    seen.get(day, []).append(n)\nnote(1, 2)\n"
        "assert seen == {1: [2]}\n"), 3,
    ),
    "part of a message": (
        ("import socket, threading\na, b = socket.socketpair()\nwith a, b:\n    a.send(b'12')\n"
        "    rest = threading.Timer(0.1, a.send, [b'34'])\n    rest.start()\n    x = b.recv(4)\n"
        "    rest.join()\nassert x == b'1234'\n"), 7,
    ),
    "the binary value": (
        ("from fractions import Fraction\ndef twice(x):\n    return 2 * Fraction(x)\n"
        "assert twice(0.1) == Fraction(1, 5)\n"), 3,
    ),
    "groups": (
        ("from itertools import groupby\nx = {k: len(list(own)) for k, own in groupby('aba')}\n"
        "assert x == {'a': 2, 'b': 1}\n"), 2,
    ),
    "rows": ("grid = [[0] * 2] * 2\ngrid[0][0] = 1\nassert grid[1][0] == 0\n", 1),
    "late": ("made = [lambda: n for n in range(3)]\nassert made[0]() == 0\n", 1),
    "late in a loop": (
        "made = []\nfor n in range(3):\n    made.append(lambda: n)\nassert made[0]() == 0\n", 3,
    ),
    "once": ("n = map(int, '12')\nsum(n)\nassert sum(n) == 3\n", 1),
    "in place": ("x = [2, 1]\ny = x.sort()\nassert y == [1, 2]\n", 2),
    "a sum that nothing uses": ("x = [1]\nx + [2]\nassert x == [1, 2]\n", 2),
    "a comparison for an assignment": ("x = 1\nx == 2\nassert x == 2\n", 2),
    "text": ("x = ' a '\nx.strip()\nassert x == 'a'\n", 2),
    "shared": ("a = [1]\nb = a\nb.append(2)\nassert a == [1]\n", 2),
    "shallow": ("a = {'k': [1]}\nb = dict(a)\nb['k'].append(2)\nassert a == {'k': [1]}\n", 2),
    "while": ("x = [1, 1, 2]\nfor n in x:\n    if n == 1:\n        x.remove(n)\nassert x == [2]\n", 2),
    "kept": (
        ("import functools\n@functools.lru_cache\ndef f():\n    return [1]\nf().append(2)\n"
        "assert f() == [1]\n"), 2,
    ),
    "parts of a shallow copy": (
        ("a = {'k': [1]}\nb = dict(a)\nfor row in b.values():\n    row.append(2)\n"
        "assert a == {'k': [1]}\n"), 2,
    ),
    "numbers in texts": ("x = sorted(['v9', 'v10'])\nassert x[-1] == 'v10'\n", 1),
    "numbers in a text in a text": (
        "x = f\"{sorted(['v10', 'v9'])[0]}\"\nassert x == 'v9'\n", 1,
    ),
    "numbers in a key": (
        ("x = [{'n': '9'}, {'n': '10'}]\nx.sort(key=lambda each: (1, each['n']))\n"
        "assert x[-1]['n'] == '10'\n"), 2,
    ),
    "the greatest text": ("assert max('9', '10') == '10'\n", 1),
    "truth of a text": ("x = bool('0')\nassert not x\n", 1),
    "truth of a variable": (
        ("import os\nos.environ['WHET_X'] = 'false'\n"
        "x = 1 if os.environ.get('WHET_X') else 0\nassert x == 0\n"), 3,
    ),
    "buffer": (
        ("import tempfile\np = tempfile.mktemp()\nf = open(p, 'w')\nf.write('a')\n"
        "with open(p) as g:\n    x = g.read()\nf.close()\nassert x == 'a'\n"), 3,
    ),
    "buffer of bytes": (
        ("import tempfile\np = tempfile.mktemp()\nf = open(p, mode='wb')\nf.write(b'a')\n"
        "with open(p) as g:\n    x = g.read()\nf.close()\nassert x == 'a'\n"), 3,
    ),
    "kept live": (
        ("at = [0]\nseen = []\nfor n in range(3):\n    at[0] = n\n    seen.append(at)\n"
        "assert seen == [[0], [1], [2]]\n"), 5,
    ),
    "kept live in a record": (
        ("at = [0]\nseen = []\nfor n in range(2):\n    at[0] = n\n    seen.append({'at': at})\n"
        "assert seen == [{'at': [0]}, {'at': [1]}]\n"), 5,
    ),
    "given out live": (
        ("def f():\n    at = []\n    for n in range(2):\n        at.append(n)\n        yield at\n"
        "assert list(f()) == [[0], [0, 1]]\n"), 5,
    ),
    "used up": (
        ("def f(rows):\n    n = sum(1 for _ in rows)\n    return n, max(rows, default=0)\n"
        "assert f(x for x in (3, 4)) == (2, 4)\n"), 2,
    ),
    "used up in a loop": (
        ("def f(a, b):\n    return [x + y for x in a for y in b]\n"
        "def g(a, b):\n    n = 0\n    for x in a:\n        for y in b:\n            n += 1\n"
        "    return n\nassert g([1, 2], iter([3, 4])) == 4\n"), 6,
    ),
    "function of a loop": (
        ("made = []\nfor n in range(3):\n    def f():\n        return n\n    made.append(f)\n"
        "assert made[0]() == 0\n"), 3,
    ),
    "taken out of the caller's": (
        ("def f(options):\n    return options.pop('a', 0)\nx = {'a': 1}\nf(x)\nassert f(x) == 1\n"), 2,
    ),
    "name of a loop": (
        ("def f(rows):\n    for rows in [rows[:1]]:\n        len(rows)\n    return len(rows)\n"
        "assert f([1, 2]) == 2\n"), 2,
    ),
    "kept by hand": (
        ("kept = {}\ndef f(a, b):\n    if a not in kept:\n        kept[a] = b\n    return kept[a]\n"
        "f(1, 2)\nassert f(1, 3) == 3\n"), 3,
    ),
    "key that leaves an argument out": (
        ("kept = {}\ndef f(a, b):\n    key = (a, 1)\n    if key not in kept:\n        kept[key] = a * b\n"
        "    return kept[key]\nf(1, 2)\nf(1, 3)\nassert f(1, 3) == 3 and len(kept) == 2\n"), 3,
    ),
    "key written twice that leaves an argument out": (
        ("kept = {}\ndef f(a, b):\n    if a in kept:\n        return kept[a]\n    kept[a] = a * b\n"
        "    return kept[a]\nf(1, 2)\nf(1, 3)\nassert f(1, 3) == 3 and len(kept) == 2\n"), 3,
    ),
    "nested dict updated": (
        "a, b = {'k': {'x': 1}}, {'k': {'y': 2}}\na.update(b)\nassert a['k'].get('x') == 1\n", 2,
    ),
    "nested dict in a display": (
        "a, b = {'k': {'x': 1}}, {'k': {'y': 2}}\nc = {**a, **b}\nassert c['k'].get('x') == 1\n", 2,
    ),
    "nested dict joined": (
        "a, b = {'k': {'x': 1}}, {'k': {'y': 2}}\nc = a | b\nassert c['k'].get('x') == 1\n", 2,
    ),
    "late in two functions": (
        ("made = []\nfor n in range(3):\n    made.append(lambda: n)\n    made.append(lambda: n + 1)\n"
        "assert made[0]() == 0 and made[1]() == 1\n"), 3,
    ),
    "byte order mark": ("x = str(b'\\xef\\xbb\\xbfa', encoding='utf-8')\nassert x == 'a'\n", 1),
    "default that is computed once": (
        ("n = [0]\ndef now():\n    n[0] += 1\n    return n[0]\ndef f(at=now()):\n    return at\n"
        "f()\nassert f() == 2\n"), 5,
    ),
    "field that is computed once": (
        ("from dataclasses import dataclass\nn = [0]\ndef now():\n    n[0] += 1\n    return n[0]\n"
        "@dataclass\nclass A:\n    at: int = now()\nA()\nassert A().at == 2\n"), 8,
    ),
    "number that is computed once": (
        ("class A:\n    n, both = 1, None\n    def f(self):\n        if self.both is None:\n"
        "            self.both = self.n * 2\n        return self.both\na = A()\na.f()\na.n = 2\n"
        "assert a.f() == 4\n"), 4,
    ),
    "text for a list": (
        "def f(names):\n    return set(names)\nf(['ab'])\nassert f('ab') == {'ab'}\n", 2,
    ),
    "changed by what the loop calls": (
        ("class A:\n    def __init__(self):\n        self.all = [self.out, self.out]\n        self.n = 0\n"
        "    def out(self):\n        self.all.remove(self.out)\n        self.n += 1\n    def f(self):\n"
        "        for each in self.all:\n            each()\na = A()\na.f()\nassert a.n == 2\n"), 9,
    ),
    "used up where it was got": (
        ("def g():\n    return (n for n in (1, 2))\ndef f():\n    n = g()\n    return sum(n), sum(n)\n"
        "assert f() == (3, 3)\n"), 4,
    ),
    "object given back": (
        ("class A:\n    def __init__(self):\n        self.x = []\n    def add(self, n):\n"
        "        self.x.append(n)\n        return self\na = A()\nb = a.add(1)\nc = a.add(2)\n"
        "assert b.x == [1] and c.x == [2]\n"), 5,
    ),
    "count of several functions": (
        ("n = {}\ndef counted(f):\n    def w(x):\n        n[x] = n.get(x, 0) + 1\n        return f(n[x])\n"
        "    return w\na, b = counted(abs), counted(str)\na(1)\nassert b(1) == '1'\n"), 4,
    ),
    "shallow in a comprehension": (
        "a = {'k': [1]}\nb = [dict(a) for _ in '12']\nb[0]['k'].append(2)\nassert b[1] == {'k': [1]}\n", 2,
    ),
    "what a call gives": (
        ("x = [1]\ndef g():\n    return x\ndef f():\n    found = g()\n    found.append(2)\n    return found\n"
        "f()\nassert x == [1]\n"), 5,
    ),
    "other tasks in between": (
        ("import asyncio\nn = {'a': 0}\nasync def f():\n    was = n['a']\n    await asyncio.sleep(0)\n"
        "    n['a'] = was + 1\nasync def main():\n    await asyncio.gather(f(), f())\n"
        "asyncio.run(main())\nassert n['a'] == 2\n"), 5,
    ),
    "layers that are asked": (
        "a, b = {'k': 1}, {'k': 2}\nc = b.get('k', a.get('k'))\nassert c == 1\n", 2,
    ),
    "a precision that stays": (
        ("from decimal import Decimal, getcontext\ndef short(n):\n    'Shorten.'\n    getcontext().prec = 2\n"
        "    return +n\nshort(Decimal(1))\nlong = Decimal(1) / 3\ngetcontext().prec = 28\nassert len(str(long)) > 9\n"), 4,
    ),
    "a log level that stays": (
        ("import logging\nlog = logging.getLogger('a.b')\nlog.setLevel(20)\ndef quiet():\n    log.setLevel(50)\n"
        "    log.error('x')\nquiet()\nassert log.isEnabledFor(20)\n"), 5,
    ),
    "logging that stays off": (
        ("import logging\ndef quiet():\n    if True:\n        logging.disable(40)\nquiet()\n"
        "off = logging.root.manager.disable\nlogging.disable(0)\nassert not off\n"), 4,
    ),
    "a warnings filter that stays": (
        ("import warnings\ndef quiet():\n    warnings.simplefilter('ignore')\nbefore = warnings.filters[:]\nquiet()\n"
        "after, warnings.filters[:] = warnings.filters[:], before\nassert before == after\n"), 3,
    ),
    "a seed that stays": (
        ("import random\nrandom.seed(5)\ndef same():\n    random.seed(1)\n    return random.random()\n"
        "a = same(), random.random()\nb = same(), random.random()\nassert a[0] == b[0] and a[1] != b[1]\n"), 4,
    ),
    "a seed of numpy that stays": (
        ("import numpy as np\nnp.random.seed(5)\ndef same():\n    np.random.seed(1)\n    return np.random.rand()\n"
        "a = same(), np.random.rand()\nb = same(), np.random.rand()\nassert a[0] == b[0] and a[1] != b[1]\n"), 4,
    ),
    "numpy's errors that stay off": (
        ("import numpy as np\nold = np.seterr(all='warn')\ndef quiet():\n    np.seterr(all='ignore')\nquiet()\n"
        "now = np.geterr()\nnp.seterr(**old)\nassert now['divide'] == 'warn'\n"), 4,
    ),
    "a limit of the process that stays": (
        ("import sys\nn = sys.getswitchinterval()\ndef often():\n    sys.setswitchinterval(0.001)\noften()\n"
        "now = sys.getswitchinterval()\nsys.setswitchinterval(n)\nassert now == n\n"), 4,
    ),
    "a zero that was given": ("N = 3\nn = int('0') or N\nassert n == 0\n", 2),
    "an empty text that was given": ("a = ''\nb = a if a else 'x'\nassert b == ''\n", 2),
    "rounded": ("x = 0.1 + 0.2\nassert not x != 0.3\n", 2),
    "encoding": (
        ("y = 'a'.encode(encoding='utf-8')\nx = str(b'\\xc3\\xb6', encoding='latin-1')\n"
        "assert x == '\u00f6'\n"), 2,
    ),
    "process": (
        ("import sys\nn = sys.getrecursionlimit()\nsys.setrecursionlimit(n + 1)\n"
        "m = sys.getrecursionlimit()\nsys.setrecursionlimit(n)\nassert m == n\n"), 3,
    ),
}  # fmt: skip


def ends_well(text: str) -> bool:
    try:
        exec(compile(text, "program.py", "exec"), {"__name__": "program"})
    except (
        AssertionError,
        ValueError,
    ):  # numpy's AxisError: a shape that does not fit what follows
        return False
    return True


@pytest.mark.parametrize("kind", WRONG)
def test_one_change_of_the_line_that_is_wrong_ends_the_failure(kind: str) -> None:
    text, line = WRONG[kind]
    assert not ends_well(text)
    ending = [each for each in repairs_of(text) if ends_well(text_with(text, each))]
    assert {each.line for each in ending} == {line}


def test_another_seed_is_the_control_of_one_that_stays() -> None:
    text, line = WRONG["a seed that stays"]
    (change,) = (each for each in repairs_of(text) if each.line == line and "stays so" in each.what)
    others = [Change(node=change.node, what="", instead="", edit=each) for each in change.beside]
    assert [ends_well(text_with(text, each)) for each in others] == [False, False]


@pytest.mark.parametrize(
    "body",
    ["with decimal.localcontext() as c:\n        c.prec = 2", "self.settle(1)", "random.Random(1)"],
)
def test_what_switches_nothing_for_others_is_not_put_back(body: str) -> None:
    text = f"def f(self):\n    {body}\n"
    assert not any("stays so" in each.what for each in repairs_of(text))


@pytest.mark.parametrize("call", ["os.chdir('a')", "os.umask(0)", "os.putenv('A', 'b')"])
def test_what_says_where_a_program_reads_and_writes_is_never_left_out(call: str) -> None:
    assert list(repairs_of(f"import os\n{call}\n")) == []


def test_an_iterator_without_an_end_is_not_gathered() -> None:
    source = "import itertools\nn = map(abs, itertools.count())\nassert next(n) == 1\n"
    (each,) = repairs_of(source)
    with pytest.raises(ZeroDivisionError):
        ends_well(text_with(source, each))


@given(st.lists(st.sampled_from([text for text, _ in WRONG.values()]), min_size=1, max_size=4))
def test_each_change_is_a_whole_program_that_differs_from_the_one_it_is_of(
    parts: list[str],
) -> None:
    source = "".join(parts)
    plain = ast.unparse(ast.parse(source))
    for each in repairs_of(source):
        if each.needs is not None and each.needs.expression:
            ast.parse(each.needs.expression, mode="eval")
        assert ast.unparse(ast.parse(text_with(source, each))) != plain
        assert 1 <= each.line <= source.count("\n")


@pytest.mark.parametrize(
    "source",
    [
        "x = add(*row)\n",
        "x = kinds[n](*row)\n",
        "x = kinds[n](**row)\n",
        "x = np.diff(*rows, n=1)\n",
    ],
)
def test_what_a_change_needs_is_one_expression_also_of_arguments_that_are_spread(
    source: str,
) -> None:
    for each in repairs_of(source):
        if each.needs is not None:
            ast.parse(each.needs.expression, mode="eval")
        assert text_with(source, each)


@pytest.mark.parametrize("source", ["def (", "", "x = 1\n", "\0"])
def test_what_offers_nothing_or_is_no_program_is_left_alone(source: str) -> None:
    assert list(repairs_of(source)) == []


def test_a_copy_of_what_was_meant_to_be_changed_tells_nothing() -> None:
    text = "def move(stock, code):\n    item = stock[code]\n    item.append(3)\n"
    told = {each.what: each.is_telling for each in repairs_of(text)}
    assert told == {"`stock[code]` is shared, not copied": False}


def test_keys_that_share_one_object_get_one_each() -> None:
    text = "names = ['a', 'b']\nfound = dict.fromkeys(names, [])\nfound['a'].append(1)\n"
    (repair,) = (each for each in repairs_of(text) if "every key the same object" in each.what)
    scope: dict[str, object] = {}
    exec(compile(text_with(text, repair), "main.py", "exec"), scope)
    assert scope["found"] == {"a": [1], "b": []}
    assert repair.is_telling


def test_a_change_that_cannot_be_written_as_text_is_left_out() -> None:
    source = "f'{x}'\n"
    put = Change(
        node=ast.parse(source).body[0], what="", instead="",
        edit=lambda found: ast.Constant("\n") if isinstance(found, ast.Name) else None,
    )  # fmt: skip
    text = text_with(source, put)
    assert not text or ast.parse(text).body


def test_a_new_one_of_what_can_be_changed_tells_nothing() -> None:
    text = (
        "kept = {}\ndef f(a):\n    if a not in kept:\n        kept[a] = [a]\n    return kept[a]\n"
    )
    again = [each for each in repairs_of(text) if each.instead == "a new one each time"]
    assert [(each.is_telling, each.hides, each.needs is None) for each in again] == [
        (True, True, False),
        (False, True, True),
    ]


def test_where_a_lock_is_held_one_that_helps_does_not_tell_what_is_wrong() -> None:
    text = (
        "async def book(room):\n    async with lock_of(room):\n        await pay()\n"
        "        room.guests += 1\n"
    )
    (guarded,) = (each for each in repairs_of(text) if "one task at a time" in each.instead)
    (alone,) = (
        each
        for each in repairs_of(text.replace("async with lock_of(room)", "if room"))
        if "one task at a time" in each.instead
    )
    assert (guarded.is_telling, alone.is_telling) == (False, True)


def test_what_a_module_changes_is_looked_for_once_however_many_values_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once for each of them took minutes for 64 KiB: a fuzzer has found it."""
    asked: list[ast.AST] = []

    def counted(tree: ast.AST) -> object:
        asked.append(tree)
        return changed_in_place(tree)

    monkeypatch.setattr(repairs, "changed_in_place", counted)
    list(repairs_of("a = b\n" * 50))

    assert len(asked) <= 2


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("torch.float16", ["torch.float32", "torch.bfloat16", "torch.float64"]),
        ("np.float16", ["np.float32", "np.float64"]),
        ("np.float32", ["np.float64"]),
    ],
)
def test_the_next_wider_type_is_tried_first(written: str, expected: list[str]) -> None:
    tried = [each.instead.strip("`") for each in repairs_of(f"x = f(dtype={written})\n")]
    assert [each for each in tried if "float" in each and "(" not in each] == expected


@pytest.mark.parametrize(
    "opening", ["open(p, 'w')", "Path(p).open('w', encoding='utf-8')", "open(p, 'ab')"]
)
def test_the_advice_for_what_waits_in_a_buffer_is_not_to_do_without_one(opening: str) -> None:
    """Python opens no text without a buffer."""
    (change,) = [e for e in repairs_of(f"f = {opening}\n") if e.instead == "no buffer"]
    assert change.advice.startswith("by closing the file, or flushing it,")


@pytest.mark.parametrize(
    ("program", "is_telling"),
    [
        ("def energy(frame, gain):\n    return frame.counts * gain\n", True),
        ("def key(code, salt):\n    return (code * salt) % 64\n", False),
        ("def key(code, salt):\n    code = code * salt\n    return code\n", False),
        ("def key(code):\n    return code * 31\n", False),
        ("def total(one, other):\n    return one + other\n", False),
    ],
)
def test_a_product_that_wraps_is_wrong_unless_it_may_be_meant_as_in_a_hash(
    program: str, *, is_telling: bool
) -> None:
    told = {each.is_telling for each in repairs_of(program) if each.instead == "64-bit integers"}
    assert told == {is_telling}
