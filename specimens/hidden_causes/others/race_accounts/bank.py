import math


class Account:
    def __init__(self, balance):
        self.balance = balance


def fee(amount):
    return math.floor(amount * 0.0)


def move(source, target, amount):
    source.balance = source.balance - amount - fee(amount)
    target.balance = fee(amount) + target.balance + amount
