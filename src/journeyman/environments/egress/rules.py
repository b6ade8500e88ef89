"""What may leave a sandbox, decided without touching the network.

Everything that is not named is denied. A registry is asked by GET and HEAD alone, so that an install script
cannot publish what it finds; a host that people allowed is reached by any method. A host that is both stays
a registry.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

RegistryKind = Literal["pypi", "npm", "cargo", "go", "maven", "rubygems", "composer", "nuget", "files"]
"""What an index's answers look like; `files` are only downloaded, and nothing is read from them."""
Scheme = Literal["https", "http"]

_MOST_HOSTS = 500
_MOST_REDIRECTS = 2000
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z)(?:{_LABEL}\.)*[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?\Z")
"""The last label begins with a letter: no spelling of an IPv4 address does, in any base."""
_PORTS = {"https": 443, "http": 80}
_READING = ("GET", "HEAD")


@dataclass(frozen=True, kw_only=True)
class Registry:
    kind: RegistryKind
    host: str
    port: int = 443
    path: str = "/"
    """Where the index lies. Only answers below it can name further hosts."""
    scheme: Scheme = "https"
    is_exact: bool = False
    """Nothing but this path may be asked for: it is where a registry has redirected to."""


@dataclass(frozen=True, kw_only=True)
class EgressRules:
    registries: tuple[Registry, ...] = ()
    hosts: tuple[str, ...] = ()
    """What people allowed: `host` or `*.domain`, by HTTPS and plain HTTP; or either with one port."""
    private_hosts: frozenset[str] = frozenset()
    """Hosts of the machine's owner that may have a private address."""
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What is sent as `Authorization`, by `host` or `host:port`; only by TLS, and only to a registry."""

    def with_host(self, host: str) -> "EgressRules":
        return replace(self, hosts=(*self.hosts, host)) if host not in self.hosts else self

    def with_registries(self, found: Iterable[Registry]) -> "EgressRules":
        """The rules and what an index named, up to a number that no honest index reaches."""
        known = dict.fromkeys(self.registries)
        new = [one for one in dict.fromkeys(found) if one not in known]
        if not new:
            return self
        lasting = [one for one in (*known, *new) if not one.is_exact][: max(_MOST_HOSTS, len(known))]
        exact = [one for one in (*known, *new) if one.is_exact][-_MOST_REDIRECTS:]
        return replace(self, registries=(*lasting, *exact))

    def registries_at(self, host: str, port: int, scheme: Scheme) -> tuple[Registry, ...]:
        endpoint = (host, port, scheme)
        return tuple(one for one in self.registries if (one.host, one.port, one.scheme) == endpoint)

    def credential_for(self, registry: Registry) -> str | None:
        if registry.scheme != "https":
            return None
        if (exact := self.credentials.get(f"{registry.host}:{registry.port}")) is not None:
            return exact
        return self.credentials.get(registry.host) if registry.port == 443 else None


@dataclass(frozen=True)
class Denial:
    """Something in a sandbox tried to reach what it may not."""

    host: str
    port: int
    reason: str
    command: str | None
    """What ran at that time, as far as it is known."""
    may_be_allowed: bool
    """Whether a person can allow it."""


@dataclass(frozen=True)
class Decision:
    verdict: Literal["registry", "host", "denied"]
    reason: str = ""
    may_be_allowed: bool = False


def parse_authority(text: str, default_port: int | None = None) -> tuple[str, int] | None:
    """Host in lower case and port of `host:port`; None for anything else, user information included."""
    matched = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?", text)
    if not matched or (matched[2] is None and default_port is None):
        return None
    port = int(matched[2]) if matched[2] is not None else default_port or 0
    return (matched[1].lower(), port) if 0 < port < 65536 else None


def is_host_name(host: str) -> bool:
    """Whether it is a name in DNS, written plainly: no address, no dot at its end, no capital letters."""
    return bool(_HOST.match(host))


def decide(
    rules: EgressRules,
    host: str,
    port: int,
    scheme: Scheme,
    *,
    method: str | None = None,
    path: str | None = None,
) -> Decision:
    """Whether this may be reached. Method and path are None for a CONNECT, which does not say them yet."""
    is_allowed = is_host_name(host) and any(_matches(pattern, host, port, scheme) for pattern in rules.hosts)
    registries = rules.registries_at(host, port, scheme)
    if is_allowed and all(one.is_exact for one in registries):
        return Decision("host")
    if registries and (is_host_name(host) or host in rules.private_hosts):
        return _asked_of_registry(registries, host, method, path)
    if not is_host_name(host):
        return Decision("denied", f"{host} is not a host name: addresses and odd spellings are refused")
    if port != _PORTS[scheme]:
        return Decision("denied", f"{host} is not allowed, and port {port} is not the one of {scheme}")
    return Decision("denied", f"{host} is not a package registry and nobody has allowed it", True)


def _asked_of_registry(
    registries: tuple[Registry, ...], host: str, method: str | None, path: str | None
) -> Decision:
    if method is not None and method not in _READING:
        return Decision("denied", f"{method} to {host} is refused: registries are only read")
    if path is None or any(not one.is_exact or one.path == path for one in registries):
        return Decision("registry")
    return Decision("denied", f"of {host} only files that a registry redirects to may be read", True)


def is_host_pattern(text: str) -> bool:
    """Whether people may write this where hosts are allowed."""
    parsed = parse_authority(text.removeprefix("*."), 443)
    return parsed is not None and is_host_name(parsed[0])


def _matches(pattern: str, host: str, port: int, scheme: Scheme) -> bool:
    parsed = parse_authority(pattern.removeprefix("*."), _PORTS[scheme])
    if parsed is None or parsed[1] != port:
        return False
    return host.endswith(f".{parsed[0]}") if pattern.startswith("*.") else host == parsed[0]
