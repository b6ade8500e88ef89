"""Orders with thousands of events, written as the server writes them."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from journeyman.access.redaction import Redactor
from journeyman.database import Database, database_url
from journeyman.events.feed import Feed
from journeyman.events.types import AgentText, Event, ToolCallCompleted, ToolCallStarted
from journeyman.work_orders.store import WorkOrders
from tests.journeys.product import Product


def many_events(count: int) -> Iterator[Event]:
    for number in range(count // 5):
        call = f"call-{number}"
        yield AgentText(step="build", text=f"Thought {number} ")
        yield AgentText(step="build", text="goes on.")
        yield ToolCallStarted(
            step="build", call_id=call, tool="shell", arguments={"command": f"echo {number}"}
        )
        yield ToolCallCompleted(
            step="build",
            call_id=call,
            tool="shell",
            ok=True,
            exit_code=0,
            duration_seconds=0.1,
            output="x\n" * 50,
        )
        yield AgentText(step="build", text=f"\n\nDone {number}.")


def append_events(product: Product, order_id: str, events: list[Event]) -> None:
    """Write events as the server does, beside it."""

    async def write() -> None:
        database = Database(database_url("", product.home))
        await WorkOrders(database, Feed(database), Redactor([])).emit(order_id, *events)
        await database.close()

    # The browser's own loop runs in this thread.
    with ThreadPoolExecutor() as aside:
        aside.submit(asyncio.run, write()).result()
