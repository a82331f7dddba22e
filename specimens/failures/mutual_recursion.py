import sys

sys.setrecursionlimit(150)


def walk_list(items):
    for item in items:
        walk_item(item)


def walk_item(item):
    return walk_list(item)


items = []
items.append(items)
walk_list(items)
