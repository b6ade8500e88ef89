"""Make the pictures of the README and the documentation, from the product as it is.

`scripts/screenshots.sh` runs it. The orders in them are real ones, of the scripted model.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.house.source import ROOT
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, NEVER, PLANS, builds, make_repository
from tests.web.conftest import GATED
from tests.web.pages import open_panel, status

IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1360, "height": 850}


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        home = Path(directory) / "home"
        (home / "workflows").mkdir(parents=True)
        (home / "workflows" / "gated.yaml").write_text(GATED)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=["--no-sandbox"]
        )
        with Product(home) as product:
            page = browser.new_page(viewport=SIZE, device_scale_factor=1.5)  # type: ignore[arg-type]
            picture_all(page, product, Path(directory))
        browser.close()


def picture_all(page: Page, product: Product, places: Path) -> None:
    page.goto(product.url)
    page.get_by_role("button", name="Use the sample").click()
    expect(page.get_by_text("Connected to")).to_be_visible()
    picture(page, "home")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("log").get_by_text("Round the page count up").first).to_be_visible(timeout=60_000)
    picture(page, "order-running")
    page.wait_for_url("**/orders/wo-*")
    status(page, "Completed")
    open_panel(page, "Changes")
    expect(page.get_by_text("unmodified lines").first).to_be_visible()
    picture(page, "order")
    open_panel(page, "Checks")
    picture(page, "checks")
    fix = product.script("fix", PLANS, builds(FIXED))
    waits = {"workflow_type": "gated", "initial_prompt": "Release the adder"}
    for order in (
        product.submit(make_repository(places / "adder"), fix, **waits),
        product.submit(make_repository(places / "counter", NEVER), fix, initial_prompt="Make counting exact"),
    ):
        product.finish(order)
    for name in ("inbox", "orders", "settings"):
        page.goto(f"{product.url}/{name}")
        expect(page.get_by_label("Loading")).to_have_count(0)
        picture(page, name)
    page.goto(f"{product.url}/workflows/agent_workflow_plan_build_test")
    expect(page.locator(".react-flow__node").first).to_be_visible()
    picture(page, "workflow")
    page.goto(f"{product.url}/local-forge/pull-requests/1")
    expect(page.get_by_label("Changed files")).to_be_visible()
    picture(page, "pull-request")
    page.emulate_media(color_scheme="dark")
    page.goto(product.url)
    expect(page.get_by_role("heading", name="Recent")).to_be_visible()
    picture(page, "home-dark")


def picture(page: Page, name: str) -> None:
    page.wait_for_load_state("networkidle") if name != "order-running" else None
    page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")
    sys.stdout.write(f"docs/images/{name}.png\n")


if __name__ == "__main__":
    main()
