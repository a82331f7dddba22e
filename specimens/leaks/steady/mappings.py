"""Each block is mapped, used and closed."""

import mmap

blocks = []


def block(number):
    mapping = mmap.mmap(-1, 1 << 16)
    mapping[:8] = number.to_bytes(8, "little")
    first = mapping[0]
    mapping.close()
    return first


def main():
    for number in range(150):
        block(number)


main()
