"""Definitions that are cut together with all that uses them, in few calls."""

import re

import pytest
from odd_oracles import fails_if, shrunk

from whet.core.verdict import Verdict
from whet.reduction.formats.source.grammars import parser_of
from whet.reduction.formats.source.python_tree import read_python
from whet.reduction.formats.source.source_tree import SourceTree, read_tree
from whet.reduction.formats.source.source_uses import MOST_UNITS, delete_with_uses
from whet.search.proposal import run_search

pytestmark = pytest.mark.skipif(
    parser_of("javascript") is None, reason="the grammars are not installed"
)

NEEDED = (3, 17, 30)


def bundle(modules: int) -> bytes:
    """Return modules in functions: an index has them all, a needed one needs the one before it."""
    parts = ["const module = (make) => () => make({});"]
    for number in range(modules):
        before = [at for at in NEEDED if at < number]
        needs = before[-1:] if number in NEEDED else []
        parts += [
            f"var require_{number} = module((exports) => {{",
            *(f"  const part_{each} = require_{each}();" for each in needs),
            *(f"  const value_{number}_{line} = {line};" for line in range(6)),
            f"  exports.answer_{number} = (it) => it.field_{number};",
            "  return exports;",
            "});",
        ]
    names = [f"all_{number}" for number in range(modules)]
    parts += [
        "var index = module((exports) => {",
        *(f"  const all_{number} = require_{number}();" for number in range(modules)),
        "  return {",
        *(f"    {name}," for name in names),
        "  };",
        "});",
    ]
    return "\n".join([*parts, f"index().all_{NEEDED[-1]}.answer_{NEEDED[-1]}(null);", ""]).encode()


def still_fails(payload: bytes) -> bool:
    """Whether what is called is defined, with a body, and the chain of what is needed is there."""
    named = set(re.findall(rb"^ +(all_\d+),", payload, re.MULTILINE))
    called = set(re.findall(rb"(require_\d+)\(\)", payload))
    defined = set(re.findall(rb"var (require_\d+) = module\(\(exports\) => \{", payload))
    last = NEEDED[-1]
    chain = [
        b"const all_%d = require_%d();" % (last, last),
        b".all_%d.answer_%d(null)" % (last, last),
    ]
    chain += [b"const part_%d = require_%d();" % (each, each) for each in NEEDED[:-1]]
    chain += [b"exports.answer_%d = (it) => it.field_%d" % (each, each) for each in NEEDED]
    known = {b"all_" + each for each in re.findall(rb"const all_(\d+) = ", payload)}
    return called <= defined and named <= known and all(each in payload for each in chain)


def javascript(payload: bytes) -> SourceTree:
    parse = parser_of("javascript")
    assert parse is not None
    tree = read_tree(parse, payload)
    assert tree is not None
    return tree


def cut(tree: SourceTree, judge: "re.Pattern[bytes]") -> tuple[bytes, int]:
    calls: list[bytes] = []

    def test(payload: bytes) -> Verdict:
        calls.append(payload)
        return Verdict.BAD if judge.search(payload) else Verdict.GOOD

    return run_search(delete_with_uses(tree), test), len(calls)


def test_modules_that_nothing_needs_go_with_their_uses_in_few_calls() -> None:
    payload = bundle(44)
    calls = 0

    def test(candidate: bytes) -> Verdict:
        nonlocal calls
        calls += 1
        return Verdict.BAD if still_fails(candidate) else Verdict.GOOD

    left = run_search(delete_with_uses(javascript(payload)), test)

    assert {int(each) for each in re.findall(rb"var require_(\d+) ", left)} == set(NEEDED)
    assert calls <= 60


def test_a_bundle_is_within_a_tenth_of_its_end_in_few_calls() -> None:
    done = shrunk(bundle(44), fails_if(still_fails), name="bundle.js")

    sizes = [len(each.data) for each, verdict in done.told if verdict is Verdict.BAD]
    near = next(
        place
        for place, (each, verdict) in enumerate(done.told)
        if verdict is Verdict.BAD and len(each.data) <= 1.1 * sizes[-1]
    )
    assert near <= 420


def test_what_uses_something_goes_and_what_defines_something_stays() -> None:
    payload = b"""\
function first(a) {
  return a;
}
function second(a) {
  return first(a);
}
const third = second(1);
needed(2, "and what stands here is longer than all that goes together");
"""

    left, _ = cut(javascript(payload), re.compile(rb"function first.*needed", re.DOTALL))

    assert b"second" not in left
    assert b"third" not in left
    assert left.startswith(b"function first(a) {")


def test_a_block_that_would_be_left_empty_gets_what_has_to_stand_there() -> None:
    tree = read_python(b"""\
import kept
import gone

def use(a):
    gone.one(a)
    gone.two(a)

other = kept.it
kept.needed(other)
kept.more(1, 2, 3, 4, 5, 6)
""")
    assert tree is not None

    left, _ = cut(tree, re.compile(rb"def use.*needed", re.DOTALL))

    assert b"gone" not in left
    assert b"def use(a):\n    pass" in left


def test_a_name_that_stands_nearly_everywhere_is_no_definition() -> None:
    lines = [f"self.item_{number} = {number};" for number in range(MOST_UNITS + 1)]
    tree = javascript("\n".join(["var self = {};", *lines, ""]).encode())

    _, calls = cut(tree, re.compile(rb"never"))

    assert not calls


def test_a_program_on_one_long_line_has_no_units() -> None:
    tree = javascript(b"var a=1;" * 2000)

    assert cut(tree, re.compile(rb"never"))[1] == 0
