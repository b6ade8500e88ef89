"""Evidence over HTTP: the records, the full output as inert text, the signed file and the keys."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from journeyman.access.store import SigningKeys
from journeyman.verification.envelope import open_envelope, read_envelope
from journeyman.work_orders.order import CheckOutput
from tests.api.parts import ORDERS, Api
from tests.verification.evidences import KEY, KNOWN, a_check, an_evidence, attested

HOSTILE = b"<script>alert(1)</script>\x1b[31m\xff\n"


@pytest.fixture
async def order_id(api: Api, repository: Path) -> str:
    return await api.submit(repository)


async def test_a_record_has_the_fields_of_the_contract(api: Api, order_id: str) -> None:
    signed = attested(an_evidence(agent_work_order_id=order_id))
    await api.services.orders.evidence.save(signed)
    [record] = (await api.client.get(f"{ORDERS}/{order_id}/evidence")).json()["evidence"]
    assert (record["attempt"], record["outcome"], record["passed"]) == (1, "passed", True)
    assert (record["commit_sha"], record["tree_sha"], record["base_commit_sha"]) == (
        "a" * 40,
        "b" * 40,
        "c" * 40,
    )
    assert (record["red_to_green"], record["tampering"]) == ([], [])
    [check] = record["checks"]
    assert check["tests"] == {"passed": 12, "failed": 0, "skipped": 0}
    assert [check[name] for name in ("new_failures", "old_failures", "fixed", "flaky")] == [[]] * 4
    assert open_envelope(read_envelope(json.dumps(record["statement"]).encode()), KNOWN)


async def test_records_of_earlier_versions_are_shown_as_far_as_they_go(api: Api, order_id: str) -> None:
    old = {"name": "pytest", "status": "failed", "command": ["python", "-m", "pytest"], "failing": ["a", "b"]}
    await api.services.orders.evidence.save(
        an_evidence(agent_work_order_id=order_id, checks=[old], passed=None, tree_sha=None)
    )
    [record] = (await api.client.get(f"{ORDERS}/{order_id}/evidence")).json()["evidence"]
    assert (record["outcome"], record["tree_sha"], record["statement"]) == ("none", None, None)
    [check] = record["checks"]
    assert (check["outcome"], check["command"], check["failing"]) == ("failed", "python -m pytest", "a\nb")
    assert (check["tests"], check["flaky"], check["output"]) == (None, [], "")


@pytest.mark.parametrize("name", ["pytest", "api: go test ./...", "a/b/../c", "ünï ⚙", "100%"])
async def test_the_full_output_is_text_that_no_browser_runs(api: Api, order_id: str, name: str) -> None:
    evidence = an_evidence(agent_work_order_id=order_id, checks=[a_check(name)])
    await api.services.orders.evidence.save(evidence)
    await api.services.orders.check_outputs.save(evidence, [CheckOutput(check_name=name, output=HOSTILE)])
    quoted = "".join(f"%{byte:02X}" for byte in name.encode())
    answer = await api.client.get(f"{ORDERS}/{order_id}/evidence/1/output/{quoted}")
    assert (answer.status_code, answer.content) == (200, HOSTILE)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox;")


async def test_attempts_of_several_rounds_are_told_apart(api: Api, order_id: str) -> None:
    for round in (1, 2):
        evidence = an_evidence(agent_work_order_id=order_id, round=round)
        await api.services.orders.evidence.save(evidence)
        printed = CheckOutput(check_name="pytest", output=f"round {round}".encode())
        await api.services.orders.check_outputs.save(evidence, [printed])
    output = f"{ORDERS}/{order_id}/evidence/1/output/pytest"
    assert (await api.client.get(output)).text == "round 2"
    assert (await api.client.get(output, params={"round": 1, "step": "verify"})).text == "round 1"
    assert (await api.client.get(output, params={"round": 3})).status_code == 404
    assert (await api.client.get(output, params={"rounds": 1})).status_code == 422


@pytest.mark.parametrize(
    "path", ["1/output/ruff", "2/output/pytest", "1/output/%00", "1/output/..%2f..", "2/statement"]
)
async def test_what_was_not_kept_is_not_found(api: Api, order_id: str, path: str) -> None:
    evidence = an_evidence(agent_work_order_id=order_id)
    await api.services.orders.evidence.save(evidence)
    await api.services.orders.check_outputs.save(evidence, [CheckOutput(check_name="pytest", output=b"x")])
    assert (await api.client.get(f"{ORDERS}/{order_id}/evidence/{path}")).status_code == 404


async def test_the_signed_evidence_of_an_attempt_is_a_file(api: Api, order_id: str) -> None:
    signed = attested(an_evidence(agent_work_order_id=order_id))
    await api.services.orders.evidence.save(signed)
    answer = await api.client.get(f"{ORDERS}/{order_id}/evidence/1/statement")
    assert (
        answer.headers["content-disposition"] == f'attachment; filename="{order_id}-aaaaaaaaaaaa.dsse.json"'
    )
    assert open_envelope(read_envelope(answer.content), KNOWN).key == KEY.public
    await api.services.orders.evidence.save(replace(signed, statement=None))
    assert (await api.client.get(f"{ORDERS}/{order_id}/evidence/1/statement")).status_code == 404


async def test_the_keys_of_every_worker_are_served(api: Api) -> None:
    assert (await api.client.get("/api/evidence/keys")).json() == {"keys": []}
    await SigningKeys(api.services.database).register(KEY.public)
    [key] = (await api.client.get("/api/evidence/keys")).json()["keys"]
    assert (key["key_id"], key["algorithm"]) == (hashlib.sha256(KEY.public.raw).hexdigest(), "ed25519")
    assert key["public_key"] == KEY.public.text
    assert key["created_at"]
