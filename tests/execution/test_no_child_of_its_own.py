"""A program finds no child that it has not made, however it looks for any."""

import pytest
from workshop import SLOW, Workshop


@pytest.mark.slow
def test_a_program_that_has_its_children_seen_off_is_answered_as_from_the_start(
    workshop: Workshop,
) -> None:
    for number in range(3):
        begin = "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        workshop.write({"main.py": f"{begin}{SLOW}{SLOW}print({number})\n"})
        workshop.run()  # compares with a cold run
