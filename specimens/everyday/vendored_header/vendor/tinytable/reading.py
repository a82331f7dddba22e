"""Read a table from a file."""

from tinytable.rows import Table


def split_cells(line):
    return [cell.strip() for cell in line.split("|")]


def split_header(line):
    return [name.lower() for name in line.rstrip("\n").split("|")]


def load(path):
    with open(path, encoding="utf-8") as lines:
        table = Table(split_header(next(lines)))
        for line in lines:
            if line.strip():
                table.append(split_cells(line))
    return table
