"""The way out of a sandbox while one step after another uses it."""

from journeyman.environments.egress.proxy import EgressProxy
from journeyman.environments.egress.rules import Denial, EgressRules
from journeyman.settings import Settings
from journeyman.steps.order_environment import StepNetwork
from tests.environments.egress.standins import Inside


async def test_a_later_step_has_what_people_allowed_meanwhile_and_its_denials_are_its_own(
    settings: Settings,
) -> None:
    denied: list[tuple[str, str]] = []

    def on_denied(denial: Denial) -> None:
        denied.append((network.step, denial.host))

    async with EgressProxy(settings) as proxy:
        session = await proxy.open(EgressRules(hosts=("docs.example",)), on_denied)
        network, client = StepNetwork(session, "build"), Inside(session, [])
        for _ in range(2):
            await client.connect("other.example:443")
            await client.connect("evil.example:443")
        network.use("build", ("docs.example",))
        await client.connect("evil.example:443")
        network.use("review", ("docs.example", "other.example"))
        await client.connect("evil.example:443")
        assert session.rules.hosts == ("docs.example", "other.example")
    assert denied == [("build", "other.example"), ("build", "evil.example"), ("review", "evil.example")]
