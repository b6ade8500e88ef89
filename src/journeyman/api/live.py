"""An order's events as they happen: server-sent events, and a WebSocket without the chatter.

Both read the log after a cursor; the feed only wakes them. A client that reconnects with the last sequence
number it saw misses nothing and sees nothing twice.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, WebSocket, WebSocketDisconnect
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import Field

from journeyman.api.fields import InDigits
from journeyman.api.models import AgentWorkOrder, EventMessage, Parameters, event_message
from journeyman.api.services import Given, Services
from journeyman.api.work_orders import Order, find_order
from journeyman.errors import NotFound
from journeyman.events import log
from journeyman.events.types import FIRST_EVENTS, LAST_EVENTS, StoredEvent
from journeyman.work_orders.order import WorkOrder

router = APIRouter(tags=["live"])

_LARGEST_CURSOR = 2**53 - 1
_CLOSE_NOT_FOUND = 4404
_CLOSE_GOING_AWAY = 1001


Cursor = Annotated[int, Field(ge=0, le=_LARGEST_CURSOR), InDigits]


class StreamQuery(Parameters):
    after: Cursor = 0
    """Sequence number of the last event that the reader has."""
    until: Literal["finished"] | None = None
    """`finished` ends the stream when the order is idle; without it the stream stays open."""


@router.get(
    "/api/agent-work-orders/{agent_work_order_id}/events",
    response_class=EventSourceResponse,
    responses={200: {"model": EventMessage}},
)
async def events(
    order: Order,
    query: Annotated[StreamQuery, Query()],
    services: Given,
    last_event_id: Annotated[Cursor | None, Header()] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Every event, `id` being its sequence number; resumes after `Last-Event-ID`, else after `after`."""
    after = query.after if last_event_id is None else last_event_id
    stream = _until_finished if query.until else _for_ever
    async for stored in stream(services, order, after):
        text = json.dumps(event_message(stored))
        yield ServerSentEvent(id=str(stored.sequence), event=stored.event.type, raw_data=text)


def _for_ever(services: Services, order: WorkOrder, after: int) -> AsyncIterator[StoredEvent]:
    return services.feed.follow(order.agent_work_order_id, after=after)


async def _until_finished(services: Services, order: WorkOrder, after: int) -> AsyncIterator[StoredEvent]:
    """The events until the order is idle. Some may follow its last: a pull request is made ready."""
    order_id = order.agent_work_order_id

    async def ends_at(sequence: int) -> bool:
        if await log.read(services.database, order_id, after=sequence, limit=1):
            return False
        if not (await services.orders.get(order_id)).is_finished:
            return True
        # A prompt that waits begins a round as soon as a worker looks.
        return not any(
            prompt.status == "queued" for prompt in await services.orders.prompts.of_order(order_id)
        )

    is_idle = order.is_idle and after > 0
    if is_idle and await ends_at(after):
        return
    async for stored in services.feed.follow(order_id, after=after):
        yield stored
        is_idle = stored.event.type in LAST_EVENTS or (is_idle and stored.event.type not in FIRST_EVENTS)
        if is_idle and await ends_at(stored.sequence):
            return


@router.websocket("/ws/{agent_work_order_id}")
async def follow_by_websocket(websocket: WebSocket, agent_work_order_id: str, services: Given) -> None:
    await websocket.accept()
    try:
        await find_order(agent_work_order_id, services)
    except NotFound as error:
        await websocket.close(_CLOSE_NOT_FOUND, error.message)
        return
    sending = asyncio.create_task(_send_events(websocket, services, agent_work_order_id))
    receiving = asyncio.create_task(_receive_until_closed(websocket))
    try:
        await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        sending.cancel()
        receiving.cancel()
        await asyncio.gather(sending, receiving, return_exceptions=True)
    if sending.cancelled():
        return
    fault = sending.exception()
    if fault is None:
        await websocket.close(_CLOSE_GOING_AWAY)
    elif not isinstance(fault, WebSocketDisconnect):
        raise fault


async def _send_events(websocket: WebSocket, services: Services, order_id: str) -> None:
    # The cursor is read before the state: an event in between is sent twice rather than never.
    after = await _newest(services, order_id)
    order = AgentWorkOrder.of(await services.orders.get(order_id))
    state: dict[str, Any] = {"type": "state", "agent_work_order": order.model_dump(mode="json")}
    await websocket.send_json(state)
    async for stored in services.feed.follow(order_id, after=after, without_chatter=True):
        await websocket.send_json(event_message(stored))


async def _newest(services: Services, order_id: str) -> int:
    _, total = await log.page(services.database, order_id, limit=1, offset=0)
    found, _ = await log.page(services.database, order_id, limit=1, offset=max(0, total - 1))
    return found[-1].sequence if found else 0


async def _receive_until_closed(websocket: WebSocket) -> None:
    while (await websocket.receive())["type"] != "websocket.disconnect":
        continue
