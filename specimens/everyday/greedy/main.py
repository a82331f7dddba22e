"""Gather the data blocks of a page."""

import json
from pathlib import Path

from blocks import blocks_of

HERE = Path(__file__).parent


def articles(page):
    found = []
    for kind, text in blocks_of(page):
        data = json.loads(text)
        if kind == "article":
            found.append(data)
    return found


def main():
    page = (HERE / "page.html").read_text()
    for article in articles(page):
        print(f"{article['name']}: {article['price']:.2f}")


if __name__ == "__main__":
    main()
