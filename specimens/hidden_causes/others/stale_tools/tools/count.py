from shop.stock import pieces


def count(names):
    return [pieces(name, reserved=1) for name in names]
