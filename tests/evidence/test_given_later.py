"""A bad argument is followed back through what kept it for a later call, and to no other place."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

RATE = """\
from functools import partial


def rate_of(country):
    if country == "de":
        return 19


def gross(net, rate):
    return net * (100 + rate) / 100


"""
SIZES = """\
def area(width, height):
    return width * height


def size_of(name):
    if name in "ab":
        return len(name) + 2


"""
JOB = """\
class Job:
    def __init__(self, function, *args, **options):
        self.function = function
        self.args = args
        self.options = options

    def run(self):
        return self.function(*self.args, **self.options)


"""
MADE_LATER = {
    "partial by name": RATE + 'price = partial(gross, rate=rate_of("at"))\nprint(price(100))\n',
    "partial by place": RATE.replace("net, rate", "rate, net")
    + 'prices = {each: partial(gross, rate_of(each)) for each in ("de", "at")}\n'
    "for price in prices.values():\n    print(price(100))\n",
    "mapped partial": RATE + 'print(list(map(partial(gross, rate=rate_of("at")), [1, 2])))\n',
    "unpacked": SIZES + JOB + 'jobs = [Job(area, size_of("a"), size_of("b")),'
    ' Job(area, size_of("b"), size_of("c"))]\nfor job in jobs:\n    print(job.run())\n',
    "unpacked by name": SIZES + JOB + 'job = Job(area, width=size_of("b"), height=size_of("c"))\n'
    "print(job.run())\n",
    "queue": SIZES + "jobs = []\n\n\ndef later(function, *args):\n    jobs.append((function, args))\n\n\n"
    'later(area, size_of("a"), size_of("c"))\nfor function, args in jobs:\n    print(function(*args))\n',
    "by a name of its own": SIZES
    + 'FUNCTIONS = {"area": area}\n\n\ndef call(name, *args):\n    return FUNCTIONS[name](*args)\n\n\n'
    'print(call("area", size_of("a"), size_of("c")))\n',
    "decorated": "import functools\n\n\ndef logged(function):\n    @functools.wraps(function)\n"
    "    def inner(*args, **options):\n        return function(*args, **options)\n\n    return inner\n\n\n"
    f"@logged\n{SIZES}"
    'print(area(size_of("a"), height=size_of("c")))\n',
    "thread": "from concurrent.futures import ThreadPoolExecutor\n\n\n" + SIZES
    + "with ThreadPoolExecutor(1) as pool:\n"
    '    futures = [pool.submit(area, size_of(one), size_of(other)) for one, other in ["ab", "bc"]]\n'
    "print([each.result() for each in futures])\n",
    "after a starred list": SIZES
    + 'sizes = [size_of("a")]\n\n\ndef call(*args):\n    return area(*args)\n\n\n'
    'print(call(*sizes, size_of("c")))\n',
}  # fmt: skip
TWO_PLACES = (
    SIZES
    + """\
import functools

partial_of = getattr(functools, "partial")
one = functools.partial(area, size_of("c"))
other = partial_of(area, size_of("d"))
print(one(2))
"""
)
OTHERWISE = (
    SIZES
    + """\
import functools

unused = functools.partial(area, size_of("c"), 3)
print(*map(area, [1, None], [4, 5]))
"""
)


@pytest.mark.parametrize("way", MADE_LATER)
def test_a_bad_argument_is_followed_back_through_what_kept_it(tmp_path: Path, way: str) -> None:
    program = MADE_LATER[way]
    first = clues(tmp_path, program)[0]
    assert first.line == line_of(program, "    if ")
    assert " is None at main.py:" in first.says
    assert "ended after line" in first.says
    assert "without returning a value" in first.says


@pytest.mark.parametrize("program", [TWO_PLACES, OTHERWISE])
def test_a_line_that_may_not_have_given_it_is_not_named(tmp_path: Path, program: str) -> None:
    lines = {each.line for each in clues(tmp_path, program)}
    assert not lines & {line_of(program, "    if "), line_of(program, "functools.partial")}


HEAP = """\
import heapq


class Plan:
    def __init__(self):
        self.heap, self.entries, self.now = [], {}, 0

    def add(self, when, name):
        entry = [when, name]
        self.entries[name] = entry
        heapq.heappush(self.heap, entry)

    def move(self, name, when):
        self.entries[name][0] = when

    def step(self):
        when, name = heapq.heappop(self.heap)
        if when < self.now:
            raise RuntimeError(f"{name} is late")
        self.now = when


plan = Plan()
for when, name in enumerate("abcdefgh", 11):
    plan.add(2 * when, name)
plan.move("e", 23)
for _ in range(8):
    plan.step()
"""


def test_a_part_that_was_changed_in_what_holds_it_is_followed_to_that_line(
    tmp_path: Path,
) -> None:
    first = clues(tmp_path, HEAP)[0]

    places = [step.place for step in first.trail]
    assert f"main.py:{line_of(HEAP, '[0] = when')}" in [*places, f"main.py:{first.line}"]


def test_a_part_that_was_never_changed_is_followed_to_where_it_was_made(tmp_path: Path) -> None:
    program = HEAP.replace('plan.move("e", 23)', "plan.now = 99")
    first = clues(tmp_path, program)[0]

    said = " ".join([first.says, *(step.in_words for step in first.trail)])
    assert "[0] = when" not in said
