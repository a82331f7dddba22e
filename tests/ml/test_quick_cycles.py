"""The edits of the guide "Quick cycles", of a program with torch and transformers."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from workshop import Workshop

if find_spec("transformers") is None:  # not imported here: that would take longer than a trial
    pytest.skip("`make test-ml` brings transformers", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]

PROGRAM = Path(__file__).parents[2] / "specimens" / "ml" / "small_llama.py"
IN_MAIN, BEFORE_IT = {*range(17, 22)}, {*range(1, 17), 24, 25}
EDITS = [
    ('"done"', '"finished"', IN_MAIN),
    ("loss {loss", "the loss is {loss", IN_MAIN),
    ("seed=0", "seed=1", BEFORE_IT),
    ('"finished"', '"finished at last"', IN_MAIN | BEFORE_IT),
]
"""What is written, in place of what, and the lines from one of which it is to run on."""


def test_each_edit_runs_on_from_a_copy_and_gives_the_cold_answer(
    workshop: Workshop,
) -> None:
    text = PROGRAM.read_text("utf-8")
    workshop.write({"main.py": text})
    workshop.cold.submit(workshop.trial()).result()  # torch makes its folder for temporary files
    workshop.run()
    for old, new, lines in EDITS:
        assert text.count(old) == 1
        text = text.replace(old, new)
        workshop.write({"main.py": text})
        shown = workshop.run().stdout.head(99)
        name, _, line = workshop.starts[-1].place.partition(":")
        assert name == "main.py", workshop.starts
        assert int(line) in lines, new
    assert shown.startswith(b"the loss is ")
    assert shown.endswith(b"\nfinished at last\n")
