"""Needs 3.11."""


def parse(line):
    try:
        return float(line)
    except ValueError as error:
        error.add_note(f"in line 7: {line}")
        raise


parse("x")
