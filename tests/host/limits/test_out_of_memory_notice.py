"""What is said of a program that alone has met the memory limit of a shell."""

import subprocess
import sys

from whet.core.failure import Frame
from whet.host.limits.out_of_memory_notice import in_words
from whet.host.process.messages import Noted
from whet.host.spawner.out_of_memory_killer import HELD, OutOfMemoryKiller


def test_a_name_that_the_program_chose_does_not_steer_the_terminal() -> None:
    frame = Frame(path="/p/\x1b]0;mine\x07.py", line=3, function="f", in_user_code=True)

    words = in_words(1 << 20, Noted(HELD, float(1 << 20), 7, "\x1b[2J\r\nwhet"), (frame,))

    assert words.isprintable()
    assert "(pid 7)" in words
    assert words.endswith(".py:3")


def test_nobody_else_is_chosen_while_one_without_memory_of_its_own_still_holds_some() -> None:
    """So is one that dies, for some milliseconds, and one whose first thread has ended."""
    program = """
import ctypes, os, sys, threading
def stay():
    while b") Z" not in open(f"/proc/self/task/{os.getpid()}/stat", "rb").read():
        pass
    print("ended", flush=True)
    threading.Event().wait()
threading.Thread(target=stay).start()
sys.stdin.readline()
ctypes.CDLL(None).syscall(60, 0)  # `exit`, of this thread alone
"""
    words = [sys.executable, "-c", program]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as held:
        out_of_memory_killer = OutOfMemoryKiller()
        assert out_of_memory_killer.choose([held.pid])[0] == held.pid
        assert held.stdin is not None
        assert held.stdout is not None
        held.stdin.write(b"\n")
        held.stdin.flush()
        assert held.stdout.readline() == b"ended\n"
        while_it_holds = out_of_memory_killer.is_under_way
        held.kill()
    assert (while_it_holds, out_of_memory_killer.is_under_way) == (True, False)
