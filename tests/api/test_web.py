"""The web UI's files: who gets the page, who does not, and what the page may load."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from journeyman.api.web import Pages
from tests.api.parts import Api

PAGE = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A built UI of two files, served alone."""
    directory = tmp_path / "web_dist"
    (directory / "assets").mkdir(parents=True)
    (directory / "index.html").write_text("<!doctype html>")
    (directory / "assets" / "entry-1a2b.js").write_text("start()")
    (directory / "assets" / "entry-1a2b.js.gz").write_bytes(b"packed")
    (tmp_path / "secret.txt").write_text("secret")
    transport = httpx2.ASGITransport(app=Pages(directory), raise_app_exceptions=True)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/orders/wo-00000000", "/local-forge/pull-requests/1", "/index.html"])
async def test_every_address_of_a_page_gets_the_document(site: httpx2.AsyncClient, path: str) -> None:
    answer = await site.get(path, headers=PAGE)
    assert (answer.status_code, answer.text) == (200, "<!doctype html>")
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
async def test_the_address_of_the_server_gives_everybody_the_document(
    site: httpx2.AsyncClient, accept: str
) -> None:
    answer = await site.get("/", headers={"Accept": accept})
    assert (answer.status_code, answer.text) == (200, "<!doctype html>")


async def test_the_page_may_reach_nothing_but_this_server(site: httpx2.AsyncClient) -> None:
    policy = (await site.get("/", headers=PAGE)).headers["content-security-policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == directives["connect-src"] == "'self'"
    assert "http" not in policy


async def test_what_is_named_after_its_content_is_kept_for_ever(site: httpx2.AsyncClient) -> None:
    answer = await site.get("/assets/entry-1a2b.js", headers={"Accept-Encoding": "identity"})
    assert answer.text == "start()"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]


async def test_who_can_unpack_gets_it_packed(site: httpx2.AsyncClient) -> None:
    async with site.stream("GET", "/assets/entry-1a2b.js", headers={"Accept-Encoding": "gzip"}) as answer:
        assert b"".join([part async for part in answer.aiter_raw()]) == b"packed"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/nowhere"), ("GET", "/api/nowhere"), ("POST", "/orders"), ("DELETE", "/"), ("GET", "/ws/x/y")],
)
async def test_a_program_that_errs_gets_a_problem_and_no_page(api: Api, method: str, path: str) -> None:
    for accept in ("*/*", "application/json"):
        answer = await api.client.request(method, path, headers={"Accept": accept})
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"


async def test_a_wrong_address_of_the_api_is_no_page_for_a_browser_either(api: Api) -> None:
    assert (await api.client.get("/api/nowhere", headers=PAGE)).status_code == 404


async def test_a_call_by_the_wrong_method_is_still_told_so(api: Api) -> None:
    assert (await api.client.get("/submit", headers=PAGE)).status_code == 405


@pytest.mark.parametrize(
    "path", ["/assets/../../secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt", "/..%2fsecret.txt"]
)
async def test_no_address_leads_out_of_the_directory(site: httpx2.AsyncClient, path: str) -> None:
    assert "secret" not in (await site.get(path, headers=PAGE)).text


async def test_a_ui_that_was_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    transport = httpx2.ASGITransport(app=Pages(tmp_path))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        answer = await client.get("/", headers=PAGE)
    assert answer.status_code == 503
    assert "scripts/web.sh" in answer.text
