"""Nothing but the thread's traceback explains the exit."""

import sys
import threading


def work():
    raise ValueError("in a thread")


thread = threading.Thread(target=work)
thread.start()
thread.join()
sys.exit(3)
