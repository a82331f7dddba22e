"""Write a page as text: python to_text.py FILE"""

import sys

import html2text

writer = html2text.HTML2Text()
writer.pad_tables = True
with open(sys.argv[1], encoding="utf-8") as f:
    print(writer.handle(f.read()))
