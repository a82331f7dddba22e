"""Every tenth step keeps a checkpoint."""

checkpoints = []


def step(number, state):
    state = [value + 1 for value in state]
    if number % 10 == 0:
        checkpoints.append(list(state))
    return state


state = [0.5] * 3000
for number in range(300):
    state = step(number, state)
