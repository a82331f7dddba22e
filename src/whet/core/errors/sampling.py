"""Errors about samples of real data."""

from whet.core.errors.base import DATA, NO_INPUT, USAGE, WhetError


class ColumnMissing(WhetError):
    """The data has no column of that name. The message lists the closest names.

    Names are case-sensitive. A CSV file's names are in its first line; with `--no-header` they are
    `c1`, `c2` and so on. In JSON lines, `a.b` is the key `b` of the object `a`.
    """

    exit_code = USAGE


class KeysDoNotJoin(WhetError):
    """No value of the first column of `--keys` is in the second one, so no row would join.

    whet compares the values as text: the number 17 joins the text `17`, not `017`.
    Check that both columns hold the same kind of identifier.
    """

    exit_code = DATA


class SampleEmpty(WhetError):
    """Nothing to sample is left: the data has no rows, or no row matches `--where`."""

    exit_code = NO_INPUT


class SampleTooSmall(WhetError):
    """`-n` asks for fewer rows than `--each` and `--extremes` need.

    `--each COLUMN` takes a row for each value of the column. A column in which every row has its own
    value, such as an identifier, needs all rows: name a column with few values.
    """

    exit_code = USAGE


class CannotSample(WhetError):
    """whet can't take a sample of this kind of file.

    It samples CSV and TSV, JSON lines, text, Parquet, Arrow and Feather, SQLite, ZIP and tar archives
    (WebDataset too), folders of files, and the folders that the `datasets` library saves.
    Text files may be compressed with gzip, bzip2 or xz.

    It never runs what a file contains: pickles and checkpoints aren't sampled.
    `whet shrink` makes many other kinds of files smaller.
    """

    exit_code = DATA


class BadRowCondition(WhetError):
    """whet can't parse the text after `--where`.

    - `amount < 0`, `country == 'DE'`, `amount > limit` (two columns)
    - `name ~ '^A'` (a regular expression), `name !~ 'test'`
    - `country in ('DE', 'FR')`, `email is null`, `email is not null`, `paid == true`
    - `and`, `or`, `not` and parentheses; a name with spaces goes in backticks

    A comparison with a missing value is false, and so is its `not`.
    """

    exit_code = USAGE
