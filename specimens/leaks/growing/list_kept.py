"""Every batch's gradients stay in a list that nobody reads."""

import array

history = []


def step(number):
    gradients = array.array("d", range(number, number + 600))
    history.append(gradients)
    return sum(gradients)


def main():
    total = 0.0
    for number in range(400):
        total += step(number)
    print(total)


if __name__ == "__main__":
    main()
