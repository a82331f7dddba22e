"""Each block is mapped and stays mapped."""

import mmap

blocks = []


def block(number):
    mapping = mmap.mmap(-1, 1 << 16)
    mapping[:8] = number.to_bytes(8, "little")
    blocks.append(mapping)
    return mapping[0]


def main():
    for number in range(150):
        block(number)


main()
