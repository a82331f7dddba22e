"""A chain that never stands still: each process forks the next one and ends."""

import os
import sys

held = os.open(sys.argv[1], os.O_WRONLY)
os.write(held, b"up")
while True:
    if os.fork() != 0:
        os._exit(0)
