"""Sort the members of a club into groups of their age."""

from pathlib import Path

from members import load, oldest

HERE = Path(__file__).parent


def groups(members):
    found = {"young": [], "adult": []}
    for name, age in members:
        found["young" if age < 18 else "adult"].append(name)
    return found


def main():
    members = load(HERE / "members.txt")
    name, age = oldest(members)
    print(f"the oldest is {name}, {age}")
    for group, names in groups(members).items():
        print(f"{group}: {', '.join(names)}")


if __name__ == "__main__":
    main()
