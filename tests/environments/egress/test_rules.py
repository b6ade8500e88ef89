"""What the rules let out, without a network."""

import pytest

from journeyman.environments.egress.rules import (
    EgressRules,
    Registry,
    decide,
    is_host_name,
    is_host_pattern,
    parse_authority,
)

_REGISTRY = Registry(kind="npm", host="registry.example")
_RULES = EgressRules(
    registries=(_REGISTRY, Registry(kind="pypi", host="plain.example", port=80, scheme="http")),
    hosts=("allowed.example", "*.domain.example", "plain-allowed.example:80", "odd.example:8443"),
)


def test_what_nobody_named_is_denied_and_a_person_may_allow_it() -> None:
    decision = decide(_RULES, "evil.example", 443, "https")
    assert (decision.verdict, decision.may_be_allowed) == ("denied", True)
    assert "evil.example" in decision.reason


@pytest.mark.parametrize("method", ["GET", "HEAD", None])
def test_a_registry_is_read(method: str | None) -> None:
    assert decide(_RULES, "registry.example", 443, "https", method=method, path="/x").verdict == "registry"


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH", "OPTIONS", "get", "PROPFIND"])
def test_nothing_is_written_to_a_registry(method: str) -> None:
    decision = decide(_RULES, "registry.example", 443, "https", method=method, path="/x")
    assert (decision.verdict, decision.may_be_allowed) == ("denied", False)


def test_a_registry_that_people_allow_is_still_only_read() -> None:
    rules = _RULES.with_host("registry.example")
    assert decide(rules, "registry.example", 443, "https").verdict == "registry"
    assert decide(rules, "registry.example", 443, "https", method="PUT", path="/").verdict == "denied"


@pytest.mark.parametrize("port", [80, 22, 8443, 1])
def test_a_registry_is_reached_on_its_own_port_alone(port: int) -> None:
    assert decide(_RULES, "registry.example", port, "https").verdict == "denied"


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("allowed.example", 443, True),
        ("sub.allowed.example", 443, False),
        ("notallowed.example", 443, False),
        ("allowed.example.evil.example", 443, False),
        ("a.domain.example", 443, True),
        ("a.b.domain.example", 443, True),
        ("domain.example", 443, False),
        ("evildomain.example", 443, False),
        ("allowed.example", 22, False),
        ("allowed.example", 8443, False),
        ("odd.example", 8443, True),
        ("odd.example", 443, False),
    ],
)
def test_people_allow_a_host_or_what_is_below_a_domain(host: str, port: int, allowed: bool) -> None:
    assert (decide(_RULES, host, port, "https").verdict == "host") is allowed


def test_a_host_is_allowed_by_plain_http_too_unless_a_port_is_named() -> None:
    assert decide(_RULES, "allowed.example", 80, "http", method="GET", path="/").verdict == "host"
    assert decide(_RULES, "allowed.example", 80, "https").verdict == "denied"
    assert decide(_RULES, "plain-allowed.example", 80, "http", method="POST", path="/").verdict == "host"
    assert decide(_RULES, "plain-allowed.example", 443, "https").verdict == "denied"
    assert decide(_RULES, "odd.example", 80, "http", method="GET", path="/").verdict == "denied"
    assert decide(_RULES, "plain.example", 80, "http", method="GET", path="/").verdict == "registry"
    assert decide(_RULES, "plain.example", 443, "https").verdict == "denied"


_ODD = (
    *("127.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "017700000001", "[::1]"),
    *(
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "169.254.169.254",
        "[fe80::1]",
        "1.1.1.1",
        "0",
        "evil.example.",
    ),
    *("registry.example.", ".registry.example", "registry..example", "-x.example", "EVIL.example"),
    *("a" * 64 + ".example", "x." * 130 + "example", "xn--\N{LATIN SMALL LETTER E WITH ACUTE}.example"),
)


@pytest.mark.parametrize("host", _ODD)
def test_no_spelling_of_an_address_is_a_host_name(host: str) -> None:
    assert not is_host_name(host)
    rules = EgressRules(registries=(Registry(kind="npm", host=host),), hosts=(host, "*.example", "*.1"))
    decision = decide(rules, host, 443, "https")
    assert (decision.verdict, decision.may_be_allowed) == ("denied", False)


def test_an_address_is_a_registry_where_the_owner_wrote_it_so() -> None:
    registry = Registry(kind="pypi", host="10.1.2.3", port=8081, scheme="http")
    rules = EgressRules(registries=(registry,), private_hosts=frozenset({"10.1.2.3"}))
    assert decide(rules, "10.1.2.3", 8081, "http", method="GET", path="/").verdict == "registry"
    assert decide(rules, "10.1.2.3", 443, "https").verdict == "denied"


@pytest.mark.parametrize(
    "text",
    [
        "user@registry.example:443",
        "registry.example",
        "registry.example:",
        "registry.example:0",
        ":443",
        "a b:443",
        "registry.example:65536",
        "registry.example:443:443",
        "https://registry.example:443",
        "a/b:443",
        "a\n:443",
        "registry.example:+443",
        "registry.example:４４３",
        "evil.example#registry.example:443",
    ],
)
def test_what_is_not_plainly_host_and_port_is_not_parsed(text: str) -> None:
    assert parse_authority(text) is None


def test_people_write_hosts_and_domains() -> None:
    written = ("a.example", "*.a.example", "a.example:8443", "A.example")
    refused = (
        "*",
        "*.",
        "",
        "10.0.0.1",
        "https://a.example",
        "a.example/",
        "*.*.example",
        "a*.example",
        "[::1]",
    )
    assert [text for text in (*written, *refused) if is_host_pattern(text)] == list(written)


def test_capital_letters_make_no_other_host() -> None:
    assert parse_authority("Registry.EXAMPLE:443") == ("registry.example", 443)


def test_a_redirect_opens_its_own_path_and_nothing_beside_it() -> None:
    rules = _RULES.with_registries([Registry(kind="npm", host="cdn.example", path="/a.tgz", is_exact=True)])
    assert decide(rules, "cdn.example", 443, "https", method="GET", path="/a.tgz").verdict == "registry"
    other = decide(rules, "cdn.example", 443, "https", method="GET", path="/b.tgz")
    assert (other.verdict, other.may_be_allowed) == ("denied", True)
    assert decide(rules.with_host("cdn.example"), "cdn.example", 443, "https").verdict == "host"


def test_an_index_that_names_endless_hosts_adds_only_some() -> None:
    rules = _RULES.with_registries(Registry(kind="files", host=f"h{n}.example") for n in range(5000))
    rules = rules.with_registries(
        Registry(kind="npm", host="cdn.example", path=f"/{n}", is_exact=True) for n in range(5000)
    )
    assert len(rules.registries) <= 2500
    assert _REGISTRY in rules.registries
    assert decide(rules, "cdn.example", 443, "https", method="GET", path="/4999").verdict == "registry"


def test_a_credential_goes_to_its_host_by_tls_alone() -> None:
    rules = EgressRules(credentials={"registry.example": "one", "registry.example:8443": "two"})
    assert rules.credential_for(_REGISTRY) == "one"
    assert rules.credential_for(Registry(kind="npm", host="registry.example", port=8443)) == "two"
    assert rules.credential_for(Registry(kind="npm", host="registry.example", port=9)) is None
    assert rules.credential_for(Registry(kind="npm", host="files.example")) is None
    assert rules.credential_for(Registry(kind="npm", host="registry.example", scheme="http")) is None
    assert "one" not in repr(rules)
