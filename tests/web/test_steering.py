"""What a person can do beside the story: begin again, fork, raise a budget, move by keys, be told."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, builds, calls, git, make_repository
from tests.web.pages import open_panel, status, violations

BUILD = "agent_workflow_build"
COSTLY = {
    "when": {"role": "build"},
    "replies": [
        {"say": "word " * 400, **calls("shell", command="true"), "repeat": 4},
        calls("write_file", path="adder.py", content=FIXED),
        {"say": "Done."},
    ],
}
HIDDEN = """() => {
  Object.defineProperty(document, 'hidden', {get: () => true})
  document.dispatchEvent(new Event('visibilitychange'))
}"""
TOLD = """
  window.told = []
  const Real = window.Notification
  window.Notification = class extends Real {
    constructor(title, options) {
      super(title, options)
      if (!/ for me$| by itself$/.test(title)) return
      this.addEventListener('show', () => window.told.push(`${title}: ${options.body}`))
    }
  }
"""


@pytest.fixture
def completed(product: Product, tmp_path: Path) -> str:
    model = product.script("fix", builds(FIXED))
    order = product.submit(make_repository(tmp_path / "adder"), model, workflow_type=BUILD)
    product.finish(order)
    return order


def test_a_fork_goes_its_own_way_from_a_step(product: Product, page: Page, completed: str) -> None:
    page.goto(f"{product.url}/orders/{completed}?panel=info")
    page.get_by_role("button", name="Fork from build").click()
    page.get_by_label("Task of the fork").fill("Add them the other way round")
    assert violations(page) == []
    page.get_by_role("dialog").get_by_role("button", name="Fork").click()
    page.wait_for_url(lambda url: "/orders/wo-" in url and completed not in url)
    status(page, "Completed")
    expect(page.get_by_role("log").get_by_text("Add them the other way round").first).to_be_visible()
    assert product.order(completed)["status"] == "completed"


def test_a_step_of_a_completed_order_is_done_again(product: Product, page: Page, completed: str) -> None:
    page.goto(f"{product.url}/orders/{completed}?panel=info")
    page.get_by_role("button", name="Again from build").click()
    expect(page.get_by_role("log").get_by_text("Retrying")).to_be_visible()
    status(page, "Completed")
    expect(page.get_by_role("log").get_by_text("Completed", exact=True)).to_have_count(2)


def test_a_spent_budget_is_raised_where_it_is_told_and_the_costs_add_up(
    product: Product, page: Page, tmp_path: Path
) -> None:
    model = product.script("priced", COSTLY)
    repository = make_repository(tmp_path / "adder")
    order = product.submit(repository, model, workflow_type=BUILD, budget_usd=4.5)
    page.goto(f"{product.url}/orders/{order}")
    page.get_by_label("New budget in dollars").fill("400")
    page.get_by_role("button", name="Raise budget").click()
    status(page, "Completed")
    open_panel(page, "Info")
    cost = product.get(f"/api/agent-work-orders/{order}/cost")["total"]["cost_usd"]
    spent = f"${cost:.2f}"
    agent = page.get_by_role("row", name=re.compile("agent builtin"))
    expect(agent.get_by_role("cell", name=spent)).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^Build")).get_by_role("cell", name=spent)).to_be_visible()
    page.get_by_role("button", name="Show the log").click()
    expect(page.get_by_label("Log", exact=True)).to_contain_text("agent_work_order_completed")
    page.goto(f"{product.url}/settings")
    expect(page.get_by_role("meter", name="Today")).to_be_visible()
    expect(page.get_by_text("of $5000.00")).to_be_visible()


def test_a_command_of_the_repository_is_called_from_the_box(
    product: Product, page: Page, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    (directory := repository / ".claude" / "commands").mkdir(parents=True)
    (directory / "turn.md").write_text(
        "---\ndescription: Turn a sum round\nargument-hint: [module]\n---\nTurn the module $1 round.\n"
    )
    (directory / "not good.md").write_text("Go.")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Bring commands")
    turned = builds("def add(a, b):\n    return b + a\n", contains="Turn the module adder round")
    order = product.submit(repository, product.script("turning", turned, builds(FIXED)), workflow_type=BUILD)
    product.finish(order)
    page.goto(f"{product.url}/orders/{order}")
    box = page.get_by_role("textbox", name="Message")
    box.press_sequentially("/tu")
    expect(page.get_by_role("listbox").get_by_text("Turn a sum round")).to_be_visible()
    expect(page.get_by_label("Commands that cannot be used")).to_contain_text("not good.md")
    assert violations(page) == []
    box.press("Enter")
    expect(page.get_by_role("status").get_by_text("/turn [module]")).to_be_visible()
    box.press_sequentially("adder")
    box.press("Enter")
    log = page.get_by_role("log")
    expect(log.get_by_text("Called /turn adder")).to_be_visible()
    expect(log.get_by_text("Completed", exact=True)).to_have_count(2)


def test_keys_open_panels_and_move_through_a_diff(product: Product, page: Page, completed: str) -> None:
    page.goto(f"{product.url}/orders/{completed}")
    status(page, "Completed")
    page.keyboard.press("2")
    file = page.get_by_role("button", name="adder.py", exact=True)
    expect(page.get_by_label("Changed files")).to_be_visible()
    page.keyboard.press("]")
    expect(page.locator("[data-file]").first).to_be_focused()
    assert file.count()
    page.keyboard.press("}")
    expect(page.locator("diffs-container [data-line-type=change-deletion]").last).to_be_in_viewport()
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Search or run a command…").fill("pull request")
    page.get_by_role("option", name=re.compile("^Pull request")).click()
    details = page.get_by_role("complementary", name="Details")
    expect(details.get_by_role("button", name="Mark ready for review")).to_be_visible()


def test_a_diff_gets_the_room_it_needs_and_shows_the_lines_it_left_out(
    product: Product, page: Page, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    long = [f"line_{number} = {number}\n" for number in range(60)]
    (repository / "long.py").write_text("".join(long))
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Bring a long file")
    changed = "".join([*long[:50], "line_50 = None\n", *long[51:]])
    writes = calls("write_file", path="long.py", content=changed)
    turn = {"when": {"role": "build"}, "replies": [writes, {"say": "Done."}]}
    order = product.submit(repository, product.script("long", turn), workflow_type=BUILD)
    product.finish(order)
    page.goto(f"{product.url}/orders/{order}?panel=changes")
    details = page.get_by_role("complementary", name="Details")
    before = details.bounding_box()
    page.get_by_role("separator", name="Width of the panel").focus()
    page.keyboard.press("ArrowLeft")
    wider = details.bounding_box()
    assert before
    assert wider
    assert wider["width"] > before["width"]
    file = page.get_by_role("region", name="long.py")
    expect(file.get_by_text("line_50 = None")).to_be_visible()
    expect(file.get_by_text("line_20 = 20")).to_have_count(0)
    file.get_by_role("button", name="Show hidden lines").first.press("Enter")
    expect(file.get_by_text("line_20 = 20").first).to_be_visible()
    page.keyboard.press("f")
    expect(page.get_by_role("log")).to_be_hidden()
    page.get_by_role("button", name="Side by side").click()
    expect(file.get_by_text("line_20 = 20")).to_have_count(2)
    code = file.get_by_text("line_50 = None").first
    assert code.evaluate("line => getComputedStyle(line).fontVariantLigatures") == "none"
    assert violations(page) == []


def test_a_person_who_looks_away_is_told_what_waits_and_what_ended(
    product: Product, context: BrowserContext, page: Page, tmp_path: Path
) -> None:
    context.grant_permissions(["notifications"])
    page.add_init_script(TOLD)
    page.goto(f"{product.url}/inbox")
    page.get_by_role("button", name="Notify me").click()
    expect(page.get_by_role("button", name="Notifications on")).to_be_visible()
    expect(page.get_by_label("Loading")).to_have_count(0)
    page.evaluate(HIDDEN)
    model = product.script("fix", builds(FIXED))
    waiting = {"workflow_type": "gated", "initial_prompt": "Wait for me"}
    ending = {"workflow_type": BUILD, "initial_prompt": "End by itself"}
    product.submit(make_repository(tmp_path / "waits"), model, **waiting)
    product.submit(make_repository(tmp_path / "ends"), model, **ending)
    page.wait_for_function("() => window.told.length >= 2")
    assert page.evaluate("window.told.toSorted()") == [
        "End by itself: Draft pull request",
        "Wait for me: Needs approval",
    ]
