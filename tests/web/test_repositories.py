"""A repository on the page: checked, read, its definition corrected, stored, tried and proposed."""

from pathlib import Path

from playwright.sync_api import Page, expect

from journeyman.events.types import NetworkDenied
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, builds, git, make_repository
from tests.web.long_orders import append_events
from tests.web.pages import settled, status, violations


def _fixed(path: Path) -> Path:
    made = make_repository(path)
    (made / "adder.py").write_text(FIXED)
    git(made, "commit", "-qam", "Add")
    return made


def test_a_repository_is_added_checked_and_ready(product: Product, page: Page, tmp_path: Path) -> None:
    made = _fixed(tmp_path / "ready")
    page.goto(f"{product.url}/repositories")
    page.get_by_role("textbox", name="Repository").fill(str(made))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="ready", exact=True)).to_be_visible()
    expect(page.get_by_text("Not checked yet")).to_be_visible()
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_text("Ready", exact=True)).to_be_visible()
    expect(page.get_by_role("cell", name="Passed")).to_be_visible()
    page.get_by_role("link", name="New order").click()
    expect(page.get_by_role("combobox", name="Repository")).to_have_value(made.as_uri())
    expect(page.get_by_role("link", name="Ready · checked")).to_be_visible()


def test_a_definition_is_corrected_stored_tried_and_proposed(
    product: Product, page: Page, tmp_path: Path
) -> None:
    made = _fixed(tmp_path / "defined")
    answer = product.request("POST", "/api/repositories", json={"repository_url": str(made)}).json()
    page.goto(f"{product.url}/repositories/{answer['repository']['repository_id']}")
    text = page.get_by_role("textbox", name="Definition")
    text.fill("install: []\nchekcs: {test: 'true'}\n")
    page.reload()
    expect(text).to_have_value("install: []\nchekcs: {test: 'true'}\n")
    page.get_by_role("button", name="Store on server").click()
    expect(page.get_by_role("button", name="Line 2")).to_be_visible()
    assert violations(page) == []
    text.fill("install: []\nchecks: {test: python3 -m unittest}\n")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_text("The definition that was tried works.")).to_be_visible()
    page.get_by_role("button", name="Store on server").click()
    expect(page.get_by_text("Stored on the server.")).to_be_visible()
    expect(page.get_by_text("Ready", exact=True)).to_be_visible()
    page.get_by_role("button", name="Open as pull request").click()
    expect(page.locator("header").get_by_text("Describe the environment")).to_be_visible()
    status(page, "Completed")
    expect(page.get_by_text("1 file changed").first).to_be_visible()


def test_a_file_with_mistakes_is_corrected_on_the_page_and_becomes_a_pull_request(
    product: Product, page: Page, tmp_path: Path
) -> None:
    made = _fixed(tmp_path / "wrong")
    (made / ".journeyman").mkdir()
    (made / ".journeyman" / "environment.yaml").write_text("install: []\ncheks: {test: 'true'}\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "Say what it needs")
    answer = product.request("POST", "/api/repositories", json={"repository_url": str(made)}).json()
    page.goto(f"{product.url}/repositories/{answer['repository']['repository_id']}")
    page.get_by_role("button", name="Check", exact=True).wait_for()
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="Line 2")).to_be_visible()
    text = page.get_by_role("textbox", name="Definition")
    expect(text).to_have_value("install: []\ncheks: {test: 'true'}\n")
    assert violations(page) == []
    text.fill("install: []\nchecks: {test: 'true'}\n")
    page.get_by_role("button", name="Open as pull request").click()
    status(page, "Completed")
    branch = git(made, "branch", "--list", "journeyman/*", "--format=%(refname:short)")
    assert "checks: {test: 'true'}" in git(made, "show", f"{branch}:.journeyman/environment.yaml")


def test_a_denied_host_is_allowed_on_the_page_of_its_order(
    product: Product, page: Page, tmp_path: Path
) -> None:
    model = product.script("network", builds(FIXED))
    order = product.submit(make_repository(tmp_path / "net"), model, workflow_type="agent_workflow_build")
    product.finish(order)
    denied = NetworkDenied(
        host="files.example",
        port=443,
        phase="agent",
        step="build",
        command="curl files.example",
        reason="it is not on the list",
        may_be_allowed=True,
    )
    append_events(product, order, [denied])
    page.goto(f"{product.url}/orders/{order}")
    settled(page)
    notice = page.get_by_role("region", name="Network")
    expect(notice.get_by_text("files.example", exact=True)).to_be_visible()
    assert violations(page) == []
    notice.get_by_role("button", name="Allow for this order").click()
    expect(notice).to_have_count(0)
    read = product.get(f"/api/agent-work-orders/{order}/network")
    assert [one["host"] for one in read["allowed"]] == ["files.example"]
