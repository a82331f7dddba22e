"""Mean and spread of a station's temperatures."""

from pathlib import Path

from readings import valid

HERE = Path(__file__).parent


def mean(values):
    total = count = 0
    for value in values:
        total += value
        count += 1
    return total / count


def report(station, lines):
    values = valid(lines, station)
    highest = max(values, default=None)
    if highest is not None and highest > 45:
        print(f"{station}: implausible maximum {highest}")
    return f"{station}: mean {mean(values):.1f}, highest {highest}"


def main():
    lines = (HERE / "readings.txt").read_text().splitlines()
    for station in ("north", "south"):
        print(report(station, lines))


if __name__ == "__main__":
    main()
