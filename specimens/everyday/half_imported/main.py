"""Draw the winners of a raffle."""

import tickets


def main():
    sold = tickets.sold(40)
    for place, ticket in enumerate(tickets.draw(sold, 3), start=1):
        print(place, ticket)


if __name__ == "__main__":
    main()
