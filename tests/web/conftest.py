"""A real browser on the real product: the UI as it was built, Chromium without a head, the scripted model."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    ViewportSize,
    WebError,
    expect,
    sync_playwright,
)

from tests.house.source import ROOT
from tests.journeys.product import Product
from tests.parts import find_chromium

_LONGEST_WAIT_MS = 120_000
_SCREEN: ViewportSize = {"width": 1360, "height": 900}
expect.set_options(timeout=_LONGEST_WAIT_MS)


@pytest.fixture(scope="session")
def chromium() -> str:
    found = find_chromium()
    assert found, "there is no Chromium; run `make setup`"
    return found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Closed with its module: while it is open its event loop keeps every asynchronous test from running."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    """The UI of these sources."""
    subprocess.run([ROOT / "scripts" / "web.sh"], check=True, capture_output=True)


GATED = """name: gated
steps:
  - {name: build, kind: build}
  - {name: release, kind: shell, depends_on: [build], requires_approval: true, command: "echo 1 > out.txt"}
  - {name: publish, kind: open_pull_request, depends_on: [release]}
"""
PRICES = {"scripted/priced": {"input": 1000, "output": 2000}}


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """One server for all who do not need one of their own; they look at nothing but their own orders."""
    home: Path = tmp_path_factory.mktemp("web") / "home"
    (home / "workflows").mkdir(parents=True)
    (home / "workflows" / "gated.yaml").write_text(GATED)
    money = {"JOURNEYMAN_MODEL_PRICES": json.dumps(PRICES), "JOURNEYMAN_BUDGET_PER_DAY_USD": "5000"}
    with Product(home, **money) as product:
        yield product


@pytest.fixture(scope="module")
def _profile(browser: Browser) -> Iterator[BrowserContext]:
    """What one person's tabs share. The program is fetched and read once for all tests of a module."""
    context = browser.new_context(viewport=_SCREEN, reduced_motion="reduce")
    context.set_default_timeout(_LONGEST_WAIT_MS)
    yield context
    context.close()


@pytest.fixture
def context(_profile: BrowserContext) -> Iterator[BrowserContext]:
    """A browser that remembers nothing of the tests before; what goes wrong on a page fails the test."""
    faults: list[str] = []

    def note(fault: WebError) -> None:
        faults.append(str(fault.error))

    _profile.on("weberror", note)
    yield _profile
    for page in _profile.pages:
        if page.url.startswith("http"):
            page.evaluate("localStorage.clear()")
        page.close()
    _profile.clear_permissions()
    _profile.remove_listener("weberror", note)
    assert faults == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()
