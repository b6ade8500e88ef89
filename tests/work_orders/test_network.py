"""Which hosts can be allowed, and how refusals are counted."""

from datetime import UTC, datetime, timedelta

import pytest

from journeyman.errors import Conflict, InvalidInput
from journeyman.events.types import NetworkDenied, StoredEvent
from journeyman.work_orders.network import NetworkGrant, check_host, denied_hosts

NOW = datetime.now(UTC)


def _denied(host: str, sequence: int = 1, *, may_be_allowed: bool = True, reason: str = "x") -> StoredEvent:
    event = NetworkDenied(
        host=host,
        port=443,
        phase="setup",
        step=None,
        command="pip install",
        reason=reason,
        may_be_allowed=may_be_allowed,
    )
    moment = NOW + timedelta(seconds=sequence)
    return StoredEvent(agent_work_order_id="wo-aaaaaaaa", sequence=sequence, timestamp=moment, event=event)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("packages.example.com", "packages.example.com"),
        ("Packages.Example.COM.", "packages.example.com"),
        (" cdn-1.example ", "cdn-1.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_a_host_name_is_allowed_in_one_form(text: str, host: str) -> None:
    assert check_host(text) == host


@pytest.mark.parametrize(
    "text",
    [
        *("https://a.example", "a.example:443", "a.example/x", "a b.example", "-a.example"),
        *("a..example", "bücher.example", "*.example", "a_b.example", "x" * 64 + ".example", "a." * 130),
        *("", ".", "user@a.example", "%2e.example", "a.example\0", "a\n.example"),
    ],
)
def test_what_is_no_host_name_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        check_host(text)


@pytest.mark.parametrize(
    "text",
    [
        *("127.0.0.1", "10.0.0.1", "169.254.169.254", "8.8.8.8", "[::1]", "::ffff:10.0.0.1", "fd00::1"),
        *("localhost", "db", "metadata.google.internal", "printer.local", "a.localhost", "0177.0.0.1", "1.2"),
    ],
)
def test_addresses_and_private_names_are_never_allowed(text: str) -> None:
    with pytest.raises(Conflict) as refused:
        check_host(text)
    assert refused.value.hint


def test_a_host_that_was_denied_for_good_is_refused_with_the_reason() -> None:
    events = [_denied("rebound.example", may_be_allowed=False, reason="it resolves to a private address")]
    with pytest.raises(Conflict, match="it resolves to a private address"):
        check_host("Rebound.example", events)
    assert check_host("other.example", events) == "other.example"


def test_a_host_is_listed_once_with_its_last_refusal_and_its_grant() -> None:
    events = [_denied("a.example", 1), _denied("b.example", 2), _denied("A.example", 3, reason="again")]
    found = denied_hosts(events, [NetworkGrant("b.example", "repository", NOW)])
    assert [(one.denied.host, one.denied.reason, one.granted) for one in found] == [
        ("A.example", "again", None),
        ("b.example", "x", "repository"),
    ]
