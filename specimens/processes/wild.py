"""Does a random thing, again and again, from a seed: fork, leave, hide, stop, write, end."""

import os
import random
import signal
import sys
import time

chance = random.Random(int(sys.argv[1]))
ends_at = time.monotonic() + 0.4


def live(depth: int) -> None:
    while time.monotonic() < ends_at:
        what = chance.randrange(11)
        if what < 4 and depth < 4 and os.fork() == 0:
            chance.seed(os.getpid())
            depth += 1
        elif what == 4:
            try:
                os.setsid()
            except OSError:
                os.setpgid(0, 0) if os.getsid(0) != os.getpid() else None
        elif what == 5:
            for number in (1, 2, 3, 13, 15):
                signal.signal(number, signal.SIG_IGN)
        elif what == 6:
            os.write(1, b"\xff" * chance.randrange(100_000))
        elif what == 7 and depth:
            os.kill(os.getpid(), chance.choice([signal.SIGSTOP, signal.SIGKILL, signal.SIGSEGV]))
        elif what == 8 and depth:
            os._exit(chance.randrange(256))
        elif what == 9 and depth:
            os.execve("/bin/sleep", ["sleep", "1000"], {})  # and with an empty environment
        elif what == 10:
            os.closerange(3, 50)
        time.sleep(chance.random() / 100)


try:
    live(0)
except OSError:
    pass
os._exit(5)
