def price(net: float, discount: float = 0.0) -> float:
    return net * (1 - discount) * 1.2
