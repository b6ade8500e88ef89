"""Which hosts an index's answers name, and that nobody else's words name any."""

import json
from typing import Any

import pytest

from journeyman.environments.egress.links import is_worth_reading, linked_registries, redirected_registry
from journeyman.environments.egress.rules import Registry, RegistryKind

_HTML = "text/html; charset=utf-8"
_JSON = "application/json"


def _named(
    kind: RegistryKind, path: str, content: Any, content_type: str = _JSON, base: str = "/"
) -> list[str]:
    registry = Registry(kind=kind, host="registry.example", path=base)
    body = content if isinstance(content, str) else json.dumps(content)
    assert is_worth_reading([registry], path, content_type)
    return [one.host for one in linked_registries([registry], path, content_type, body.encode())]


def test_a_simple_page_names_the_hosts_of_its_files() -> None:
    page = '<a href="https://files.example/a-1.whl#sha256=0">a</a> <a href="../../b-1.tar.gz?x=1">b</a>'
    assert _named("pypi", "/simple/a/", page, _HTML, "/simple") == ["files.example", "registry.example"]


@pytest.mark.parametrize(
    "link",
    [
        '<a rel="homepage" href="https://evil.example/a.tar.gz">',
        '<a rel href="https://evil.example/a.tar.gz">',
        '<a href="https://evil.example/">',
        '<a href="https://evil.example/page.html">',
        '<a href="http://evil.example/a.whl">',
        '<a href="https://user@evil.example/a.whl">',
        '<a href="https://169.254.169.254/a.whl">',
        '<a href="https://[::1]/a.whl">',
        '<a href="https://[/a.whl">',
        '<a href="https://evil.example:x/a.whl">',
        '<img src="https://evil.example/a.whl">',
        "https://evil.example/a.whl",
    ],
)
def test_other_links_of_a_page_name_nothing(link: str) -> None:
    assert _named("pypi", "/simple/a/", link, _HTML, "/simple") == []


def test_pages_beside_the_index_are_not_read() -> None:
    registry = Registry(kind="pypi", host="registry.example", path="/simple")
    for path in (
        "/project/a/",
        "/simpleton/",
        "/simple/../project/a/",
        "/simple/%2e%2e/project/",
        "/simple//x",
    ):
        assert not is_worth_reading([registry], path, _HTML)
        page = b'<a href="https://evil.example/a.whl">'
        assert linked_registries([registry], path, _HTML, page) == []


_CASES: list[tuple[RegistryKind, str, dict[str, Any], list[str]]] = [
    ("pypi", "/simple/a/", {"files": [{"url": "https://files.example/a.whl"}]}, ["files.example"]),
    (
        "npm",
        "/a",
        {
            "homepage": "https://evil.example",
            "repository": {"url": "https://evil.example"},
            "readme": "https://evil.example",
            "versions": {
                "1": {"dist": {"tarball": "https://t.example/a.tgz"}, "homepage": "https://evil.example"}
            },
        },
        ["t.example"],
    ),
    (
        "npm",
        "/a/1",
        {"dist": {"tarball": "https://t.example/a.tgz"}, "bugs": "https://evil.example"},
        ["t.example"],
    ),
    (
        "cargo",
        "/config.json",
        {
            "dl": "https://dl.example/{crate}/{version}",
            "api": "https://api.example",
            "x": "https://evil.example",
        },
        ["dl.example", "api.example"],
    ),
    ("cargo", "/ca/rg/cargo", {"dl": "https://evil.example"}, []),
    (
        "nuget",
        "/v3/index.json",
        {
            "version": "3.0.0",
            "resources": [{"@id": "https://n.example/q", "comment": "https://evil.example"}],
        },
        ["n.example"],
    ),
    ("nuget", "/v3/search", {"version": "3", "resources": [{"@id": "https://evil.example"}]}, []),
    (
        "composer",
        "/packages.json",
        {"metadata-url": "https://m.example/p2/%package%.json", "notify-batch": "https://evil.example"},
        ["m.example"],
    ),
    (
        "composer",
        "/p2/a.json",
        {
            "packages": {
                "a/a": [{"dist": {"url": "https://d.example/z.zip"}, "homepage": "https://evil.example"}]
            }
        },
        ["d.example"],
    ),
]


@pytest.mark.parametrize(("kind", "path", "content", "hosts"), _CASES)
def test_each_index_names_hosts_by_its_own_fields(
    kind: RegistryKind, path: str, content: dict[str, Any], hosts: list[str]
) -> None:
    assert _named(kind, path, content) == hosts


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        '{"versions": []}',
        '{"versions": {"1": 7}}',
        '{"versions": {"1": {"dist": {"tarball": 1}}}}',
        "{" * 100_000,
        "[" * 100_000,
        "\x00\xff",
    ],
)
def test_an_answer_of_another_shape_names_nothing(body: str) -> None:
    assert _named("npm", "/a", body) == []


def test_files_are_passed_on_unread() -> None:
    registry = Registry(kind="npm", host="registry.example")
    assert not is_worth_reading([registry], "/a.tgz", "application/octet-stream")
    assert not is_worth_reading([Registry(kind="files", host="registry.example")], "/a", _JSON)


def test_a_redirect_names_one_path_of_one_host() -> None:
    registry = Registry(kind="pypi", host="registry.example", path="/simple")
    (found,) = redirected_registry([registry], "/simple/a", "", "https://cdn.example/x/a?signature=1")
    assert (found.host, found.path, found.is_exact, found.kind) == ("cdn.example", "/x/a", True, "pypi")
    (relative,) = redirected_registry([registry], "/simple/a", "", "/simple/a/")
    assert (relative.host, relative.path) == ("registry.example", "/simple/a/")


@pytest.mark.parametrize(
    ("path", "query", "location"),
    [
        ("/simple/login", "next=https://evil.example/", "https://evil.example/"),
        ("/account/login", "", "https://evil.example/"),
        ("/simple/../login", "", "https://evil.example/"),
        ("/simple/a", "", "http://evil.example/"),
        ("/simple/a", "", "https://10.0.0.1/"),
        ("/simple/a", "", "ftp://evil.example/"),
        ("/simple/a", "", "https://user:secret@evil.example/"),
    ],
)
def test_a_redirect_that_others_could_have_written_opens_nothing(
    path: str, query: str, location: str
) -> None:
    registry = Registry(kind="pypi", host="registry.example", path="/simple")
    assert redirected_registry([registry], path, query, location) == []
