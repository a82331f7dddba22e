"""Levels of the river, as the stations send them."""

import asyncio

SENT = {
    "bridge": "level=212 cm",
    "lock": "level=187 cm",
    "mill": "level=n/a",
    "harbour": "level=230 cm",
}


async def receive(name):
    await asyncio.sleep(0.001 * len(name))
    return SENT[name]


def centimetres(text):
    return int(text.partition("=")[2].split()[0])


async def level(name):
    text = await receive(name)
    return centimetres(text) / 100
