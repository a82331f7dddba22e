"""Take orders into a database, with a log of who did it."""

import sqlite3
import tempfile
from pathlib import Path

import audit


def prepare(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER, article TEXT)")
        connection.execute("CREATE TABLE log (who TEXT, what TEXT)")
    connection.close()


def take(path, orders):
    connection = sqlite3.connect(path, timeout=0.1)
    for number, article in orders:
        connection.execute("INSERT INTO orders VALUES (?, ?)", (number, article))
    connection.commit()
    count = connection.execute("SELECT count(*) FROM orders").fetchone()[0]
    connection.close()
    return count


def main():
    path = Path(tempfile.mkdtemp()) / "shop.sqlite"
    prepare(path)
    log = audit.Log(path)
    log.note("ada", "begin")
    print(take(path, [(1, "lamp"), (2, "rug")]), "orders")
    print(log.last())


if __name__ == "__main__":
    main()
