"""Run a script of SQL in a new database: python script.py FILE"""

import sqlite3
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    sqlite3.connect(":memory:").executescript(f.read())
