def total(rows):
    return sum(row["n"] for row in rows)


total([{"n": 1}, {}])
