"""Copies rows out of a block of memory."""

import ctypes

ROW = 16


class Block:
    def __init__(self, rows):
        self.bytes = ctypes.create_string_buffer(rows * ROW)
        self.address = ctypes.addressof(self.bytes)

    def row(self, number):
        target = ctypes.create_string_buffer(ROW)
        ctypes.memmove(target, self.address + number * ROW, ROW)
        return target.raw


block = Block(8)
print([block.row(number) for number in (0, 7, 1 << 40)])
