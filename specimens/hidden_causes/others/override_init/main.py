"""A gauge that also keeps what it has shown."""


class Gauge:
    def __init__(self, unit):
        self.unit = unit
        self.factor = 1.0

    def shown(self, value):
        return f"{value * self.factor} {self.unit}"


class Keeping(Gauge):
    def __init__(self, unit):
        self.unit = unit
        self.kept = []

    def show(self, value):
        self.kept.append(self.shown(value))


Keeping("kg").show(3)
