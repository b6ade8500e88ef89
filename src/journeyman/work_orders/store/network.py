"""Hosts that people allowed to an order, or to every order of a repository."""

from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import select

from journeyman.database import Prepared, upserting
from journeyman.errors import NotFound
from journeyman.events.types import NetworkAllowed
from journeyman.work_orders.network import NetworkGrant, Scope
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store.repositories import insert_if_new
from journeyman.work_orders.store.transactions import Transactions
from journeyman.work_orders.tables import network_grants, repositories


class NetworkGrants:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def add(self, order: WorkOrder, host: str, scope: Scope) -> bool:
        """Allow a host, with its event; False when the same was allowed before, and nothing changes."""
        order_id = order.agent_work_order_id
        async with self._transactions.writing() as writing:
            granted_to: Any = order_id
            if scope == "repository":
                await insert_if_new(writing, order.repository_url)
                granted_to = (await writing.execute(_repository_id(order))).scalar()
                if granted_to is None:
                    raise NotFound("there is no such repository", hint="Ask again.")
            grant = {"granted_to": granted_to, "host": host, "created_at": datetime.now(UTC)}
            if not await writing.execute(_insert(writing.connection.dialect), grant):
                return False
            await writing.append(order_id, NetworkAllowed(host=host, scope=scope))
        return True

    async def of_order(self, order: WorkOrder) -> list[NetworkGrant]:
        """What the order may reach by grants: its own and its repository's, each host once."""
        order_id = order.agent_work_order_id
        query = (
            select(network_grants)
            .where(network_grants.c.granted_to.in_([order_id, _repository_id(order).scalar_subquery()]))
            .order_by(network_grants.c.created_at, network_grants.c.host)
        )
        async with self._transactions.reading() as connection:
            rows = await connection.execute(query)
        found: dict[str, NetworkGrant] = {}
        for row in rows:
            scope: Scope = "order" if row["granted_to"] == order_id else "repository"
            if row["host"] not in found or scope == "repository":
                found[row["host"]] = NetworkGrant(row["host"], scope, row["created_at"])
        return list(found.values())


def _repository_id(order: WorkOrder) -> Any:
    return select(repositories.c.repository_id).where(repositories.c.repository_url == order.repository_url)


@cache
def _insert(dialect: str) -> Prepared:
    return Prepared(
        upserting(dialect)(network_grants)
        .on_conflict_do_nothing(index_elements=["granted_to", "host"])
        .returning(network_grants.c.host)
    )
