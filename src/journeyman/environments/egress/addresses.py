"""From a host's name to an address that may be connected to, and a connection to that very address.

Names are resolved here and the result is checked and used at once: a name that resolves to something else
a moment later (DNS rebinding) gains nothing. Documentation ranges are let through, since nothing private
lies there; some closed networks number their mirrors from them.
"""

import asyncio
import base64
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from urllib.parse import SplitResult, unquote, urlsplit

import h11
from aiohttp.abc import AbstractResolver, ResolveResult

from journeyman.errors import InvalidSetting

ResolveName = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a name, as text; raises OSError where it has none."""
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_CONNECT_SECONDS = 20.0
_LARGEST_ANSWER = 65_536
_REFUSED_IPV4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # of providers; some clouds have their metadata there
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local, and the metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",
        "198.18.0.0/15",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_IPV6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # Teredo, which carries IPv4, and other special ones
        "2002::/16",  # 6to4, which carries IPv4
        "3fff::/20",
    )
)


class AddressRefused(OSError):
    """A name resolves to an address that nothing in a sandbox may reach."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_public(address: str) -> bool:
    """Whether it is an address of the internet; one that carries another inside it is none."""
    try:
        parsed: _Address = ipaddress.ip_address(address)
    except ValueError:
        return False  # such as fe80::1%eth0 where zones are written otherwise
    if isinstance(parsed, ipaddress.IPv4Address):
        return not any(parsed in network for network in _REFUSED_IPV4)
    return parsed in _GLOBAL_IPV6 and not any(parsed in network for network in _REFUSED_IPV6)


class CheckedAddresses(AbstractResolver):
    """Resolves for the HTTP client and for tunnels; one for each sandbox, for the hosts of its owner."""

    def __init__(self, resolve_name: ResolveName, private_hosts: Collection[str]) -> None:
        self._resolve_name = resolve_name
        self._private_hosts = private_hosts

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in await self.addresses(host, port)
        ]

    async def close(self) -> None:
        pass

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """Addresses that may be connected to. One private address among public ones spoils all of them."""
        found = await self._resolve_name(host, port)
        if not found:
            raise OSError(f"{host} has no address")
        if host not in self._private_hosts and (private := [one for one in found if not is_public(one)]):
            raise AddressRefused(f"{host} resolves to {private[0]}, which is not an address of the internet")
        return found

    async def check_for_proxy(self, host: str, port: int) -> None:
        """Refuse a name that is known here for a private address. Others the next proxy resolves itself."""
        try:
            await self.addresses(host, port)
        except AddressRefused:
            raise
        except OSError:
            return

    async def connect(self, host: str, port: int) -> socket.socket:
        """A connection to the first checked address that answers."""
        loop = asyncio.get_running_loop()
        failure = OSError(f"{host} has no address")
        for address in await self.addresses(host, port):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            # The protocol is named because asyncio turns delays off only for sockets that say they are TCP.
            connection = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            connection.setblocking(False)
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    await loop.sock_connect(connection, (address, port))
            except OSError as error:
                connection.close()
                failure = error
            except BaseException:
                connection.close()
                raise
            else:
                return connection
        raise failure


def parse_proxy(setting: str) -> SplitResult | None:
    """The proxy of this network, if one is set."""
    if not setting:
        return None
    parsed = urlsplit(setting if "://" in setting else f"http://{setting}")
    if parsed.scheme != "http" or not parsed.hostname:
        raise InvalidSetting(
            "JOURNEYMAN_UPSTREAM_PROXY is not the address of an HTTP proxy",
            hint="Write it as http://proxy.example:3128, or with user:password@ before the host.",
        )
    return parsed


async def connect_by_proxy(proxy: SplitResult, host: str, port: int) -> socket.socket:
    """A connection to the host through the proxy of this network, which resolves the name itself."""
    reader, writer = await asyncio.open_connection(proxy.hostname, proxy.port or 3128, limit=_LARGEST_ANSWER)
    try:
        headers = [("Host", f"{host}:{port}")]
        if proxy.username is not None:
            user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
            headers.append(("Proxy-Authorization", f"Basic {base64.b64encode(user.encode()).decode()}"))
        connection = h11.Connection(h11.CLIENT)
        asked = h11.Request(method="CONNECT", target=f"{host}:{port}", headers=headers)
        writer.write(connection.send(asked) or b"")
        try:
            connection.receive_data(await reader.readuntil(b"\r\n\r\n"))
            answer = connection.next_event()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, h11.RemoteProtocolError):
            raise ConnectionError("the proxy of this network gave no answer") from None
        if not isinstance(answer, h11.Response) or not 200 <= answer.status_code < 300:
            status = getattr(answer, "status_code", "nothing")
            raise ConnectionError(f"the proxy of this network answered {status} for {host}")
        return _taken(writer)
    finally:
        writer.close()


def _taken(writer: asyncio.StreamWriter) -> socket.socket:
    """The connection's socket, for another protocol to use; its first owner closes only its own copy."""
    original: socket.socket = writer.get_extra_info("socket")
    copy = socket.fromfd(original.fileno(), original.family, original.type, socket.IPPROTO_TCP)
    copy.setblocking(False)
    return copy
