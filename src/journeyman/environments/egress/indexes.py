"""Addresses of package indexes as tools are configured with them, taken apart.

A credential inside an address stays on this side: what a sandbox is given is the address without it.
"""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from journeyman.environments.egress.rules import (
    EgressRules,
    Registry,
    RegistryKind,
    Scheme,
    parse_authority,
)

_DEFAULT_PORTS: dict[Scheme, int] = {"https": 443, "http": 80}


@dataclass(frozen=True, kw_only=True)
class RegistryHosts:
    """What tools use on this machine, for the rules of a set-up."""

    registries: tuple[Registry, ...] = ()
    private_hosts: frozenset[str] = frozenset()
    """Those that the machine's owner configured: a private address is meant."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Addresses of indexes without credentials, for commands inside."""
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values of `Authorization`, by host and port."""
    paths: tuple[Path, ...] = ()
    """Directories of this machine that serve as indexes, to be shown read-only."""

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.host for one in self.registries))

    def rules(self, *, hosts: Iterable[str] = (), owner_hosts: Iterable[str] = ()) -> EgressRules:
        """Rules by which the registries are read, with hosts that people allowed.

        Those of the machine's owner, in the settings, may have a private address; those that are named in a
        repository or allowed for an order may not.
        """
        owned = tuple(owner_hosts)
        parsed = (parse_authority(host, 443) for host in owned)
        return EgressRules(
            registries=self.registries,
            hosts=tuple(dict.fromkeys((*owned, *hosts))),
            private_hosts=self.private_hosts | {one[0] for one in parsed if one},
            credentials=self.credentials,
        )


@dataclass(frozen=True)
class PackageIndex:
    address: str
    """As a tool inside is given it."""
    registry: Registry | None = None
    credential: str | None = None
    path: Path | None = None


def parse_index(kind: RegistryKind, address: str) -> PackageIndex | None:
    """None for what is neither an address nor a directory."""
    try:
        parsed = urlsplit(address.strip())
        host, port = parsed.hostname, parsed.port
    except ValueError:
        return None
    if parsed.scheme == "file" or (not parsed.scheme and address.startswith("/")):
        return PackageIndex(address, path=Path(unquote(parsed.path)))
    scheme = parsed.scheme.removeprefix("sparse+")
    if scheme not in ("https", "http") or not host:
        return None
    named: Scheme = "https" if scheme == "https" else "http"
    clean = urlunsplit(parsed._replace(netloc=parsed.netloc.rpartition("@")[2]))
    registry = Registry(
        kind=kind,
        host=host.lower(),
        port=port or _DEFAULT_PORTS[named],
        path=parsed.path or "/",
        scheme=named,
    )
    return PackageIndex(clean, registry, _basic(parsed.username, parsed.password))


def _basic(user: str | None, password: str | None) -> str | None:
    if user is None:
        return None
    text = f"{unquote(user)}:{unquote(password or '')}"
    return f"Basic {base64.b64encode(text.encode()).decode()}"


def hosts_of(
    indexes: Iterable[PackageIndex | None],
    *,
    variables: Mapping[str, str] | None = None,
    credentials: Mapping[str, str] | None = None,
    is_configured: bool = True,
) -> RegistryHosts:
    """What these indexes need together."""
    found = [index for index in indexes if index is not None]
    registries = tuple(dict.fromkeys(index.registry for index in found if index.registry))
    own = {
        f"{index.registry.host}:{index.registry.port}": index.credential
        for index in found
        if index.registry and index.credential
    }
    return RegistryHosts(
        registries=registries,
        private_hosts=frozenset(one.host for one in registries) if is_configured else frozenset(),
        variables=variables or {},
        credentials={**own, **(credentials or {})},
        paths=tuple(dict.fromkeys(index.path for index in found if index.path)),
    )


def merge_hosts(found: Iterable[RegistryHosts]) -> RegistryHosts:
    """All of them; of two that say different things about the same, the first counts."""
    merged = RegistryHosts()
    for one in found:
        merged = RegistryHosts(
            registries=tuple(dict.fromkeys((*merged.registries, *one.registries))),
            private_hosts=merged.private_hosts | one.private_hosts,
            variables={**one.variables, **merged.variables},
            credentials={**one.credentials, **merged.credentials},
            paths=tuple(dict.fromkeys((*merged.paths, *one.paths))),
        )
    return merged
