def load(path):
    with open(path) as lines:
        return lines.read()


load("no/such/folder/data.csv")
