"""Run a sample order on a sample repository: the whole product, without a key or a network."""

from journeyman.cli.order_request import OrderRequest
from journeyman.cli.orders import submit_and_watch
from journeyman.git.sample import SAMPLE_MODEL, SAMPLE_TASK, prepare
from journeyman.settings import Settings


def run_demo(settings: Settings, *, as_json: bool) -> int:
    request = OrderRequest(SAMPLE_TASK, str(prepare(settings.home)), model=SAMPLE_MODEL)
    return submit_and_watch(settings, request, as_json=as_json)
