"""Sales as the shops send them: lines of text, the same in each run."""

SHOPS = ("north", "south", "harbour", "station")


def lines(shop: str, count: int) -> list[str]:
    return [f"{shop};{SHOPS[number % 3]};{1 + number % 7}.50" for number in range(count)]
