"""The two phases of an environment in the whole product: what each may reach and see, and what they share."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.faults.waiting import wait_for
from tests.git.repositories import processes_about
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, calls, git, make_repository, says
from tests.journeys.rounds import control, finish_round, prompt
from tests.standins.upstream_proxy import UpstreamProxy, upstream_proxy

ONE_STEP = "name: one_step\nsteps:\n  - {name: build, kind: build}\n"
CHECKED = f"{ONE_STEP}  - {{name: verify, kind: verify, depends_on: [build]}}\n".replace(
    "one_step", "checked"
)
HELD = "files.packages.example"
SECRET = "correct-horse-battery"


def fetch(host: str) -> str:
    """A command that prints what a host answers."""
    return f"python3 -c \"import urllib.request as r; print(r.urlopen('http://{host}/tool').read())\""


@pytest.fixture(scope="module")
def upstream() -> Iterator[UpstreamProxy]:
    with upstream_proxy() as proxy:
        yield proxy


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory, upstream: UpstreamProxy) -> Iterator[Product]:
    home = tmp_path_factory.mktemp("network") / "home"
    (home / "workflows").mkdir(parents=True)
    (home / "workflows" / "one_step.yaml").write_text(ONE_STEP)
    (home / "workflows" / "checked.yaml").write_text(CHECKED)
    with Product(
        home,
        JOURNEYMAN_ENVIRONMENT_SETUP="auto",
        JOURNEYMAN_ENVIRONMENT_PROBLEMS="ask",
        JOURNEYMAN_ENVIRONMENT_SECRETS=f'{{"DEPLOY_TOKEN": "{SECRET}"}}',
        JOURNEYMAN_UPSTREAM_PROXY=upstream.url,
        JOURNEYMAN_SETUP_HOSTS=HELD,
    ) as running:
        yield running


def defined(path: Path, definition: str, **files: str) -> Path:
    repository = make_repository(path)
    for name, content in {
        ".journeyman/environment.yaml": definition,
        ".gitignore": ".venv/\n",
        **files,
    }.items():
        place = repository / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(content)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Say what it needs")
    return repository


def builds_with(*commands: str) -> dict[str, Any]:
    shells = [calls("shell", command=command) for command in commands]
    return {
        "when": {"role": "build"},
        "replies": [*shells, calls("write_file", path="adder.py", content=FIXED), says("Done.")],
    }


def of_kind(product: Product, order_id: str, kind: str) -> list[dict[str, Any]]:
    return [one for one in product.events(order_id) if one["type"] == kind]


def printed(product: Product, order_id: str) -> str:
    """What the agent's commands printed."""
    return "\n".join(str(one["output"]) for one in of_kind(product, order_id, "tool_call_completed"))


def allow(product: Product, order_id: str, host: str, scope: str) -> None:
    path = f"/api/agent-work-orders/{order_id}/network/allow"
    answer = product.request("POST", path, json={"host": host, "scope": scope})
    assert answer.status_code == 200, answer.text


def test_a_person_allows_a_host_and_the_set_up_goes_on(product: Product, tmp_path: Path) -> None:
    install = f"mkdir -p .venv && {fetch('tools.packages.example')} > .venv/tool"
    repository = defined(tmp_path / "adder", f"install: {json.dumps([install])}\nchecks: {{test: 'true'}}\n")
    model = product.script("reads", builds_with("cat .venv/tool"))
    order_id = product.submit(repository, model, workflow_type="one_step")
    asked = product.finish(order_id)
    assert (asked["status"], asked["error_category"]) == ("paused", "environment"), asked
    assert "tools.packages.example" in asked["error_message"]
    [denied] = of_kind(product, order_id, "network_denied")
    assert (denied["host"], denied["phase"], denied["may_be_allowed"]) == (
        "tools.packages.example",
        "setup",
        True,
    )
    assert denied["command"] == install
    assert asked["tokens_in"] == 0
    allow(product, order_id, "tools.packages.example", "repository")
    control(product, order_id, "resume")
    assert product.finish(order_id)["status"] == "completed"
    assert "from tools.packages.example" in printed(product, order_id)
    [ready] = of_kind(product, order_id, "environment_ready")
    other = product.submit(repository, model, workflow_type="one_step")
    assert product.finish(other)["status"] == "completed"
    [reused] = of_kind(product, other, "environment_ready")
    assert (reused["layer"], reused["reused"]) == (ready["layer"], True)


def test_an_agent_reaches_what_its_definition_names_and_what_is_allowed_to_its_order(
    product: Product, tmp_path: Path
) -> None:
    repository = defined(
        tmp_path / "adder", "network: {agent: [docs.packages.example]}\nchecks: {test: 'true'}\n"
    )
    tries = fetch("other.packages.example")
    model = product.script("tries", builds_with(fetch("docs.packages.example"), tries))
    order_id = product.submit(repository, model, workflow_type="one_step")
    assert product.finish(order_id)["status"] == "completed"
    said = printed(product, order_id)
    assert "from docs.packages.example" in said
    assert "from other.packages.example" not in said
    [denied] = of_kind(product, order_id, "network_denied")
    assert (denied["host"], denied["phase"], denied["step"]) == ("other.packages.example", "agent", "build")
    assert denied["command"] == tries
    allow(product, order_id, "other.packages.example", "order")
    prompt(product, order_id, "Once more")
    finish_round(product, order_id, 2)
    assert "from other.packages.example" in printed(product, order_id)
    other = product.submit(repository, model, workflow_type="one_step")
    product.finish(other)
    assert "from other.packages.example" not in printed(product, other)


SECRET_INSTALL = """install:
  - mkdir -p .venv && test -n "$DEPLOY_TOKEN" && touch .venv/had-it
secrets: [DEPLOY_TOKEN]
secrets_in_agent_phase: true
checks: {test: 'true'}
"""


def test_a_secret_reaches_agents_only_where_the_owner_agreed(product: Product, tmp_path: Path) -> None:
    repository = defined(tmp_path / "adder", SECRET_INSTALL)
    looks = 'ls .venv; printf %s "$DEPLOY_TOKEN" | wc -c; env | grep -c DEPLOY; true'
    model = product.script("looks", builds_with(looks))
    order_id = product.submit(repository, model, workflow_type="one_step")
    order = product.finish(order_id)
    assert order["status"] == "completed", order["error_message"]
    assert "had-it\n0\n0" in printed(product, order_id)
    record = product.request("POST", "/api/repositories", json={"repository_url": str(repository)}).json()
    place = f"/api/repositories/{record['repository']['repository_id']}/environment"
    assert product.request("PUT", place, json={"definition": SECRET_INSTALL}).status_code == 200
    agreed = product.submit(repository, model, workflow_type="one_step")
    assert product.finish(agreed)["status"] == "completed"
    assert f"had-it\n{len(SECRET)}\n1" in printed(product, agreed)
    assert all(SECRET not in str(event) for one in (order_id, agreed) for event in product.events(one))


SERVED = """import http.server
class Served(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"served by the project")
http.server.HTTPServer(("127.0.0.1", 8123), Served).serve_forever()
"""
ASKS_SERVICE = "python3 -c \"import urllib.request as r; print(r.urlopen('http://127.0.0.1:8123').read())\""


def test_a_service_is_ready_for_agents_and_checks_and_ends_with_their_sandboxes(
    product: Product, tmp_path: Path
) -> None:
    start = [{"command": f"python3 served.py {tmp_path.name}", "ready": ASKS_SERVICE}]
    definition = f"start: {json.dumps(start)}\nchecks: {{test: {json.dumps(ASKS_SERVICE)}}}\n"
    repository = defined(tmp_path / "adder", definition, **{"served.py": SERVED})
    model = product.script("serves", builds_with(ASKS_SERVICE))
    order_id = product.submit(repository, model, workflow_type="checked")
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    assert "served by the project" in printed(product, order_id)
    wait_for(lambda: not processes_about(Path(tmp_path.name), "served.py"), "the end of the service")


def test_ten_orders_at_once_make_one_layer(product: Product, tmp_path: Path) -> None:
    repository = defined(tmp_path / "adder", "install: ['mkdir -p .venv && echo installed > .venv/tool']\n")
    model = product.script("finds", builds_with("cat .venv/tool; echo mine > .venv/tool; cat .venv/tool"))
    with ThreadPoolExecutor(10) as pool:
        orders = list(
            pool.map(lambda _: product.submit(repository, model, workflow_type="one_step"), range(10))
        )
    assert [product.finish(order)["status"] for order in orders] == ["completed"] * 10
    assert sum(len(of_kind(product, order, "environment_setup_started")) for order in orders) == 1
    ready = [of_kind(product, order, "environment_ready")[0] for order in orders]
    assert len({one["layer"] for one in ready}) == 1
    assert sorted(one["reused"] for one in ready) == [False, *[True] * 9]
    assert all("installed\nmine" in printed(product, order) for order in orders)


def test_orders_go_on_when_the_server_is_killed_while_it_makes_their_layer(
    product: Product, upstream: UpstreamProxy, tmp_path: Path
) -> None:
    install = f"mkdir -p .venv && {fetch(HELD)} > .venv/tool"
    repository = defined(tmp_path / "adder", f"install: {json.dumps([install])}\n")
    model = product.script("finds", builds_with("cat .venv/tool"))
    upstream.asked.clear()
    upstream.answers.clear()
    orders = [product.submit(repository, model, workflow_type="one_step") for _ in range(2)]
    wait_for(lambda: upstream.asked, "the install command that fetches a tool")
    product.kill()
    upstream.answers.set()
    product.start()
    for order in orders:
        assert product.finish(order)["status"] == "completed"
        assert f"from {HELD}" in printed(product, order)
    layers = {of_kind(product, order, "environment_ready")[0]["layer"] for order in orders}
    assert len(layers) == 1
    assert list((product.home / "layers" / ".making").iterdir()) == []


def test_what_an_agents_branch_installs_reaches_no_order_of_another_branch(
    product: Product, tmp_path: Path
) -> None:
    """An agent changes a file that is run by one that the install command names: no key knows of it."""
    definition = "install: ['mkdir -p .venv && sh tools.sh > .venv/tool']\nchecks: {test: 'true'}\n"
    repository = defined(
        tmp_path / "adder", definition, **{"tools.sh": "sh inner.sh\n", "inner.sh": "echo honest\n"}
    )
    poisons = {
        "when": {"role": "build"},
        "replies": [calls("write_file", path="inner.sh", content="echo poisoned\n"), says("Done.")],
    }
    order_id = product.submit(repository, product.script("poisons", PLANS, poisons))
    branch = product.finish(order_id)["git_branch_name"]
    for layer in (product.home / "layers").glob("[0-9a-f]*"):
        layer.rename(tmp_path / layer.name)  # as if it had been removed to make room
    model = product.script("reads", builds_with("cat .venv/tool"))
    stacked = product.submit(repository, model, workflow_type="one_step", base_branch=branch)
    product.finish(stacked)
    assert "poisoned" in printed(product, stacked)
    other = product.submit(repository, model, workflow_type="one_step")
    product.finish(other)
    assert "honest" in printed(product, other)
    assert "poisoned" not in printed(product, other)
