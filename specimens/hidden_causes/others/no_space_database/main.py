"""Measurements in a database that is thrown away afterwards."""

import sqlite3
import tempfile
from pathlib import Path


class StoreError(Exception):
    pass


class Store:
    def __init__(self):
        self.path = Path(tempfile.mkdtemp()) / "measurements.db"
        self.db = sqlite3.connect(self.path)
        self.db.execute("create table points (x real, note text)")

    def add(self, points):
        try:
            with self.db:
                self.db.executemany("insert into points values (?, ?)", points)
        except sqlite3.Error:
            raise StoreError("the points were not kept") from None


store = Store()
for batch in range(40):
    store.add([(batch + number / 1000, "n" * 60) for number in range(1000)])
print("kept")
