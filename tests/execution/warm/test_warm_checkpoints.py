"""`whet.checkpoint` marks a place from which a later run goes on."""

import time

import pytest
from workshop import Workshop

pytestmark = pytest.mark.slow

LOOP = """\
import time
import whet

for i in range(4):
    print("round", i)
    time.sleep(0.06)
    whet.checkpoint(f"step {i}")
"""
FUNCTION = """\
import time
from whet import checkpoint

def main(n):
    total = 0
    for i in range(n):
        total += i
        time.sleep(0.06)
        checkpoint(f"step {{i}}")
    print("total", total)
    {end}

main(4)
"""
EPOCHS = """\
import time
import whet

def train(epoch):
    step = 0
    while step < 3:
        step += 1
        time.sleep(0.06)
        if step % 2:
            whet.checkpoint(f"{{epoch}}.{{step}}")
    return step

def main():
    steps = []
    for epoch in range(3):
        done = train(epoch)
        steps.append(done)
    {end}

main()
"""


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        pytest.param(LOOP + "print('one')", LOOP + "print('two', i)", "step 3", id="below a loop", marks=pytest.mark.long),
        pytest.param(
            FUNCTION.format(end="print('one')"),
            FUNCTION.format(end="print('two', i, n)"),
            "step 3",
            id="in the rest of a function",
         marks=pytest.mark.long),
        pytest.param(
            EPOCHS.format(end="print(steps)"),
            EPOCHS.format(end="print(sum(steps), epoch)"),
            "2.3",
            id="in a function that is called from a loop",
        ),
        pytest.param(
            LOOP.replace("whet.checkpoint(", "import sys; sys.audit('whet.checkpoint', ") + "pass",
            LOOP.replace("whet.checkpoint(", "import sys; sys.audit('whet.checkpoint', ") + "1 / 0",
            "step 3",
            id="without whet",
        ),
        pytest.param(
            LOOP + "    print('after', i)",
            LOOP + "    print('behind', i)",
            "step 0",
            id="in the rest of a loop's body",
        ),
        pytest.param(
            LOOP.replace('f"step {i}"', "") + "pass",
            LOOP.replace('f"step {i}"', "") + "print(1)",
            "main.py:7",
            id="without a name",
         marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_an_edit_below_a_checkpoint_is_answered_from_there(
    workshop: Workshop, before: str, after: str, place: str
) -> None:
    workshop.edit(before, after)

    assert workshop.starts[-1].place == place, workshop.starts


@pytest.mark.parametrize(
    "around", ["with open(__file__):", "try:", "class C:", "if main.__name__:"]
)
def test_an_edit_of_another_file_is_answered_from_a_checkpoint_anywhere(
    workshop: Workshop, around: str
) -> None:
    end = "except ValueError: pass" if around == "try:" else ""
    workshop.write({
        "main.py": "import time, whet\n"
        f"def main():\n    {around}\n        time.sleep(0.06)\n        whet.checkpoint('here')\n"
        f"    {end or 'pass'}\n    import other\nmain()\n",
        "other.py": "print(1)\n",
    })  # fmt: skip
    workshop.run()
    workshop.write({"other.py": "print(2)\n"})
    workshop.run()

    assert workshop.starts[-1].place == "here", workshop.starts


def test_of_many_checkpoints_the_latest_and_a_spread_are_kept(workshop: Workshop) -> None:
    loop = "import time, whet\nfor i in range(60):\n    time.sleep(0.02)\n    whet.checkpoint(str(i))\n"
    workshop.write({"main.py": loop + "a = 1\n"})
    workshop.run()
    snapshots = workshop.starts[-1].snapshots
    workshop.write({"main.py": loop + "a = 2\n"})
    workshop.run()

    assert 8 <= snapshots <= 12
    assert int(workshop.starts[-1].place) > 50


def test_checkpoints_cost_a_fast_loop_next_to_nothing(workshop: Workshop) -> None:
    text = (
        "import time, whet\nbegan = time.perf_counter()\nfor i in range(100_000):\n"
        "    whet.checkpoint('x')\ntook = time.perf_counter() - began\n"
    )
    workshop.write({"main.py": text + "assert took < 3, took\n"})
    began = time.monotonic()
    workshop.run()

    assert time.monotonic() - began < 20
    assert workshop.starts[-1].snapshots


@pytest.mark.parametrize("name", ["7", "None", "b'x'"])
def test_a_name_that_is_no_text_is_refused(workshop: Workshop, name: str) -> None:
    workshop.write({"main.py": f"import whet\nwhet.checkpoint({name})\n"})
    outcome = workshop.run()

    assert outcome.exit_code == 1
    assert f"checkpoint({name})".encode() in outcome.stderr.head(1 << 20)
