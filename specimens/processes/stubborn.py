"""Ignores every signal that can be ignored, and so does its child."""

import os
import signal
import sys
import time

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
os.fork()
with open(sys.argv[1], "w") as held:
    held.write("up")
    held.flush()
    while True:
        time.sleep(1000)
