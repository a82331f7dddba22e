import logging

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")


def read():
    try:
        return {}["a"]
    except KeyError:
        logging.exception("cannot read, going on")


def compute():
    return [][0]


read()
compute()
