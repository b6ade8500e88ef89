"""Hosts that people allowed, and which texts can be allowed at all.

A grant widens what the egress proxy lets through by one name. Addresses and names of this machine or of its
network are never granted: naming one would reach what only the server may.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from journeyman.errors import Conflict, InvalidInput
from journeyman.events.types import NetworkDenied, StoredEvent

Scope = Literal["order", "repository"]

_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".localdomain", ".home.arpa")


@dataclass(frozen=True)
class NetworkGrant:
    host: str
    scope: Scope
    created_at: datetime


@dataclass(frozen=True)
class DeniedHost:
    """A host that a phase of an order was refused, however often."""

    denied: NetworkDenied
    denied_at: datetime
    """When it was last refused."""
    granted: Scope | None
    """By which grant it is allowed by now."""


def check_host(text: str, events: Iterable[StoredEvent] = ()) -> str:
    """The host in the form that grants are stored in. Raises InvalidInput for what is no host name, and
    Conflict for one that may not be allowed; `events` are those of the order that it was denied to."""
    host = text.strip().rstrip(".").lower()
    if _is_address(host):
        raise Conflict(
            f"{text} is an address, and only names can be allowed",
            hint="Allow the name of the host; addresses of this machine's network stay closed.",
        )
    if len(host) > 253 or not all(map(_LABEL.fullmatch, host.split("."))):
        raise InvalidInput(
            f"{text!r} is not a host name",
            hint="Give a name such as packages.example.com, without scheme, port or path.",
        )
    if host.split(".")[-1].isdigit() or "." not in host or host.endswith(_PRIVATE_SUFFIXES):
        raise Conflict(
            f"{host} is a name of a private network, which stays closed to sandboxes",
            hint="Serve what is needed under a public name, or have it installed on the machine.",
        )
    for one in events:
        denied = one.event
        if isinstance(denied, NetworkDenied) and _same(denied.host, host) and not denied.may_be_allowed:
            raise Conflict(
                f"{host} cannot be allowed: {denied.reason}",
                hint="Private and local addresses stay closed to sandboxes.",
            )
    return host


def denied_hosts(events: Iterable[StoredEvent], grants: Iterable[NetworkGrant]) -> list[DeniedHost]:
    """Each host that was refused once, in the order in which they were first met."""
    scopes = {grant.host: grant.scope for grant in grants}
    latest: dict[str, StoredEvent] = {}
    for one in events:
        if isinstance(one.event, NetworkDenied):
            latest[one.event.host.rstrip(".").lower()] = one
    return [
        DeniedHost(one.event, one.timestamp, scopes.get(host))
        for host, one in latest.items()
        if isinstance(one.event, NetworkDenied)
    ]


def _same(one: str, other: str) -> bool:
    return one.rstrip(".").lower() == other


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True
