"""Read the lines of the stations."""


def parsed(line):
    station, _, text = line.partition("\t")
    return station.strip(), float(text or 0)


def valid(lines, station):
    for line in lines:
        if not line or line.startswith("#"):
            continue
        name, value = parsed(line)
        if name == station and -60 < value < 60:
            yield value
