"""The edits of the guide "Quick cycles", of a program with torch and transformers."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from workshop import Workshop

if find_spec("transformers") is None:  # not imported here: that would take longer than a trial
    pytest.skip("`make test-ml` brings transformers", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]

PROGRAM = Path(__file__).parents[2] / "specimens" / "ml" / "small_llama.py"
EDITS = {
    '"done"': '"finished"',
    "loss {loss": "the loss is {loss",
    "seed=0": "seed=1",
    '"finished"': '"finished at last"',
}
"""What is written in place of what."""


def test_each_edit_runs_on_from_a_copy_and_gives_the_cold_answer(
    workshop: Workshop,
) -> None:
    text = PROGRAM.read_text("utf-8")
    workshop.write({"main.py": text})
    workshop.cold.submit(workshop.trial()).result()  # torch makes its folder for temporary files
    workshop.run()
    for old, new in EDITS.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
        workshop.write({"main.py": text})
        shown = workshop.run().stdout.head(99)
        # From which one is a question of how quick the machine is.
        assert workshop.starts[-1].place.startswith("main.py:"), (new, workshop.starts[-1])
    assert shown.startswith(b"the loss is ")
    assert shown.endswith(b"\nfinished at last\n")
