"""Signed evidence from the checks of an order to a clone on another machine."""

import base64
import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from journeyman.access.signing import parse_private_key, stored_key
from journeyman.verification.envelope import seal
from tests.journeys.product import Product, run_jm
from tests.journeys.repositories import FIXED, PLANS, builds, calls, git, make_repository, says

_ORDERS = "/api/agent-work-orders"


@pytest.fixture(scope="module")
def finished(product: Product, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """An order whose checks passed, and its repository."""
    repository = make_repository(tmp_path_factory.mktemp("evidence") / "adder")
    order_id = product.submit(repository, product.script("signed", PLANS, builds(FIXED)))
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    return order, repository


def payload_of(envelope: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    return document


def evidence_of(product: Product, order: dict[str, Any]) -> dict[str, Any]:
    record: dict[str, Any] = product.get(f"{_ORDERS}/{order['agent_work_order_id']}/evidence")["evidence"][-1]
    return record


def jm(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """On a machine that has no server."""
    return run_jm(
        *arguments,
        HOME=str(tmp_path),
        JOURNEYMAN_HOME=str(tmp_path / "another-home"),
        JOURNEYMAN_URL="http://127.0.0.1:9",
        JOURNEYMAN_ENVIRONMENT_SETUP="off",
    )


def key_file(product: Product, tmp_path: Path) -> str:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(product.get("/api/evidence/keys")))
    return str(path)


def test_a_clone_and_a_public_key_are_enough_to_verify_the_head_of_a_pull_request(
    product: Product, finished: tuple[dict[str, Any], Path], tmp_path: Path
) -> None:
    order, repository = finished
    branch = order["git_branch_name"]
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--branch", branch, str(repository), str(clone))
    asked = ("--repository", str(clone), "--key", key_file(product, tmp_path), "--passed")
    good = jm(tmp_path, "evidence", "verify", "HEAD", *asked)
    assert good.returncode == 0, good.stdout + good.stderr
    assert git(clone, "rev-parse", "HEAD~1") in good.stdout

    (clone / "adder.py").write_text("raise RuntimeError\n")
    git(clone, "commit", "-q", "-a", "-m", "Slip something in")
    later = jm(tmp_path, "evidence", "verify", "HEAD", *asked)
    assert later.returncode == 1, later.stdout
    assert "adder.py" in later.stdout


def test_the_statement_binds_the_commit_its_base_and_what_was_printed(
    product: Product, finished: tuple[dict[str, Any], Path]
) -> None:
    order, repository = finished
    record = evidence_of(product, order)
    statement = payload_of(record["statement"])
    checked = git(repository, "rev-parse", f"{order['git_branch_name']}~1")
    assert statement["subject"][0]["digest"] == {
        "gitCommit": checked,
        "gitTree": git(repository, "rev-parse", f"{checked}^{{tree}}"),
    }
    facts = statement["predicate"]["journeyman"]
    assert facts["base"]["gitCommit"] == git(repository, "rev-parse", "main")
    assert facts["base"]["gitTree"] == git(repository, "rev-parse", "main^{tree}")
    [check] = facts["checks"]
    output = f"{_ORDERS}/{order['agent_work_order_id']}/evidence/1/output/{check['name']}"
    printed = product.request("GET", output).content
    assert b"Ran 1 test" in printed
    assert hashlib.sha256(printed).hexdigest() == check["output"]["sha256"]


def test_a_replay_says_whether_the_checks_end_as_they_did(
    product: Product, finished: tuple[dict[str, Any], Path], tmp_path: Path
) -> None:
    order, repository = finished
    envelope = evidence_of(product, order)["statement"]
    given = ("--repository", str(repository), "--key", key_file(product, tmp_path), "--json")
    file = tmp_path / "evidence.json"
    file.write_text(json.dumps(envelope))
    same = jm(tmp_path, "evidence", "replay", str(file), *given)
    assert same.returncode == 0, same.stdout + same.stderr
    [check] = json.loads(same.stdout)["checks"]
    assert check["again"] == check["recorded"]

    claims = payload_of(envelope)
    claims["predicate"]["journeyman"]["checks"][0]["tests"]["passed"] = 40
    key = parse_private_key(stored_key(product.home))
    file.write_text(json.dumps(seal(json.dumps(claims).encode(), key)))
    other = jm(tmp_path, "evidence", "replay", str(file), *given)
    assert other.returncode == 1, other.stdout + other.stderr
    assert json.loads(other.stdout)["same"] is False
    assert list((tmp_path / "another-home").iterdir()) == []


def test_work_that_was_committed_after_the_checks_makes_their_verdict_outdated(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    flow = product.home / "workflows" / "afterwards.yaml"
    flow.parent.mkdir(exist_ok=True)
    flow.write_text(
        "name: afterwards\nsteps:\n"
        "  - {name: build, kind: build}\n"
        "  - {name: verify, kind: verify, depends_on: [build]}\n"
        '  - {name: more, kind: shell, command: "echo >> adder.py", depends_on: [verify]}\n'
    )
    model = product.script("afterwards", builds(FIXED))
    order = product.finish(product.submit(repository, model, workflow_type="afterwards"))
    assert (order["status"], order["verification"]) == ("completed", "outdated"), order
    assert evidence_of(product, order)["outcome"] == "passed"


def test_the_private_key_is_neither_in_a_sandbox_nor_in_what_is_kept(
    product: Product, tmp_path: Path
) -> None:
    key = stored_key(product.home)
    path = product.home / "evidence_key.pem"
    looks = {
        "when": {"role": "build"},
        "replies": [
            calls("shell", command=f"cat {path} > seen.txt 2>&1; echo looked >> seen.txt"),
            calls("write_file", path="adder.py", content=FIXED),
            calls("shell", command=f"echo {key}"),
            says(f"Found {key}"),
        ],
    }
    repository = make_repository(tmp_path / "adder")
    order = product.finish(product.submit(repository, product.script("looks", PLANS, looks)))
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    seen = git(repository, "show", f"{order['git_branch_name']}:seen.txt")
    assert "looked" in seen
    assert "No such file" in seen
    events = json.dumps(product.events(order["agent_work_order_id"]))
    assert "Found [redacted]" in events
    assert key not in events + product.said()
