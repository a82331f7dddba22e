"""Copy all entries of a paged list and compare the totals."""

from pages import Service, entries

COUNT = 45


def main():
    service = Service(COUNT, size=10)
    copied = entries(service)
    total = sum(each["amount"] for each in copied)
    expected = service.total()
    assert total == expected, f"total {total}, the service says {expected}"
    print(len(copied), "entries,", total)


if __name__ == "__main__":
    main()
