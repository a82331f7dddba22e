"""Prints an invoice."""

import paths

paths.prepare()

from billing.lines import line


def total(lines: list[dict[str, object]]) -> float:
    return sum(float(each["net"]) + float(each["vat"]) for each in lines)


def main() -> None:
    lines = [line("lamp", 2, 30.0), line("chair", 4, 55.0)]
    for each in lines:
        print(each["name"], each["net"])
    print("total", total(lines))


main()
