"""What Python prints while it shuts down comes after the traceback that counts."""

import atexit


class Handle:
    def __del__(self):
        raise OSError("already closed")


def say_goodbye():
    raise RuntimeError("cannot say goodbye")


atexit.register(say_goodbye)
handle = Handle()


def main():
    return {}["a"]


main()
