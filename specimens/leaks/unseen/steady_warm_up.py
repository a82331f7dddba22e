"""Modules are imported and tables are built on the first calls only."""

import importlib

tables = {}
NAMES = ("json", "decimal", "fractions", "difflib", "statistics", "csv", "html", "uuid")


def convert(number):
    name = NAMES[min(number, len(NAMES) - 1)]
    if name not in tables:
        tables[name] = (importlib.import_module(name), list(range(3000)))
    return sum(tables[name][1][:10])


total = 0
for number in range(300):
    total += convert(number)
print(total)
