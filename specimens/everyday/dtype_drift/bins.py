"""Bins of equal width."""

import numpy as np


class Binner:
    def __init__(self, lowest, width, count):
        self.lowest = lowest
        self.width = width
        self.count = count
        self._numbers = np.array([])

    def _number(self, values):
        numbers = np.floor((values - self.lowest) / self.width).astype(int)
        return np.clip(numbers, 0, self.count - 1)

    def add(self, values):
        self._numbers = np.concatenate([self._numbers, self._number(values)])

    def numbers(self):
        return self._numbers
