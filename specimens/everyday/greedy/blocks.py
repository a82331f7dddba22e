"""Blocks of data in a page."""

import html
import re

_BLOCK = re.compile(r'<script data-kind="(\w+)">(.*)</script>')


def _clean(text):
    return html.unescape(text).strip()


def blocks_of(page):
    for line in page.splitlines():
        for kind, text in _BLOCK.findall(line):
            yield kind, _clean(text)
