"""Money goes round between accounts; none may be lost on the way."""

import random
import sys
import threading

from bank import Account, move

sys.setswitchinterval(1e-5)
accounts = [Account(1000) for _ in range(3)]


def clerk(seed):
    choice = random.Random(seed)
    for _ in range(6000):
        source, target = choice.sample(accounts, 2)
        move(source, target, choice.randint(1, 5))


clerks = [threading.Thread(target=clerk, args=(seed,)) for seed in range(4)]
for each in clerks:
    each.start()
for each in clerks:
    each.join()
total = sum(each.balance for each in accounts)
assert total == 3000, f"{total} is not what there was"
