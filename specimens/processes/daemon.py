"""Leaves a daemon behind the classic way: fork, new session, fork again, all streams closed."""

import os
import sys
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        with open(sys.argv[1], "w") as held:  # a FIFO: open for as long as the daemon lives
            held.write("up")
            held.flush()
            time.sleep(1000)
    os._exit(0)
os.wait()
with open(sys.argv[1], "w"):  # both ends of the FIFO exist once this is open
    pass
print("parent is done")
