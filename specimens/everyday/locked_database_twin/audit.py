"""Who did what."""

import sqlite3


class Log:
    def __init__(self, path):
        self._connection = sqlite3.connect(path, timeout=0.1)

    def note(self, who, what):
        self._connection.execute("INSERT INTO log VALUES (?, ?)", (who, what))
        self._connection.commit()

    def check(self):
        self._connection.execute("BEGIN EXCLUSIVE")
        broken = self._connection.execute("PRAGMA quick_check").fetchone()
        return broken == ("ok",)

    def last(self):
        found = self._connection.execute("SELECT who, what FROM log ORDER BY rowid DESC")
        return found.fetchone()
