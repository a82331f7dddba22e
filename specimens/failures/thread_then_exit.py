"""The thread's traceback does not end the program; its last words do."""

import sys
import threading


def work():
    raise ValueError("in a thread")


thread = threading.Thread(target=work)
thread.start()
thread.join()
sys.exit("giving up: no result")
