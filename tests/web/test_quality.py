"""Long stories, hostile words, small screens, and people who use no mouse or see otherwise."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, NEVER, PLANS, builds, calls, make_repository, says
from tests.web.long_orders import append_events, many_events
from tests.web.pages import open_panel, settled, status, violations

HOSTILE = (
    '<img src=x onerror="window.owned=1"><script>window.owned=1</script> '
    "[press me](javascript:window.owned=1) ![pixel](https://evil.example/pixel.png) "
    "<iframe src=https://evil.example></iframe> <a href=https://evil.example>out</a>"
)


COLOURFUL = '''"""Sums, and nothing else."""


def add(a: int, b: int = 0) -> int:
    # Both of them.
    return a + b
'''
"""Everything that is coloured in its own way in a diff."""


@pytest.fixture(scope="module")
def finished(product: Product, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An order in each state that a page can show."""
    places = tmp_path_factory.mktemp("repositories")
    fix = product.script("fix", PLANS, builds(COLOURFUL))
    orders = {
        "completed": product.submit(make_repository(places / "a"), fix),
        "failed": product.submit(make_repository(places / "b", NEVER), fix),
        "waiting": product.submit(make_repository(places / "c"), fix, workflow_type="gated"),
    }
    for order in orders.values():
        product.finish(order)
    return {**orders, "repository": _checked(product, places / "b")}


def _checked(product: Product, repository: Path) -> str:
    """A repository whose check found something to attend to."""
    known = product.request("POST", "/api/repositories", json={"repository_url": str(repository)}).json()
    repository_id: str = known["repository"]["repository_id"]
    begun = product.request("POST", f"/api/repositories/{repository_id}/environment/check", json={}).json()
    product.finish(begun["agent_work_order_id"])
    return repository_id


def test_five_thousand_events_are_drawn_only_where_they_are_seen(
    product: Product, page: Page, tmp_path: Path
) -> None:
    model = product.script("built", builds(FIXED))
    order = product.submit(make_repository(tmp_path / "long"), model, workflow_type="agent_workflow_build")
    product.finish(order)
    append_events(product, order, list(many_events(5000)))
    page.goto(f"{product.url}/orders/{order}")
    log = page.get_by_role("log")
    expect(log.get_by_text("Done 999.")).to_be_visible()
    rows = log.locator("[data-index]")
    assert rows.count() < 100
    log.evaluate("box => { box.scrollTop = 0 }")
    expect(log.get_by_text("Created branch")).to_be_visible()
    assert rows.count() < 100
    page.get_by_role("button", name="Jump to latest").click()
    expect(log.get_by_text("Done 999.")).to_be_visible()
    log.get_by_role("button", name="echo 999").click()
    expect(page.get_by_label("Output")).to_be_visible()


def test_hostile_words_stay_words(product: Product, page: Page, tmp_path: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    hostile_file = f"def add(a, b):\n    return a + b\n# {HOSTILE}\n"
    link = "\\033]8;;https://evil.example\\007link\\033]8;;\\007"
    terminal = f"printf '\\033[31mred\\033[0m {link} %s' '{HOSTILE}'"
    model = product.script(
        "hostile",
        {
            "when": {"role": "build"},
            "replies": [
                {"say": f"# {HOSTILE}\n\n{HOSTILE}", **calls("shell", command=terminal)},
                calls("write_file", path="adder.py", content=hostile_file),
                says(HOSTILE),
            ],
        },
    )
    order = product.submit(
        make_repository(tmp_path / "adder"),
        model,
        workflow_type="agent_workflow_build",
        initial_prompt=HOSTILE,
    )
    product.finish(order)
    page.goto(f"{product.url}/orders/{order}")
    status(page, "Completed")
    expect(page.get_by_text("[image: pixel]").first).to_be_visible()
    page.get_by_role("log").get_by_role("button", name="printf").click()
    expect(page.get_by_label("Output").get_by_text("red", exact=True)).to_be_visible()
    for panel in ("Changes", "Pull request", "Checks", "Plan"):
        open_panel(page, panel)
    open_panel(page, "Changes")
    expect(page.get_by_text("window.owned=1").last).to_be_visible()
    assert page.evaluate("window.owned") is None
    assert page.locator("img[src=x], iframe, [onerror]").count() == 0
    hrefs = page.locator("a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert [href for href in hrefs if not re.match(r"https?://|/|#", href)] == []
    assert [url for url in asked if not url.startswith(product.url)] == []
    leading_out = page.locator("a[href*='evil.example']").all()
    assert leading_out
    assert {link.get_attribute("rel") for link in leading_out} == {"noopener noreferrer nofollow"}


PAGES = [
    "/",
    "/inbox",
    "/orders",
    "/orders?status=cancelled",
    "/orders?page=9",
    "/repositories",
    "/repositories/{repository}",
    "/workflows",
    "/workflows/agent_workflow_plan_build_test",
    "/local-forge/pull-requests",
    "/local-forge/pull-requests/1",
    "/settings",
    "/nowhere",
    *(
        f"/orders/{{completed}}?panel={panel}"
        for panel in ("plan", "changes", "checks", "pull-request", "info")
    ),
    "/orders/{failed}",
    "/orders/{waiting}",
]


SHIFTS = """() => new Promise(done => {
    const shifts = []
    const observer = new PerformanceObserver(list => shifts.push(...list.getEntries()))
    observer.observe({type: 'layout-shift', buffered: true})
    requestAnimationFrame(() => setTimeout(() => done(
        shifts.filter(({hadRecentInput}) => !hadRecentInput).reduce((sum, {value}) => sum + value, 0)
    )))
})"""
_STEADY = 0.02
"""Of the layout shift score; 0.1 is what people begin to mind."""


def outside(page: Page) -> list[str]:
    """Controls that stand beyond the screen, where nothing scrolls to them."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('main button, main a, main input, nav a')].filter(one => {
            const box = one.getBoundingClientRect()
            const scrolls = one.closest('nav[aria-label=Panels], pre, [aria-label=Table], .react-flow')
            return box.width && !scrolls && (box.right > innerWidth + 1 || box.left < -1)
        }).map(one => one.textContent || one.ariaLabel)"""
    )
    return found


@pytest.mark.parametrize("address", PAGES)
def test_a_page_has_no_barrier_in_light_or_dark_holds_still_and_fits_a_small_screen(
    product: Product, page: Page, finished: dict[str, str], address: str
) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(product.url + address.format(**finished))
    settled(page)
    moved: float = page.evaluate(SHIFTS)
    barriers = violations(page)
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html.dark")).to_be_attached()
    # Nothing but colours depends on the theme.
    barriers += violations(page, "color-contrast")
    page.set_viewport_size({"width": 380, "height": 740})
    assert (barriers, outside(page)) == ([], [])
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    assert moved < _STEADY


def test_the_palette_and_the_map_of_keys_have_no_barrier(product: Product, page: Page) -> None:
    page.goto(product.url)
    settled(page)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_be_visible()
    barriers = violations(page)
    page.get_by_placeholder("Search or run a command…").fill("keyboard")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Keyboard shortcuts")).to_be_visible()
    assert barriers + violations(page) == []


def test_whoever_wants_less_motion_gets_none(product: Product, page: Page, finished: dict[str, str]) -> None:
    page.goto(f"{product.url}/orders/{finished['waiting']}")
    settled(page)
    moving = """() => document.getAnimations().filter(({effect}) => {
        const {duration, iterations} = effect.getComputedTiming()
        return duration > 1 || iterations === Infinity
    }).length"""
    assert page.evaluate(moving) == 0
