"""The loss was corrected in `Trainer`, but it is `Tuned` that computes it."""


class Trainer:
    def loss(self, values: list[float]) -> float:
        return sum(values) / max(len(values), 1)


class Tuned(Trainer):
    def loss(self, values: list[float]) -> float:
        return sum(values) / len(values)


print(Tuned().loss([]))
