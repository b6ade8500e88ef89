"""A forge that stumbles at any call: the order waits, and never makes a second pull request."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.oracle import violations
from tests.faults.stage import Customer, Stage
from tests.standins.github import Kind

CALLS = [
    ("GET", "/api/v3/repos/{slug}"),
    ("GET", "/{slug}.git/info/refs"),
    ("POST", "/{slug}.git/git-upload-pack"),
    ("POST", "/{slug}.git/git-receive-pack"),
    ("GET", "/api/v3/repos/{slug}/pulls"),
    ("POST", "/api/v3/repos/{slug}/pulls"),
    ("GET", "/api/v3/repos/{slug}/pulls/*"),
    ("PATCH", "/api/v3/repos/{slug}/pulls/*"),
]
"""Every call that an order makes."""


@pytest.mark.parametrize(
    "kind",
    [
        "reset_after_applying",
        pytest.param(500, marks=pytest.mark.lasting),
        pytest.param(429, marks=pytest.mark.lasting),
        pytest.param("reset", marks=pytest.mark.lasting),
        pytest.param("500_after_applying", marks=pytest.mark.lasting),
        pytest.param("timeout", marks=pytest.mark.lasting),
    ],
)
def test_a_forge_that_stumbles_at_any_call_is_asked_again(stage: Stage, kind: Kind) -> None:
    stage.product.start()
    customers = [Customer(stage, longest_wait=400) for _ in CALLS]
    for customer, (method, path) in zip(customers, CALLS, strict=True):
        # The first look at the refs is the question whether a push would be let in.
        times = 2 if path.endswith("/info/refs") else 1
        stage.github.fail(method, path.format(slug=customer.site.slug), kind, times)
    with ThreadPoolExecutor(len(customers)) as pool:
        orders = list(pool.map(Customer.see_through, customers))
    for customer, order, call in zip(customers, orders, CALLS, strict=True):
        assert (order["status"], customer.retries) == ("completed", 0), (call, order)
        assert violations(customer) == [], call
        assert any(one.fault for one in stage.github.requests if customer.site.slug in one.path), call


def test_a_push_that_is_rejected_keeps_the_work_until_it_is_let_in(stage: Stage) -> None:
    stage.product.start()
    customer = Customer(stage)
    hook = customer.site.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho protected >&2\nexit 1\n")
    hook.chmod(0o755)
    customer.hand_in()
    order = stage.product.finish(customer.order_id)
    assert (order["status"], order["error_category"]) == ("failed", "permission"), order
    assert order["git_commit_count"] == 3
    assert stage.github.pull_requests == []
    hook.unlink()
    order = customer.see_through()
    assert order["status"] == "completed", order
    assert violations(customer) == []
