"""Write the project of `docs/tutorial.md`: a small program with data, a history and one bug.

`python start.py FOLDER` makes the folder. The commits have fixed dates, so that their names are the
same on every machine.
"""

import os
import subprocess
import sys
from pathlib import Path

SLOW = '''\
"""What takes time in a real program: here it only waits."""

import time


def connect():
    """Connect to the database."""
    time.sleep(0.3)
'''

FIRST = """\
import csv
import sys

import database


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def report(orders):
    totals = {}
    for order in orders:
        totals.setdefault(order["customer"], []).append(float(order["amount"]))
    for customer, amounts in sorted(totals.items()):
        print(customer, round(sum(amounts) / len(amounts), 2))


database.connect()
report(read(sys.argv[1]))
"""

CANCELLED = FIRST.replace(
    """        totals.setdefault(order["customer"], []).append(float(order["amount"]))
""",
    """        amounts = totals.setdefault(order["customer"], [])
        if order["state"] != "cancelled":
            amounts.append(float(order["amount"]))
""",
)
TITLED = CANCELLED.replace("    totals = {}\n", '    print("average order")\n    totals = {}\n')

COMMITS: tuple[tuple[str, dict[str, str]], ...] = (
    ("Report the average order of each customer", {"report.py": FIRST, "database.py": SLOW}),
    ("Explain how to run it", {"README": "python report.py orders.csv\n"}),
    ("Ignore byte code", {".gitignore": "__pycache__/\n"}),
    ("Ignore cancelled orders", {"report.py": CANCELLED}),
    ("Say where the data come from", {"README": "python report.py orders.csv  # of the shop\n"}),
    ("Print a title", {"report.py": TITLED}),
)


def orders() -> str:
    """Return 400 orders; the one customer with a single order has cancelled it."""
    rows = ["order,customer,state,amount"]
    for number in range(1, 401):
        customer = "zoe" if number == 273 else ("ann", "ben", "eva", "kim")[number % 4]
        state = "cancelled" if number % 39 == 0 else "paid"
        rows.append(f"{number},{customer},{state},{number * 37 % 101 + 0.5}")
    return "\n".join(rows) + "\n"


def main(folder: Path) -> None:
    """Write the files and the commits."""
    folder.mkdir()
    git = ("git", "-C", str(folder), "-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null")
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    for day, (message, files) in enumerate(COMMITS, 1):
        for name, text in {**files, **({"orders.csv": orders()} if day == 1 else {})}.items():
            (folder / name).write_text(text, encoding="utf-8")
        date = f"2026-03-{day:02} 12:00:00 +0000"
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "shop"), ("EMAIL", "shop@example.com"), ("DATE", date))
        }
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", message], check=True, env=os.environ | who)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
