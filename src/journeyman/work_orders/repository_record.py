"""What the server knows of a repository beside its orders: rights on it, and the state of its environment.

The environment is checked by an order of its own, so that the check is durable and any worker can carry it
out. Such an order changes nothing and opens no pull request; lists of orders leave it out.
"""

import re
import secrets
import string
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from journeyman.work_orders.order import WorkOrder

EnvironmentState = Literal["unknown", "checking", "ready", "needs_attention"]

ENVIRONMENT_CHECK = "environment_check"
"""The workflow of an order that checks an environment. Its prompt is a definition to try instead of the one
that is in force; an empty prompt tries that one."""
ENVIRONMENT_FILE = "environment_file"
"""The workflow of an order that proposes its prompt as the repository's environment file."""

ENVIRONMENT_PATH = ".journeyman/environment.yaml"

_ALPHABET = string.digits + string.ascii_lowercase
_ID = re.compile(r"rp-[0-9a-z]{8}")


@dataclass(frozen=True, kw_only=True)
class RepositoryRecord:
    repository_id: str
    repository_url: str
    """The canonical address: one record for each."""
    default_branch: str | None = None
    rights: dict[str, Any] | None = None
    """What our credential may do there: `push`, `pull_request`, `workflows`; None until the first check."""
    environment_state: EnvironmentState = "unknown"
    definition: str | None = field(default=None, repr=False)
    """The environment as people stored it on the server, in YAML; it outranks what the repository says."""
    report: dict[str, Any] | None = field(default=None, repr=False)
    """What the last check found."""
    check_order_id: str | None = None
    """The order of the last check."""
    created_at: datetime
    updated_at: datetime


def new_repository_id() -> str:
    return "rp-" + "".join(secrets.choice(_ALPHABET) for _ in range(8))


def is_repository_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def definition_in_force(order: WorkOrder, record: RepositoryRecord | None) -> str | None:
    """The definition that an order's environment is made from, where it is not left to the repository."""
    if order.workflow_type == ENVIRONMENT_CHECK and order.initial_prompt:
        return order.initial_prompt
    return None if record is None else record.definition
