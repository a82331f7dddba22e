"""A run from a frozen copy measures its sections as it measures its time: from there."""

import pytest
from workshop import Workshop

from whet.core.observations.evidence import TIMELINE
from whet.core.observations.timeline import Timeline

pytestmark = pytest.mark.slow

PROGRAM = """\
import time
import whet

with whet.section("before"):
    time.sleep(0.05)
around = whet.section("around")
around.__enter__()
with whet.section("inside"):
    time.sleep(0.2)
whet.checkpoint("here")
around.__exit__(None, None, None)
with whet.section("after"):
    print({word!r})
"""


def test_a_section_that_is_open_in_a_frozen_copy_counts_from_there(workshop: Workshop) -> None:
    outcome = workshop.edit(PROGRAM.format(word="one"), PROGRAM.format(word="two"))
    timeline = next(
        Timeline.from_bytes(each.data) for each in outcome.evidence if each.kind == TIMELINE
    )

    assert workshop.starts[-1].place == "here"
    assert [(each.name, each.parent) for each in timeline.spans] == [
        ("around", None),
        ("after", None),
    ]
    assert [each.count for each in timeline.totals] == [1, 1]
    assert timeline.totals[0].seconds < outcome.wall_seconds
    assert timeline.spans[0].pid == outcome.processes[0].pid
    (note,) = timeline.notes
    assert note.startswith("this run resumed from a frozen copy, and its sections count from there")
    assert note.endswith("; `before` and `inside` had ended before")
