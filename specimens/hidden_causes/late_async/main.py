"""Says what an amount is worth elsewhere."""

import asyncio

from rates import Rates


async def ready(rates: Rates) -> None:
    await asyncio.wait_for(rates.is_ready.wait(), timeout=0.5)


async def main() -> None:
    rates = Rates()
    rates.start()
    await ready(rates)
    for name in ("USD", "GBP"):
        print(name, 100 * rates.of(name))


asyncio.run(main())
