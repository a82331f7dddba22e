"""What is said of a program that alone has met the memory limit of a shell."""

from whet.core.failure import Frame
from whet.host.ceilings.felling import HELD
from whet.host.felled import in_words


def test_a_name_that_the_program_chose_does_not_steer_the_terminal() -> None:
    frame = Frame(path="/p/\x1b]0;mine\x07.py", line=3, function="f", in_user_code=True)

    words = in_words(1 << 20, (HELD, float(1 << 20), 7, "\x1b[2J\r\nwhet"), (frame,))

    assert words.isprintable()
    assert "(pid 7)" in words
    assert words.endswith(".py:3")
