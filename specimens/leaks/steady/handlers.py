"""Each run gets a logger with its own handler, which is removed at its end."""

import io
import logging


def run(number):
    log = logging.getLogger("run")
    handler = logging.StreamHandler(io.StringIO())
    log.addHandler(handler)
    log.warning("run %d", number)
    log.removeHandler(handler)
    handler.close()
    return number


for number in range(120):
    run(number)
