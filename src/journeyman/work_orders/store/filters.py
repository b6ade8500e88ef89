"""Which orders a list shows, as conditions on their rows."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import ColumnElement, or_

from journeyman.work_orders.tables import work_orders

Sort = Literal[
    "created_at", "-created_at", "updated_at", "-updated_at", "title", "-title", "status", "-status"
]


@dataclass(frozen=True, kw_only=True)
class OrderFilter:
    statuses: Collection[str] = ()
    """Any of them; none means whichever."""
    repository_url: str | None = None
    workflow_type: str | None = None
    without_workflow_type: str | None = None
    git_branch_name: str | None = None
    text: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        column = work_orders.c
        exact = {
            "repository_url": self.repository_url,
            "workflow_type": self.workflow_type,
            "git_branch_name": self.git_branch_name,
        }
        found = [column[name] == value for name, value in exact.items() if value is not None]
        if self.without_workflow_type is not None:
            found.append(column.workflow_type != self.without_workflow_type)
        if self.statuses:
            found.append(column.status.in_(self.statuses))
        if self.text:
            pattern = "%" + self.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            found.append(
                or_(
                    *(
                        column[name].ilike(pattern, escape="\\")
                        for name in ("title", "initial_prompt", "repository_url", "agent_work_order_id")
                    )
                )
            )
        if self.created_after:
            found.append(column.created_at >= self.created_after)
        if self.created_before:
            found.append(column.created_at < self.created_before)
        return found
