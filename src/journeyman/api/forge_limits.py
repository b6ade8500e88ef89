"""The timeout of calls to a forge within a request: one that hangs becomes a Transient error.

Verifying a repository and creating an order are answered within five seconds. What a forge was asked to
change may have been changed all the same; every such call looks first, so a retry is safe.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from journeyman.errors import Transient
from journeyman.work_orders.repositories import Repository

T = TypeVar("T")
FORGE_SECONDS = 3.0


def forge_deadline() -> float:
    """The deadline for everything that one request asks of a forge, by the event loop's clock."""
    return asyncio.get_running_loop().time() + FORGE_SECONDS


async def in_time(call: Awaitable[T], repository: Repository, deadline: float | None = None) -> T:
    """The forge's answer, or a Transient error once the deadline has passed."""
    try:
        async with asyncio.timeout_at(forge_deadline() if deadline is None else deadline):
            return await call
    except TimeoutError:
        raise Transient(
            f"no answer about {repository.url} within {FORGE_SECONDS:.0f} s",
            hint="Try again; if it stays so, check the network, or the disk that the repository lies on.",
        ) from None
