"""The members, one on each line."""


def age_of(text, year=2024):
    born = int(text)
    return year - born


def load(path):
    members = []
    lines = path.open()
    try:
        for line in lines:
            name, born = line.rstrip("\n").split(";")
            members.append((name, age_of(born)))
        members.sort()
    finally:
        lines.close()
        return [each for each in members if each[1] > 60]


def oldest(members):
    return max(members, key=lambda member: member[1])
