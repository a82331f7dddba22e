"""What grows is said with its unit: GPU memory, files, threads; the control of a machine without a GPU is a fake."""

from dataclasses import replace

import pytest

from whet.measurement.leaks.verdict import Series, judge
from whet.workbench.leak.leak import Leak, Piece
from whet.workbench.leak.reports import Growth
from whet.workbench.leak.words import leak_json, leak_lines

ROUNDS = tuple(range(40))


def found(**rates: int) -> Leak:
    usages = tuple(
        {name: 1000 + rate * number for name, rate in rates.items()} for number in ROUNDS
    )
    series = Series(numbers=ROUNDS, usages=usages)
    return Leak(
        piece=Piece(is_loop=True, path="/p/train.py", line=7, function="main"),
        judgement=judge(series), series=series, control=0, growth=None, holders=(), notes=(),
        trials=(3,),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ({"memory": 0, "cuda": 4096}, "adds 4.1 kB of GPU memory (39 rounds)"),
        ({"memory": 0, "jax": 8000}, "adds 8.0 kB of JAX arrays (39 rounds)"),
        ({"memory": 5000, "descriptors": 1}, "adds 5.0 kB and 1 open file (39 rounds)"),
        ({"memory": 0, "children": 2}, "adds 2 child processes (39 rounds)"),
        ({"memory": 9000, "threads": 1, "mapped": 9 << 20}, "adds 9.0 kB and 1 thread (39 rounds)"),
    ],
)
def test_what_grows_is_said_with_its_unit(rates: dict[str, int], words: str) -> None:
    leak = found(**rates)
    first = leak_lines(leak)[0]
    assert first.startswith("LEAK: each round of the loop ")
    assert first.endswith(words)
    assert leak_json(leak)["verdict"] == "leak"


def test_native_code_is_a_guess_where_no_holder_is_known() -> None:
    growth = Growth(repetitions=64, traced=0, lines=(), types={}, holders=(), files=(), threads=())
    text = "\n".join(leak_lines(replace(found(memory=5000), growth=growth)))
    assert "whet finds no Python object that holds it and grows" in text
    assert "native code keeps it" not in text


def test_no_leak_is_said_with_the_bound_and_a_next_step() -> None:
    lines = leak_lines(found(memory=0))
    assert lines[0].startswith("NO LEAK: below 1 B for each round of the loop ")
    assert lines[-1].startswith("next: ")
