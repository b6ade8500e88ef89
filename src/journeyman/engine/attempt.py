"""One attempt at a round of an order.

A pause, a failure or a rescue ends an attempt and the next begins another; a restart and a hand-over to
another worker go on with the same one.
"""

from dataclasses import dataclass

from journeyman.work_orders.order import WorkOrder


@dataclass(frozen=True)
class Attempt:
    order_id: str
    round: int
    number: int

    @staticmethod
    def current(order: WorkOrder) -> "Attempt":
        return Attempt(order.agent_work_order_id, order.round, order.attempt)

    @property
    def workflow_id(self) -> str:
        """What the durable engine knows it by."""
        return f"{self.order_id}-{self.round}-{self.number}"
