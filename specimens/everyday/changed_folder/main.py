"""Pack the letters of a mailing and list them."""

from pathlib import Path

from packing import pack, unpacked_size

LETTERS = Path("letters")
TEXTS = {
    "ada.txt": "Dear Ada, the hall is booked.",
    "ben.txt": "Dear Ben, please bring chairs.",
}


def draft():
    LETTERS.mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (LETTERS / name).write_text(text)


def names():
    return sorted(each.name for each in LETTERS.glob("*.txt"))


def words(name):
    return len((LETTERS / name).read_text().split())


def main():
    draft()
    found = names()
    size = pack(LETTERS, found)
    print(f"{len(found)} letters, {size} bytes packed, {unpacked_size(found)} signs in names")
    for name in found:
        print(f"{name}: {words(name)} words")


if __name__ == "__main__":
    main()
