"""Closes its standard output, then goes on working for a moment and fails."""

import os
import sys
import time

print("before", flush=True)
os.close(1)
time.sleep(0.05)
sys.stderr.write("after\n")
sys.stderr.flush()
os._exit(7)
