"""The agents that a worker can let work, and what they keep between turns."""

from collections.abc import Mapping
from dataclasses import dataclass

from journeyman.agents.base import About, Agent
from journeyman.agents.small_model import SmallModel
from journeyman.errors import NotFound
from journeyman.sandboxes.homes import Homes
from journeyman.work_orders.order import WorkOrder


@dataclass(frozen=True)
class AgentCatalog:
    agents: Mapping[str, Agent]
    homes: Homes
    """Where agents keep their sessions, by order."""
    small_model: SmallModel | None = None
    """Names orders."""

    def find(self, name: str) -> Agent:
        if name not in self.agents:
            raise NotFound(f"there is no agent {name!r}", hint="`jm agents` shows those that exist.")
        return self.agents[name]

    def of_order(self, order: WorkOrder) -> list[About]:
        """The agents of all its steps."""
        named = (step.get("agent") for step in order.current_workflow["steps"])
        return [self.find(name).about for name in {order.agent, *filter(None, named)}]
