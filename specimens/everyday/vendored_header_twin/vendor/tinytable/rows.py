"""Rows that are asked by the name of a column."""


class Row:
    def __init__(self, header, cells):
        self._cells = dict(zip(header, cells))

    def __getitem__(self, name):
        return self._cells[name]

    def keys(self):
        return self._cells.keys()


class Table:
    def __init__(self, header):
        self.header = header
        self._rows = []

    def append(self, cells):
        self._rows.append(Row(self.header, cells))

    def __iter__(self):
        return iter(self._rows)

    def __len__(self):
        return len(self._rows)
