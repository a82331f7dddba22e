"""A reader fills a list, and the main thread takes from it."""

import threading

rows = []


def parse(line):
    name, price = line.split(",")
    return name, float(price)


def read(lines):
    for line in lines:
        rows.append(parse(line))


reader = threading.Thread(target=read, args=(["lamp,30", "chair", "table,90"],))
reader.start()
reader.join()
print(rows[2])
