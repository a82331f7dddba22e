"""Whoever wrote what whet reads: a reader answers, or refuses in a sentence."""

import random
from dataclasses import replace

import pytest
from benchmarks.faults.fuzz import run_turn
from benchmarks.faults.reader import Reader
from benchmarks.faults.readers import READERS

SHORT_SECONDS, LONG_SECONDS = 0.04, 20.0
ANY = random.Random().randrange(2**40)
"""Where the long form begins; what it says makes an example again: `--reader NAME --only NUMBER`."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("reader", "first", "seconds"),
    [
        pytest.param(each, first, seconds, marks=marks, id=f"{each.name}, {seconds} s")
        for each in READERS
        for first, seconds, marks in (
            (0, SHORT_SECONDS, ()),
            (ANY, LONG_SECONDS, pytest.mark.long),
        )
    ],
)
def test_a_reader_of_what_somebody_else_wrote_answers_or_refuses_in_a_sentence(
    reader: Reader, first: int, seconds: float
) -> None:
    tally, _ = run_turn(reader, first, seconds)

    assert tally.crashes == {}
    assert tally.examples > 0


DIGITS = b"9" * 5000
CRASHED = {
    "an error number without end": ("program: what it printed", b"OSError: [Errno %s] no" % DIGITS),
    "a number of times without end": ("words: wishes", b"a.py:f after %s" % DIGITS),
    "a set of dictionaries": ("settings: `a.py`", b"a = {{}}"),
    "a text that is deep in another language": (
        "settings: `a.ini`",
        b"[a]\nb = %s%s\n" % (b"[" * 500, b"]" * 500),
    ),
    "a tree as deep as Python reads": ("source: a module", b"a = " + b"-" * 900 + b"1"),
    "a long line of digits": ("program: what it printed", b"an error in line " + b"9" * 65_000),
    "a frame that is a text": (
        "profile: py-spy",
        (
            b'{"shared": {"frames": [{"name": "f"}]}, "profiles": [{"name": '
            b'"Process 7 Thread 9 \\"a\\"", "samples": [[7]], "weights": [1]}]}'
        ),
    ),
    "an event of no thread": (
        "profile: torch",
        (
            b'[{"pid": 7, "traceEvents": [{"ph": "X", "cat": "cpu_op", "ts": 1, "dur":'
            b' 2, "tid": [], "args": {"correlation": {}, "bytes": 1e999}}]}]'
        ),
    ),
    "a trace without places": (
        "profile: jax",
        b'[{"traceEvents": [{"ph": "X", "ts": "x", "name": "$a.py:%s f"}]}]' % DIGITS,
    ),
    "a block without a size": ("profile: memray", b'[{"pid": 7, "peak": 1e999, "blocks": [[1]]}]'),
    "a line of spaces in a stack": ("profile: perf", b"c 7/7 1.5:\n\t1" + b" " * 65_000 + b"x"),
    "a bound without end": (
        "make: a JSON schema",
        b'{"minimum": 1e308, "multipleOf": 1e-308, "maximum": %d}' % 10**400,
    ),
    "a list without end": ("make: a JSON schema", b'{"minItems": 9999999999}'),
    "a section of infinite time": (
        "agent: sections",
        b"begin\t0\t-1\t%s\ta\t\t\tsection\t.\n" % (b"9" * 400),
    ),
    "counts that are no numbers": ("agent: lines", b"\xff" * 96),
    "a count of waits without end": (
        "evidence: waits",
        b'{"seen": 1, "failed": 0, "waits": [{"call": "a", "count": %d}]}' % 10**400,
    ),
    "a number of layers without end": (
        "layers: a configuration",
        b'{"num_hidden_layers": 9999999999}',
    ),
    "a note that is too deep": ("left by a whet: removed files", b"[" * 5000),
    "a threshold of spaces": ("words: a threshold", b"rss >" + b" " * 65_000 + b"=1"),
    "a literal that is too deep": ("words: a literal", b"(" * 5000),
    "an editable package in no encoding": ("where: an editable package", b"\xff"),
    "a long line of spaces": ("program: what it printed", b" " * 65_000 + b"x"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "data"), CRASHED.values(), ids=CRASHED)
def test_what_crashed_a_reader_once_is_answered(name: str, data: bytes) -> None:
    (reader,) = (each for each in READERS if each.name == name)
    tally, _ = run_turn(replace(reader, read=lambda _: reader.read(data)), 0, 1e-6)

    assert tally.crashes == {}
