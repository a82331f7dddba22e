"""Send the reports of the week to those who want them."""

from options import load


def batches(readers, options):
    size = options.get("batch")
    return [readers[at : at + size] for at in range(0, len(readers), size)]


def main():
    options = load("mail.json")
    readers = [f"reader{number}" for number in range(7)]
    for number, batch in enumerate(batches(readers, options), start=1):
        print(f"mail {number} from {options.get('sender')}: {', '.join(batch)}")


if __name__ == "__main__":
    main()
