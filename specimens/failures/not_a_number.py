def parse(lines):
    return [int(line.split(",")[1]) for line in lines]


parse(["a,1", "b,n/a"])
