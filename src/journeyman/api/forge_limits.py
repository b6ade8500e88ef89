"""How long an answer may wait for a forge: one that hangs is given up, and the asker is told so.

Everybody who verifies a repository or makes an order has an answer within five seconds. What a forge was
asked to change may have been changed all the same; every such call looks first, so asking again is safe.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from journeyman.errors import Transient
from journeyman.work_orders.repositories import Repository

T = TypeVar("T")
FORGE_SECONDS = 3.0


def forge_deadline() -> float:
    """When the forge must have answered whatever a request asks of it, by the loop's clock."""
    return asyncio.get_running_loop().time() + FORGE_SECONDS


async def in_time(call: Awaitable[T], repository: Repository, deadline: float | None = None) -> T:
    """The forge's answer, or a Transient that says how long it was waited for."""
    try:
        async with asyncio.timeout_at(forge_deadline() if deadline is None else deadline):
            return await call
    except TimeoutError:
        raise Transient(
            f"no answer about {repository.url} within {FORGE_SECONDS:.0f} s",
            hint="Try again; if it stays so, check the network, or the disk that the repository lies on.",
        ) from None
