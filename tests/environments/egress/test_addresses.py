"""Names are resolved, checked and connected to in one go."""

from collections.abc import Sequence

import pytest

from journeyman.environments.egress.addresses import AddressRefused, CheckedAddresses, is_public, parse_proxy
from journeyman.errors import InvalidSetting

_PRIVATE = (
    *("10.0.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255"),
    *(
        "192.168.1.1",
        "0.0.0.0",
        "100.64.0.1",
        "100.100.100.200",
        "224.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
    ),
    *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1"),
    *("::ffff:8.8.8.8", "::7f00:1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001:0:1::1"),
    *("fec0::1", "nonsense", "", "127.1"),
)


@pytest.mark.parametrize("address", _PRIVATE)
def test_an_address_that_is_not_of_the_internet_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "203.0.113.80"]
)
def test_an_address_of_the_internet_is_used(address: str) -> None:
    assert is_public(address)


async def test_one_private_address_among_others_spoils_all() -> None:
    async def resolve(_: str, __: int) -> Sequence[str]:
        return ["8.8.8.8", "10.0.0.1"]

    with pytest.raises(AddressRefused, match=r"evil.example resolves to 10.0.0.1"):
        await CheckedAddresses(resolve, ()).addresses("evil.example", 443)
    assert await CheckedAddresses(resolve, {"evil.example"}).addresses("evil.example", 443)


async def test_a_name_is_resolved_once_for_a_connection() -> None:
    """DNS rebinding: what the name says a moment later is never asked for."""
    asked: list[str] = []

    async def resolve(host: str, _: int) -> Sequence[str]:
        asked.append(host)
        return ["203.0.113.1"] if len(asked) == 1 else ["127.0.0.1"]

    found = await CheckedAddresses(resolve, ()).resolve("evil.example", 443)
    assert [one["host"] for one in found] == ["203.0.113.1"]
    assert asked == ["evil.example"]
    with pytest.raises(AddressRefused):
        await CheckedAddresses(resolve, ()).resolve("evil.example", 443)


async def test_a_name_without_addresses_is_an_error() -> None:
    async def resolve(_: str, __: int) -> Sequence[str]:
        return []

    with pytest.raises(OSError, match="no address"):
        await CheckedAddresses(resolve, ()).addresses("empty.example", 443)


@pytest.mark.parametrize(
    "setting", ["socks5://proxy.example:1080", "https://proxy.example", "http://", "ftp://x"]
)
def test_a_proxy_of_another_kind_is_refused_with_a_hint(setting: str) -> None:
    with pytest.raises(InvalidSetting) as raised:
        parse_proxy(setting)
    assert "http://" in raised.value.hint


def test_a_proxy_may_be_written_without_its_scheme() -> None:
    parsed = parse_proxy("proxy.example:3128")
    assert parsed is not None
    assert (parsed.hostname, parsed.port) == ("proxy.example", 3128)
    assert parse_proxy("") is None
