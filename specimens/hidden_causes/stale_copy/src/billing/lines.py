"""The lines of an invoice."""

VAT = 0.19


def line(name: str, pieces: int, price: float) -> dict[str, object]:
    net = pieces * price
    return {"name": name, "net": net, "vat": net * VAT}
