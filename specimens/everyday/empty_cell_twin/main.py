"""What the fleet's vans drove this week."""

from trips import by_van, load


def cost(kilometres, per_km=0.42):
    return kilometres * per_km


def summary(vans):
    lines = []
    for van, trips in sorted(vans.items()):
        distance = sum(trip["km"] for trip in trips)
        lines.append(f"{van}: {distance:.1f} km, {cost(distance):.2f} EUR")
    return lines


def main():
    trips = load("trips.csv")
    for line in summary(by_van(trips)):
        print(line)


if __name__ == "__main__":
    main()
