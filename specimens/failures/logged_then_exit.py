import logging
import sys

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
try:
    {}["a"]
except KeyError:
    logging.exception("cannot read")
sys.exit("fatal: 1 of 3 files could not be read")
