"""Each run gets a logger with its own handler, and no handler is ever removed."""

import io
import logging


def run(number):
    log = logging.getLogger("run")
    handler = logging.StreamHandler(io.StringIO())
    log.addHandler(handler)
    log.warning("run %d", number)
    return number


for number in range(120):
    run(number)
