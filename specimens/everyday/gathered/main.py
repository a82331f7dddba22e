"""Ask several stations for their level and print the highest."""

import asyncio

from stations import level

STATIONS = ["bridge", "lock", "mill", "harbour"]


async def ask_all(names):
    answers = await asyncio.gather(*(level(name) for name in names), return_exceptions=True)
    return dict(zip(names, answers))


def highest(levels):
    name = max(levels, key=levels.get)
    return name, levels[name]


def main():
    levels = asyncio.run(ask_all(STATIONS))
    name, value = highest(levels)
    print(f"highest at {name}: {value:.2f} m")


if __name__ == "__main__":
    main()
