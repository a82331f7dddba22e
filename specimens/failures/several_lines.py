class SchemaError(Exception):
    pass


def check(rows):
    raise SchemaError("\n".join(["bad rows:", *(f"  row {row}: no 'id'" for row in rows)]))


check([3, 8, 9])
