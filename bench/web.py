"""The order page in a real browser, with 5,000 events, beside the same events in a plain page.

The plain page is the floor: one document from a server, a line for each thing that happened, nothing to load
and nothing to run. Both are opened by the same browser, taking turns. Memory is the script's heap after a
collection.
"""

import html
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, expect, sync_playwright

from bench.measuring import Row, Table, asked_to_be_quick
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, builds, make_repository
from tests.web.long_orders import append_events, many_events

_EVENTS = 5000
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
_OPEN = """async button => {
  const from = performance.now()
  button.click()
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
  return performance.now() - from
}"""
_SCROLL = """async box => {
  const times = []
  for (let step = 0; step < 30; step++) {
    const from = performance.now()
    box.scrollTop = box.scrollHeight * step / 30
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)))
    times.push(performance.now() - from)
  }
  return times.sort((a, b) => a - b)[27]
}"""


def main() -> int:
    repetitions = 3 if asked_to_be_quick(__doc__ or "") else 9
    table = Table(f"The page of an order with {_EVENTS:,} events")
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        place = Path(directory)
        (place / "home").mkdir()
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        with Product(place / "home") as product:
            model = product.script("built", builds(FIXED))
            order = product.submit(make_repository(place / "a"), model, workflow_type="agent_workflow_build")
            product.finish(order)
            append_events(product, order, list(many_events(_EVENTS)))
            with plain_page() as plain_url:
                addresses = {"ours": f"{product.url}/orders/{order}", "plain": plain_url}
                figures: dict[str, list[dict[str, float]]] = {"ours": [], "plain": []}
                for _ in range(repetitions):
                    for name, address in addresses.items():
                        figures[name].append(measured(browser, address))
        browser.close()
    for what, unit in (
        ("first paint", "ms"),
        ("all events there", "ms"),
        ("open a tool call", "ms"),
        ("scroll, p90 of a frame", "ms"),
        ("memory of the script", "MB"),
        ("elements in the page", ""),
    ):
        ours, other = (median(one[what] for one in figures[name]) for name in ("ours", "plain"))
        table.add(Row(what, ours, other, "plain page", unit))
    return table.finish()


def measured(browser: Browser, address: str) -> dict[str, float]:
    page = browser.new_page(viewport={"width": 1360, "height": 900})
    page.goto(address)
    expect(page.get_by_text("Done 999.")).to_be_attached(timeout=60_000)
    arrived: float = page.evaluate("performance.now()")
    box = page.get_by_role("log")
    figures: dict[str, float] = {
        "first paint": page.evaluate(_PAINT),
        "all events there": arrived,
        "open a tool call": box.get_by_text("echo 999").evaluate(_OPEN),
        "scroll, p90 of a frame": box.evaluate(_SCROLL),
        "elements in the page": page.evaluate("document.querySelectorAll('*').length"),
        "memory of the script": heap_megabytes(page),
    }
    page.close()
    return figures


def heap_megabytes(page: Page) -> float:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    return float(used) / 1_000_000


@contextmanager
def plain_page() -> Iterator[str]:
    lines = []
    for event in many_events(_EVENTS):
        if event.type == "agent_text":
            lines.append(f"<p>{html.escape(event.text)}</p>")
        elif event.type == "tool_call_started":
            lines.append(f"<details><summary>shell {event.arguments['command']}</summary>")
        elif event.type == "tool_call_completed":
            lines.append(f"<pre>{html.escape(event.output)}</pre></details>")
    style = "<style>body{margin:0}main{height:100vh;overflow-y:auto}</style>"
    document = f"<!doctype html><title>Order</title>{style}<main role=log>{''.join(lines)}</main>".encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(document)))
            self.end_headers()
            self.wfile.write(document)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


if __name__ == "__main__":
    raise SystemExit(main())
