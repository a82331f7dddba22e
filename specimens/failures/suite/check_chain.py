def parse(row):
    try:
        return int(row)
    except ValueError as error:
        raise LookupError(f"no number in {row!r}") from error


def test_parse():
    parse("x")
