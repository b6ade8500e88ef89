"""What tests do on more than one page: look at the state, open a panel, look for barriers."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.house.source import ROOT

_AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"


def status(page: Page, word: str) -> None:
    """Wait until the header says so."""
    expect(page.locator("header").get_by_text(word, exact=True)).to_be_visible()


def open_panel(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Panels").get_by_role("button", name=name).locator(
        "visible=true"
    ).click()


def violations(page: Page, *rules: str) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE.read_text())
    asked = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found: dict[str, Any] = page.evaluate("asked => axe.run(document, asked)", asked)
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def settled(page: Page) -> None:
    """Wait until nothing on the page says that it is still loading."""
    expect(page.get_by_role("heading").or_(page.get_by_text("There is no such page")).first).to_be_visible()
    expect(page.get_by_label("Loading", exact=False)).to_have_count(0)
