def price(net: float) -> float:
    return net * 1.2
