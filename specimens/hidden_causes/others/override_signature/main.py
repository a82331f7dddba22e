"""A model that is fitted in steps."""


class Model:
    def fit(self, rows, target):
        for row, wanted in zip(rows, target, strict=True):
            self.step(row, wanted)

    def step(self, row, wanted):
        self.last = (row, wanted)


class Counting(Model):
    count = 0

    def step(self, row):
        self.count += 1


Counting().fit([1, 2], [3, 4])
