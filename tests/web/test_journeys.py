"""What a person does in the browser, from an empty home to a merged pull request."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, builds, calls, git, make_repository, says
from tests.web.pages import open_panel, status

SLOW = {
    "when": {"role": "build"},
    "replies": [
        {
            "say": "one two three four five six seven eight",
            "delay_seconds": 2,
            **calls("shell", command="true"),
        },
        calls("write_file", path="adder.py", content=FIXED),
        {"say": "That was all.", "delay_seconds": 0.5},
    ],
}
LASTING = {"when": {"role": "build"}, "replies": [calls("shell", command="sleep 600"), says("Done.")]}


def shown_texts(page: Page) -> list[str]:
    """The whole story, on a screen that is tall enough for it."""
    page.set_viewport_size({"width": 1360, "height": 4000})
    log = page.get_by_role("log")
    expect(log.locator("[data-index]")).to_have_count(int(log.get_attribute("data-count") or 0))
    return log.locator("[data-index]").all_inner_texts()


def test_from_an_empty_home_to_a_merged_pull_request(page: Page, tmp_path: Path) -> None:
    (home := tmp_path / "home").mkdir()
    with Product(home) as product:
        page.goto(product.url)
        page.get_by_role("button", name="Use the sample").click()
        expect(page.get_by_label("Task")).to_have_value(re.compile("last-page"))
        page.get_by_role("button", name="Connect & verify").click()
        expect(page.get_by_text("Connected to")).to_be_visible()
        page.get_by_role("button", name="Start").click()
        page.wait_for_url("**/orders/wo-*")
        status(page, "Completed")
        log = page.get_by_role("log")
        for phase in ("Implementing", "Testing"):
            expect(log.get_by_role("heading", name=phase)).to_be_visible()
        result = log.get_by_role("region", name="Result")
        expect(result.get_by_text("unittest: 10 passed")).to_be_visible()
        expect(page.get_by_label("Changed files")).to_be_visible()
        open_panel(page, "Plan")
        expect(page.get_by_text("Round the page count up, done")).to_be_attached()
        open_panel(page, "Checks")
        expect(page.get_by_text("Attempt 1 passed")).to_be_visible()
        open_panel(page, "Changes")
        expect(page.get_by_label("Changed files").get_by_text("test_pages.py")).to_be_visible()
        open_panel(page, "Pull request")
        result.get_by_role("button", name="Mark ready for review").click()
        expect(log.get_by_text("PR #1 is ready for review")).to_be_visible()
        page.get_by_role("complementary").get_by_role("link", name="#1").click()
        page.get_by_role("button", name="Merge into main").click()
        page.get_by_role("dialog").get_by_role("button", name="Merge").click()
        expect(page.get_by_text("Merged", exact=True)).to_be_visible()
        sample = home / "samples" / "pager"
        assert git(sample, "log", "-1", "--format=%s", "main").startswith("Merge pull request #1")
        assert git(sample, "status", "--porcelain") == ""


def test_a_reload_and_a_second_tab_show_the_same_story(
    product: Product, context: BrowserContext, page: Page, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    order = product.submit(repository, product.script("slow", SLOW), workflow_type="agent_workflow_build")
    page.goto(f"{product.url}/orders/{order}")
    expect(page.get_by_text("one two three")).to_be_visible()
    second = context.new_page()
    second.goto(page.url)
    page.reload()
    for tab in (page, second):
        tab.bring_to_front()
        status(tab, "Completed")
        expect(tab.get_by_role("log").get_by_text("Completed", exact=True)).to_be_visible()
        expect(tab.get_by_text("That was all.")).to_have_count(1)
    assert shown_texts(page) == shown_texts(second)


def test_a_page_survives_the_servers_death_without_a_gap_or_a_repetition(page: Page, tmp_path: Path) -> None:
    (home := tmp_path / "home").mkdir()
    repository = make_repository(tmp_path / "adder")
    with Product(home) as product:
        order = product.submit(repository, product.script("slow", SLOW), workflow_type="agent_workflow_build")
        page.goto(f"{product.url}/orders/{order}")
        expect(page.get_by_text("one two three")).to_be_visible()
        port = product.url.rpartition(":")[2]
        product.kill()
        expect(page.get_by_text("Connection lost")).to_be_visible()
        expect(page.get_by_text("one two three")).to_be_visible()
        again = Product(home, JOURNEYMAN_PORT=port)
        with again:
            status(page, "Completed")
            expect(page.get_by_role("log").get_by_text("Completed", exact=True)).to_be_visible()
            expect(page.get_by_text("Connection lost")).to_have_count(0)
            live = shown_texts(page)
            page.reload()
            status(page, "Completed")
            expect(page.get_by_role("log").get_by_text("Completed", exact=True)).to_be_visible()
            assert shown_texts(page) == live


def test_a_page_that_was_never_opened_waits_for_the_server(product: Product, page: Page) -> None:
    page.route("**/settings-page-*.js", lambda route: route.abort())
    page.goto(product.url)
    expect(page.get_by_role("heading", name="What should be done?")).to_be_visible()
    for address in ("**/health", "**/api/**"):
        page.route(address, lambda route: route.abort())
    page.evaluate("window.isSame = true")
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_text("Connection lost")).to_be_visible()
    expect(page.get_by_label("Loading")).to_be_visible()
    page.unroute_all()
    expect(page.get_by_role("heading", name="Theme")).to_be_visible()
    assert page.evaluate("window.isSame")


def test_a_person_approves_in_the_inbox(product: Product, page: Page, tmp_path: Path) -> None:
    model = product.script("fix", builds(FIXED))
    order = product.submit(
        make_repository(tmp_path / "adder"), model, workflow_type="gated", initial_prompt="Release it"
    )
    product.finish(order)
    page.goto(f"{product.url}/inbox")
    expect(page).to_have_title(re.compile(r"^\(\d+\) "))
    entry = page.locator("main section").filter(has=page.get_by_role("link", name="Release it")).last
    entry.get_by_role("button", name="Show plan, evidence and changes").click()
    expect(entry.get_by_label("Changed files").get_by_text("adder.py")).to_be_visible()
    entry.get_by_role("button", name="Approve").click()
    page.get_by_role("dialog").get_by_label("Comment").fill("Go")
    page.get_by_role("dialog").get_by_role("button", name="Approve").click()
    page.get_by_role("link", name="Release it", exact=True).click()
    status(page, "Completed")
    expect(page.get_by_role("log").get_by_text("“Go”")).to_be_visible()


def test_rejecting_by_key_fails_the_step(product: Product, page: Page, tmp_path: Path) -> None:
    model = product.script("fix", builds(FIXED))
    order = product.submit(make_repository(tmp_path / "adder"), model, workflow_type="gated")
    product.finish(order)
    page.goto(f"{product.url}/orders/{order}")
    expect(page.get_by_role("region", name="Approval")).to_be_visible()
    page.keyboard.press("r")
    page.get_by_role("dialog").get_by_role("button", name="Reject").click()
    status(page, "Failed")


def test_a_step_is_sent_back_with_a_comment(product: Product, page: Page, tmp_path: Path) -> None:
    reworked = builds("def add(a, b):\n    return b + a\n", "Turn it round")
    model = product.script("reworked", reworked, builds(FIXED))
    order = product.submit(make_repository(tmp_path / "adder"), model, workflow_type="gated")
    product.finish(order)
    page.goto(f"{product.url}/orders/{order}")
    page.get_by_role("button", name="Reject").click()
    page.get_by_role("dialog").get_by_label("Comment").fill("Turn it round")
    page.get_by_role("dialog").get_by_role("button", name="Send back for rework").click()
    expect(page.get_by_role("log").get_by_text("“Turn it round”")).to_be_visible()
    expect(page.get_by_role("region", name="Approval")).to_be_visible()
    status(page, "Awaiting approval")


def test_a_running_order_is_cancelled(product: Product, page: Page, tmp_path: Path) -> None:
    model = product.script("lasting", LASTING)
    order = product.submit(make_repository(tmp_path / "adder"), model, workflow_type="agent_workflow_build")
    page.goto(f"{product.url}/orders/{order}")
    expect(page.get_by_role("button", name=re.compile("sleep 600"))).to_be_visible()
    expect(page.get_by_role("button", name="Model scripted/lasting")).to_be_disabled()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel the order").click()
    status(page, "Cancelled")
    assert product.order(order)["status"] == "cancelled"


def test_a_failure_says_why_and_a_retry_ends_well(product: Product, page: Page, tmp_path: Path) -> None:
    model = product.script("weak", PLANS, {"when": {"role": "build"}, "replies": [{"fault": "refusal"}]})
    order = product.submit(make_repository(tmp_path / "adder"), model)
    page.goto(f"{product.url}/orders/{order}")
    status(page, "Failed")
    expect(page.get_by_text("The agent could not finish.")).to_be_visible()
    expect(page.get_by_text("Kept:")).to_be_visible()
    product.script("weak", PLANS, builds(FIXED))
    page.get_by_role("region", name="What helps").get_by_role("button", name="Retry").click()
    status(page, "Completed")


def test_prompts_queue_while_it_runs_and_can_be_taken_back(
    product: Product, page: Page, tmp_path: Path
) -> None:
    order = product.submit(
        make_repository(tmp_path / "adder"),
        product.script("lasting", LASTING),
        workflow_type="agent_workflow_build",
    )
    page.goto(f"{product.url}/orders/{order}")
    box = page.get_by_role("textbox", name="Message")
    for text in ("Then this", "And that"):
        box.fill(text)
        box.press("Enter")
        expect(page.get_by_label("Queued messages").get_by_text(text)).to_be_visible()
    page.get_by_role("button", name="Withdraw: Then this").click()
    expect(page.get_by_label("Queued messages").get_by_role("listitem")).to_have_text(["And that"])
    box.fill("/ca")
    box.press("Enter")
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel the order").click()
    status(page, "Cancelled")


def test_comments_on_lines_go_to_the_agent_as_one_prompt(
    product: Product, page: Page, tmp_path: Path
) -> None:
    model = product.script(
        "reviewed", builds("def add(a, b):\n    return b + a\n", "Review comments"), builds(FIXED)
    )
    order = product.submit(make_repository(tmp_path / "adder"), model, workflow_type="agent_workflow_build")
    product.finish(order)
    page.goto(f"{product.url}/orders/{order}?panel=changes")
    for text in ("Name the operands", "Say why"):
        page.get_by_role("button", name="Comment on adder.py").click()
        page.get_by_label("Comment", exact=True).fill(text)
        page.get_by_role("button", name="Add comment").click()
    expect(page.get_by_text("2 comments")).to_be_visible()
    page.get_by_role("button", name="Send to agent").click()
    expect(page.get_by_role("log").get_by_text("adder.py\n  Say why")).to_be_visible()
    expect(page.get_by_text("2 comments")).to_have_count(0)
    sent = page.get_by_role("region", name="Review comments")
    expect(sent.get_by_text(re.compile("^Addressed in [0-9a-f]{8}$"))).to_have_count(2)
    status(page, "Completed")


def test_an_order_is_renamed_and_found(product: Product, page: Page, tmp_path: Path) -> None:
    model = product.script("fix", builds(FIXED))
    order = product.submit(make_repository(tmp_path / "adder"), model, workflow_type="agent_workflow_build")
    product.finish(order)
    page.goto(f"{product.url}/orders/{order}")
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Title").fill("A quite unusual name")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="A quite unusual name")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_url("**/orders")
    page.get_by_label("Search orders").fill("unusual")
    expect(page.get_by_text("1 order", exact=True)).to_be_visible()
    page.get_by_label("Search orders").blur()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/orders/{order}")
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Search or run a command…").fill("settings")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()


@pytest.mark.parametrize(
    ("address", "refusal"),
    [("/nowhere/at/all", "there is no directory"), ("https://user:pw@github.com/a/b", "")],
)
def test_a_repository_that_cannot_be_worked_on_says_why(
    product: Product, page: Page, address: str, refusal: str
) -> None:
    page.goto(product.url)
    page.get_by_label("Repository").fill(address)
    page.get_by_role("button", name="Connect & verify").click()
    answer = page.locator("#repository-answer .text-destructive")
    expect(answer).to_have_text(re.compile(refusal or ".+"))
