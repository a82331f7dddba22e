"""A list that is given out in pages."""


class Service:
    def __init__(self, count, size):
        self._all = [{"id": number, "amount": 100 + number} for number in range(count)]
        self._size = size

    def page_count(self):
        return len(self._all) // self._size

    def page(self, number):
        begin = number * self._size
        return self._all[begin : begin + self._size]

    def total(self):
        return sum(each["amount"] for each in self._all)


def entries(service):
    found = {}
    for number in range(service.page_count()):
        for entry in service.page(number):
            found[entry["id"]] = entry
    return list(found.values())
