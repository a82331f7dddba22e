"""A one-token change leaves all else alone, never reaches outside, and ends the failure it is for."""

import ast
from pathlib import Path

import pytest
from crossed import one_in

from whet.evidence.experiments.single_changes import LESS_LIKELY
from whet.evidence.experiments.variations import deciding_lines, variations_of
from whet.evidence.experiments.vocabulary import given_beside

WRONG = {
    "boundary": ("def old(age):\n    return age > 18\nassert [old(18), old(17)] == [True, False]\n", 2),
    "operator": ("def net(a, b):\n    return a + b\nassert net(5, 3) == 2\n", 2),
    "rounded up": ("def pages(n):\n    return n // 10\nassert pages(25) == 3\n", 2),
    "grouping": ("def mean(a, b):\n    return a + b / 2\nassert mean(2, 4) == 3\n", 2),
    "order of rules": (
        ("RULES = [(0, 'any'), (5, 'some')]\ndef rule(n):\n    for least, name in RULES:\n"
        "        if n >= least:\n            return name\nassert rule(7) == 'some'\n"), 3,
    ),
    "zero in a test": ("def f(n):\n    if not n:\n        return 1\n    return n\nassert [f(0), f(None)] == [0, 1]\n", 2),
    "order of calls": (
        ("def number(text):\n    return float(text.replace(',', '.').replace('.', ''))\n"
        "assert number('1.150,25') == 1150.25\n"), 2,
    ),
    "text in a calculation": ("def twice(n):\n    return int(n['a'] * 2)\nassert twice({'a': '10'}) == 20\n", 2),
    "blanks around": ("def last(x):\n    return x.split(' ')[-1]\nassert last('a b ') == 'b'\n", 2),
    "last batch": (
        ("def f(rows):\n    some = []\n    for each in rows:\n        some.append(each)\n"
        "        if len(some) == 2:\n            yield some\n            some = []\nassert list(f('abc')) == [['a', 'b'], ['c']]\n"), 3,
    ),
    "reported and not left": (
        ("def f(n, found):\n    if n < 0:\n        found.append('late')\n    found.append(n)\n"
        "x = []\nf(-1, x)\nassert x == ['late']\n"), 2,
    ),
    "order of lines": (
        ("class Log:\n    def __init__(self):\n        self.rows = []\n    def add(self, row):\n"
        "        self.rows.append(row)\n        return len(self.rows)\n    def mark(self):\n"
        "        self.rows.append('-')\n    def note(self, row):\n        self.mark()\n"
        "        n = self.add(row)\n        return n\nassert Log().note('a') == 1\n"), 10,
    ),
    "switch of the call beside": (
        ("def along(rows, axis):\n    return [sum(each) for each in (rows if axis else zip(*rows))]\n"
        "def f(rows):\n    low = min(along(rows, 0))\n    high = max(along(rows, 1))\n    return high - low\n"
        "assert f([[1, 100], [2, 300]]) == 397\n"), 5,
    ),
    "switch of another function beside": (
        ("def least(rows, by): return min(each[by] for each in rows)\ndef most(rows, by): return max(each[by] for each in rows)\n"
        "def f(rows):\n    return most(rows, by='size') - least(rows, by='age')\n"
        "assert f([{'age': 3, 'size': 90}, {'age': 4, 'size': 70}]) == 20\n"), 4,
    ),
    "range": ("def count(n):\n    return sum(range(n))\nassert count(4) == 10\n", 2),
    "slice": ("def tail(x):\n    return x[1:-1]\nassert tail([1, 2, 3]) == [2, 3]\n", 2),
    "index": ("def last(x):\n    return x[0]\nassert last([1, 2]) == 2\n", 2),
    "argument order": (
        "def power(a, b):\n    return a**b\ndef f():\n    return power(2, 3)\nassert f() == 9\n", 4,
    ),
    "and for or": ("def ok(a, b):\n    return a and b\nassert ok(True, False) == True\n", 2),
    "not": ("def ok(a):\n    return not a\nassert ok(3) == 3\n", 2),
    "zero is a value": (
        "def limit(given):\n    return given or 5\nassert [limit(0), limit(None)] == [0, 5]\n", 2,
    ),
    "order of a merge": (
        "def merged(a, b):\n    return {**b, **a}\nassert merged({'k': 1}, {'k': 2}) == {'k': 2}\n", 2,
    ),
    "function beside": ("def worst(x):\n    return max(x)\nassert worst([2, 3]) == 2\n", 2),
    "prefix": ("def bare(x):\n    return x.lstrip('ab')\nassert bare('abba') == 'ba'\n", 2),
    "greedy": (
        "import re\ndef first(x):\n    return re.findall('<(.*)>', x)\nassert first('<a><b>') == ['a', 'b']\n", 3,
    ),
    "day and month": (
        ("from datetime import datetime\ndef day(x):\n    return datetime.strptime(x, '%m/%d/%Y').day\n"
         "assert day('02/03/2024') == 2\n"), 3,
    ),
    "return too deep": (
        "def total(x):\n    n = 0\n    for each in x:\n        n += each\n        return n\nassert total([1, 2]) == 3\n", 3,
    ),
    "no return": ("def add(a, b):\n    sum([a, b])\nassert add(1, 2) == 3\n", 1),
    "lost result": (
        ("def twice(f):\n    def inner(x):\n        f(x)\n    return inner\n@twice\n"
         "def one(x):\n    return x\nassert one(3) == 3\n"), 2,
    ),
    "base not begun": (
        ("class A:\n    def __init__(self):\n        self.n = 7\nclass B(A):\n    def __init__(self):\n"
         "        self.m = 1\nassert getattr(B(), 'n', 0) == 7\n"), 5,
    ),
    "not awaited": (
        ("import asyncio\nfound = []\nasync def load():\n    found.append(1)\nasync def main():\n"
         "    load()\nasyncio.run(main())\nassert found == [1]\n"), 6,
    ),
    "sum that is set": (
        "def total(x):\n    n = 0\n    for each in x:\n        n = each\n    return n\nassert total([1, 2]) == 3\n", 4,
    ),
    "order of tests": (
        ("def kind(n):\n    if n > 1:\n        return 'some'\n    elif n > 100:\n        return 'many'\n"
         "    return 'few'\nassert kind(200) == 'many'\n"), 2,
    ),
    "method that is not called": (
        ("class A:\n    def done(self):\n        return True\n"
         "found = [each for each in [A()] if not each.done]\nassert found == [], found\nx = 1 if A().done else 2\n"
         "y = [each for each in [A()] if each.done == True]\nassert len(y) == 1\n"), 7,
    ),
    "begins anew otherwise": (
        ("def most(x):\n    n, found = 0, []\n    count = 1\n    for a, b in zip(x, x[1:]):\n"
         "        if a == b:\n            count += 1\n        else:\n            found.append(count)\n"
         "            count = 0\n    return [*found, count]\nassert most('aab') == [2, 1]\n"), 9,
    ),
    "word that is spelt otherwise": (
        "KIND = 'purchased'\nrows = ['purchase', 'page_view']\nassert rows.count(KIND) == 1\n", 1,
    ),
    "order of steps": (
        ("def slug(x):\n    x = x.lower()\n    x = ''.join(c for c in x if c.isalnum())\n    x = x.replace('&', 'and')\n"
        "    return x\nassert slug('A & B') == 'aandb'\n"), 3,
    ),
    "last part": (
        ("def pages(x, n):\n    return [x[at : at + n] for at in range(0, len(x) - n, n)]\n"
        "assert pages('abcde', 2) == ['ab', 'cd', 'e']\n"), 2,
    ),
    "another unit": (
        "def wait(job):\n    seconds = float(job['timeout_ms'])\n    return seconds\nassert wait({'timeout_ms': 2500}) == 2.5\n", 2,
    ),
    "operands of a difference": (
        "def days(paid, ordered):\n    return ordered - paid\nassert days(9, 4) == 5\n", 2,
    ),
}  # fmt: skip
SPECIMENS = sorted((Path(__file__).parents[2] / "specimens" / "everyday").rglob("*.py"))


def unknown(_expr: ast.expr, _line: int) -> str:
    return ""


def changes(text: str) -> list[tuple[int, str]]:
    lines = range(1, text.count("\n") + 2)
    return [(each.line, each.text) for each in variations_of(text, lines, set(), unknown)]


def ends_well(text: str) -> bool:
    try:
        exec(compile(text, "program.py", "exec"), {"__name__": "program"})
    except (
        AssertionError,
        ArithmeticError,
        AttributeError,
        LookupError,
        NameError,
        TypeError,
        ValueError,
    ):
        return False
    return True


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("kind", WRONG)
def test_a_change_of_the_line_that_is_wrong_ends_the_failure(kind: str) -> None:
    text, line = WRONG[kind]
    assert not ends_well(text)
    assert line in {at for at, changed in changes(text) if ends_well(changed)}


def _same(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


@pytest.mark.parametrize(
    "path", one_in(5, SPECIMENS, ["/".join(path.parts[-2:]) for path in SPECIMENS])
)
def test_a_change_is_python_and_leaves_what_is_around_it_as_it_was(path: Path) -> None:
    text = path.read_text()
    for line, changed in changes(text):
        ast.parse(changed)
        assert changed != text
        first = next(
            number
            for number, (one, other) in enumerate(
                zip([*text.splitlines(), ""], [*changed.splitlines(), *[""] * 99], strict=False), 1
            )
            if one != other
        )
        assert first >= line
        assert text.splitlines()[: line - 1] == changed.splitlines()[: line - 1]
        alike = _same(text, changed) + _same(text[::-1], changed[::-1])
        assert 4 * min(alike, len(text), len(changed)) > len(text) + len(changed)


@pytest.mark.parametrize(
    "line",
    [
        "import os\nos.remove('a' + 'b')\n",
        "open('a' + 'b', 'w')\n",
        "import shutil\nshutil.rmtree('a' if 1 > 2 else 'b')\n",
        "import subprocess\nsubprocess.run(['rm', '-r' + 'f'])\n",
        "from pathlib import Path\nPath('a').write_text('b' + 'c')\n",
        "assert 1 + 1 == 3\n",
        "import os\n",
    ],
)
def test_what_reaches_outside_and_what_checks_is_never_changed(line: str) -> None:
    assert changes(line) == []


def test_no_line_takes_the_place_of_one_that_reaches_outside() -> None:
    text = "def f(own):\n    own.close()\n    remove(own.close())\n"
    assert not [each for _, each in changes(text) if "remove(own.close())\n    own.close()" in each]


def test_what_decides_whether_a_check_is_reached_is_told() -> None:
    text = (
        "for x in y:\n    if not x:\n        continue\n    if x > 3:\n        check(x)\n    z = 1\n"
    )
    assert deciding_lines(text, {5}) >= {1, 2, 3, 4}
    assert 6 not in deciding_lines(text, {5})


def test_the_order_of_the_lines_is_kept() -> None:
    text = "a = 1 + 1\nb = 2 + 2\n"
    found = [each.line for each in variations_of(text, [2, 1], set(), unknown)]
    assert found == sorted(found, reverse=True)


def test_one_more_comes_last_of_its_rank_for_it_hides_a_number_made_anywhere() -> None:
    text = "def rows(n):\n    return n // 4\nx = [each for each in range(rows(9))]\n"
    found = sorted(variations_of(text, [3, 2], set(), unknown), key=lambda each: each.order)
    assert [each.line for each in found if each.rank == found[0].rank] == [2, 3, 3]


def test_a_mean_is_never_made_a_product_but_any_other_quotient_is() -> None:
    text = "mean = total / len(rows)\nrate = total / seconds\n"
    found = {each.new for each in variations_of(text, [1, 2], set(), unknown)}
    assert "total * seconds" in found
    assert not [each for each in found if "* len" in each]
    assert "total // len(rows)" in found


def test_of_a_long_text_what_differs_is_told() -> None:
    pattern = (
        r"^(?P<shop>[^|]+) \| (?P<day>[\d-]+) \| with some more words.*: (?P<amount>[\d.]+) EUR"
    )
    source = f'import re\nLINE = re.compile(r"{pattern}")\n'
    (found,) = (e for e in variations_of(source, [2], set(), lambda *_: "") if ".*?" in e.new)
    assert ".*:" in found.old
    assert len(found.old) <= 70
    assert "\\\\" not in found.new


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("def f(n, found):\n    if n < 0:\n        found.append(1)\n    found.append(n)\n", 2,
         ("found.append(1)", "found.append(1); return")),
        ("def f(out):\n    out.end()\n    n = out.add(1)\n    return n\n", 2,
         ("out.end(); n = out.add(1)", "n = out.add(1); out.end()")),
        (WRONG["last batch"][0], 3, ("some = []", "some = []; yield some after the loop")),
    ],
)  # fmt: skip
def test_a_line_that_is_put_in_takes_the_place_of_none(
    source: str, line: int, said: tuple[str, str]
) -> None:
    told = [(each.old, each.new) for each in variations_of(source, [line], set(), lambda *_: "")]
    assert said in told


@pytest.mark.parametrize("spelt", ["r'{}'", "r'{}' r'{}'"])
def test_of_a_long_pattern_the_signs_that_differ_are_told_however_it_is_written(spelt: str) -> None:
    pattern = (
        r"(?P<host>\S+) \[(?P<when>[^\]]+)\] (?P<method>\w+) (?P<path>.*) HTTP/(?P<version>\S+)"
    )
    half = len(pattern) // 2
    parts = (pattern[:half], pattern[half:]) if spelt.count("{}") == 2 else (pattern,)
    text = f"import re\nLINE = re.compile({spelt.format(*parts)})\n"
    found = variations_of(text, [2], set(), lambda *_: "")
    (lazy,) = (each for each in found if ".*?" in each.text)

    assert r"(?P<path>.*?) HTTP" in lazy.new
    assert r"(?P<path>.*) HTTP" in lazy.old


@pytest.mark.parametrize(
    ("source", "is_power"),
    [
        ("x = 512 * MB\n", False),
        ("x = 1024 * 1024\n", False),
        ("x = a * 2\n", True),
        ("x = a * b\n", True),
    ],
)
def test_a_product_is_tried_as_a_power_only_where_one_may_be_meant(
    source: str, *, is_power: bool
) -> None:
    tried = [each.new for each in variations_of(source, [1], set(), lambda *_: "")]
    assert any("**" in each for each in tried) is is_power


def units(text: str) -> list[str]:
    return [after for _, after in changes(text) if "1000" in after and "1000" not in text]


@pytest.mark.parametrize(
    "line",
    [
        "seconds = job['timeout_s']",
        "seconds = job['timeout_ms'] / rate",
        "wait = job['timeout_ms']",
        "seconds = job['items']",
        "seconds = convert(job['items'], job['size_mb'])",
        "terms_ms = job['problems']",
    ],
)
def test_a_unit_is_changed_only_where_both_names_tell_it_and_nothing_converts(line: str) -> None:
    assert not units(f"def f(job, rate, convert):\n    {line}\n")
    assert units("def f(job):\n    seconds = job['timeout_ms']\n")


def test_steps_that_take_no_turns_at_one_value_stay_in_their_order() -> None:
    text = "def f(x, y):\n    a = x + 1\n    b = y * 2\n    return a, b\n"

    assert not any(
        after.index("b = y") < after.index("a = x")
        for _, after in changes(text)
        if "a = x" in after and "b = y" in after
    )


def test_a_switch_that_the_call_beside_has_otherwise_is_as_likely_as_another_operator() -> None:
    source = "def f(rows):\n    return along(rows, 0) - along(rows, axis, 1) + along(rows, 1)\n"
    found = [
        each for each in variations_of(source, [2], set(), unknown) if each.old.startswith("along")
    ]
    assert {(each.old, each.new) for each in found if each.order <= (LESS_LIKELY, False)} >= {
        ("along(rows, 0)", "along(rows, 1)"),
        ("along(rows, 1)", "along(rows, 0)"),
    }


@pytest.mark.parametrize(
    "line",
    [
        "return f(a, 0) + f(b, 1)",
        "return f(a, 12) + f(a, 40)",
        "return f(a, 0) + g(a, 1)",
        "return f(a, 'two words') + f(a, 'and more')",
        "return f(0, 1) + f(1, 0)",
        "return self.f(0) + self.f(1)",
    ],
)
def test_a_switch_is_taken_only_from_a_call_that_handles_the_same_data(line: str) -> None:
    source = f"def made(self, a, b):\n    {line}\n"
    (node,) = ast.parse(source).body
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]

    assert [ast.unparse(each) for call in calls for each in given_beside(call, [node])] == []
