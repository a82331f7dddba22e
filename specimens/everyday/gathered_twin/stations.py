"""Levels of the river, as the stations send them."""

import asyncio

SENT = {
    "bridge": "level=212 cm",
    "lock": "level=187 cm",
    "mill": "level=164 mm",
    "harbour": "level=230 cm",
}


async def receive(name):
    await asyncio.sleep(0.001 * len(name))
    return SENT[name]


def metres(text):
    number, unit = text.partition("=")[2].split()
    if unit == "cm":
        return int(number) / 100
    return f"{number} {unit}"


async def level(name):
    text = await receive(name)
    return metres(text)
