"""Carry out a sample order on a sample repository: the whole product, without a key or a network."""

from journeyman.cli import orders
from journeyman.git.sample import SAMPLE_MODEL, SAMPLE_TASK, prepare
from journeyman.settings import Settings


def carry_out(settings: Settings, *, as_json: bool) -> int:
    sample = prepare(settings.home)
    return orders.run(
        settings, orders.new_order(SAMPLE_TASK, str(sample), model=SAMPLE_MODEL), as_json=as_json
    )
