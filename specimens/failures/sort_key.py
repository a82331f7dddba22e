def order(rows):
    return sorted(rows, key=lambda row: row["age"])


order([{"age": 1}, {}])
