"""Put measurements into bins and look up the colour of each."""

import numpy as np

from bins import Binner

COLOURS = np.array(["navy", "teal", "olive", "orange", "red"])
BATCHES = [[3.1, 8.4, 1.0], [5.5, 9.9], [0.2, 7.7, 4.4, 6.1]]


def main():
    binner = Binner(lowest=0.0, width=2.0, count=len(COLOURS))
    for batch in BATCHES:
        binner.add(np.array(batch))
    colours = COLOURS[binner.numbers()]
    for colour in np.unique(colours):
        print(colour, int((colours == colour).sum()))


if __name__ == "__main__":
    main()
