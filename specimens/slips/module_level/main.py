"""First words of each section, all at module level."""

import sys

lines = open(sys.argv[1]).read().split("\n")
title = lines[1].split()[0]
sections = [line for line in lines if line.startswith("#")]
words = [section.split()[1] for section in sections]
last = lines[lines.index("--") - 1].split()[2]
print(title, words, last)
