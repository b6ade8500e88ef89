"""What trusts no status: a round that breaks off is found, though the order says that it is running."""

from tests.faults.oracle import told_of, violations
from tests.faults.stage import Customer, Stage


def test_a_round_that_breaks_off_is_noticed_and_begun_again(stage: Stage) -> None:
    stage.product.start(JOURNEYMAN_FAILPOINTS="teardown_started=raise")
    customer = Customer(stage)
    order = customer.see_through()
    assert (order["status"], customer.retries) == ("completed", 0), order
    told = told_of(stage, customer.order_id, customer.site.url)
    requeued = [event["reason"] for event in told.events if event["type"] == "agent_work_order_requeued"]
    assert requeued == ["its round broke off without an end"]
    assert violations(customer) == []
