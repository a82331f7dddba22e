"""The lines of an invoice."""


def line(name: str, pieces: int, price: float) -> dict[str, object]:
    net = pieces * price
    return {"name": name, "net": net}
