"""Every prepared change gets the verdict, the lists and the tampering report that it deserves."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.product import Product
from tests.journeys.repositories import calls, git, says
from tests.proof.changes import CHANGES, Change

WORKFLOW = """name: prove
description: Change it, then prove it.
steps:
  - {name: build, kind: build}
  - {name: verify, kind: verify, depends_on: [build], on_failure: continue}
"""
QUICK = {
    "an honest change",
    "an old failure beside an honest change",
    "a feature with its test",
    "a failing test deleted",
    "assertions made harmless at start-up",
    "node: a broken function",
    "make: a failure that was there before",
}
"""What `make test` runs; the others wait for `--full`."""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    home = tmp_path_factory.mktemp("home")
    (home / "workflows").mkdir()
    (home / "workflows" / "prove.yaml").write_text(WORKFLOW)
    machine = {name: os.environ[name] for name in ("PATH", "HOME")}  # where its cargo is
    with Product(home, JOURNEYMAN_VERIFICATION_ATTEMPTS="1", **machine) as product:
        yield product


def repository_of(path: Path, change: Change) -> Path:
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    for name, content in change.base.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(content)
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "Begin")
    return path


def turn_of(change: Change) -> dict[str, Any]:
    removed = [
        calls("shell", command=f"rm {path}") for path, content in change.change.items() if content is None
    ]
    written = [
        calls("write_file", path=path, content=content)
        for path, content in change.change.items()
        if content is not None
    ]
    return {"when": {"role": "build"}, "replies": [*removed, *written, says("Done.")]}


def ids_in(record: dict[str, Any], name: str) -> list[str]:
    return [test for check in record["checks"] for test in check[name]]


def are(found: list[str], wanted: tuple[str, ...]) -> bool:
    """Each wanted part is in exactly one of the ids, and there are no others."""
    return len(found) == len(wanted) and all(sum(part in test for test in found) == 1 for part in wanted)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(one, id=one.name, marks=() if one.name in QUICK else pytest.mark.lasting)
        for one in CHANGES
    ],
)
def test_a_change_is_judged_as_it_deserves(product: Product, tmp_path: Path, change: Change) -> None:
    repository = repository_of(tmp_path / "calc", change)
    name = "".join(letter if letter.isalnum() else "-" for letter in change.name)
    model = product.script(name, turn_of(change))
    order_id = product.submit(repository, model, workflow_type="prove", initial_prompt=change.task)
    order = product.finish(order_id)
    record = product.get(f"/api/agent-work-orders/{order_id}/evidence")["evidence"][-1]
    said = {name: ids_in(record, name) for name in ("new_failures", "old_failures", "fixed", "flaky")}
    kinds = {finding["kind"] for finding in record["tampering"]}
    assert order["verification"] == change.verification, (
        order["error_message"],
        record["summary"],
        said,
        kinds,
    )
    wanted = {
        "new_failures": change.new,
        "old_failures": change.old,
        "fixed": change.fixed,
        "flaky": change.flaky,
    }
    assert all(are(said[name], parts) for name, parts in wanted.items()), (said, wanted)
    assert kinds == change.tampering or (change.tampering and kinds >= change.tampering), record["tampering"]
    shown = any(one["on_base"] != "passed" and one["on_head"] == "passed" for one in record["red_to_green"])
    if change.shows is not None:
        assert shown is change.shows, record["red_to_green"]
