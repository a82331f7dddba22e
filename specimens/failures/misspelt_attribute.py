"""CPython suggests the right spelling from 3.10 on."""


class Order:
    def __init__(self):
        self.customer = "x"


def show(order):
    return order.custumer


show(Order())
