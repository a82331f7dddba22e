"""Needs 3.11."""


def check(rows):
    errors = []
    for row in rows:
        try:
            int(row)
        except ValueError as error:
            errors.append(error)
        try:
            row["x"]
        except TypeError as error:
            errors.append(error)
    raise ExceptionGroup("bad rows", errors)


check(["a", "b"])
