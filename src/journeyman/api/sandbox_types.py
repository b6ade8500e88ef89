"""Every type of sandbox that the API has a name for, and which of them this version can open.

A type that it cannot open is listed all the same, with what is the matter, and an order that asks for it is
refused in the same words.
"""

from typing import Literal, get_args

from journeyman.errors import InvalidInput
from journeyman.work_orders.order import SandboxType

NamedSandboxType = Literal["git_branch", "git_worktree", "container", "e2b", "dagger", "modal"]
NAMED: tuple[NamedSandboxType, ...] = get_args(NamedSandboxType)
_OPENED: tuple[SandboxType, ...] = get_args(SandboxType)


def opened(kind: NamedSandboxType) -> SandboxType | None:
    """The type as one that orders can have; None when this version cannot open it."""
    return next((one for one in _OPENED if one == kind), None)


def missing(kind: NamedSandboxType) -> str:
    return f"This version of Journeyman has no {kind} sandboxes; use {' or '.join(reversed(_OPENED))}."


def check_sandbox_type(kind: NamedSandboxType) -> SandboxType:
    """The type, or an error that says which there are."""
    found = opened(kind)
    if found is None:
        what, _, instead = missing(kind).partition("; ")
        raise InvalidInput(what, hint=instead.capitalize())
    return found
