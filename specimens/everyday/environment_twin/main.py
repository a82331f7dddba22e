"""Print the bills of the month in the language of the office."""

from bills import total_of
from export import as_table
from wording import amount, heading

ROWS = [("rent", 1200.0), ("power", 89.5), ("water", 31.25)]


def page():
    lines = [heading("bills")]
    lines += [f"{name:<8}{amount(value)}" for name, value in ROWS]
    lines.append(f"{'total':<8}{amount(total_of(ROWS))}")
    return lines


def main():
    table = as_table(ROWS)
    lines = page()
    assert lines[-1].endswith("1.320,75"), f"the total reads {lines[-1].split()[-1]}"
    print("\n".join(lines))
    print(len(table), "signs exported")


if __name__ == "__main__":
    main()
