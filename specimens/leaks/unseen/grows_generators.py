"""Generators are started and left where they stand."""

paused = []


def lines(text):
    rows = text.split(";")
    for row in rows:
        yield row.strip()


def peek(number):
    reader = lines("row {};".format(number) * 80)
    first = next(reader)
    paused.append(reader)
    return first


class Job:
    def run(self):
        seen = 0
        for number in range(350):
            seen += len(peek(number))
        return seen


print(Job().run())
