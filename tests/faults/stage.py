"""Where faults are played: one product, a forge of its own, and what a customer does whatever happens.

The agent leaves a witness in its files whenever a command of it ends: a number that no second run would
write, so that lost work cannot hide behind work that was done again.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import httpx2

from tests.faults.waiting import wait_for
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, calls, git, make_repository, says
from tests.pace import slowdown
from tests.standins.github import GitHubStandIn

Story = Literal["plain", "approval", "pause"]
Store = Literal["sqlite", "postgresql", "workers"]
"""`workers` is PostgreSQL too, with the rounds in a process of their own."""

_WITNESS = "w=$(date +%s%N); echo $w >> witness.txt; sync; echo witness $w"
_LINGERS = "setsid sleep 600 >/dev/null 2>&1 & sleep 0.4"
_ONCE = "test -e paused.txt || { echo once > paused.txt; sleep 600; }"
_GATED = """name: gated
description: A person has the last word.
steps:
  - {name: build, kind: build}
  - {name: verify, kind: verify, depends_on: [build]}
  - {name: publish, kind: open_pull_request, depends_on: [verify], requires_approval: true}
"""
_WORKFLOWS: dict[Story, str] = {
    "plain": "agent_workflow_plan_build_test",
    "approval": "gated",
    "pause": "agent_workflow_build",
}


def _builds(*commands: str) -> dict[str, Any]:
    return {
        "when": {"role": "build"},
        "replies": [
            calls("write_file", path="adder.py", content=FIXED),
            calls("shell", command=_WITNESS),
            *(calls("shell", command=command) for command in commands),
            says("Done."),
        ],
    }


@dataclass(frozen=True)
class Site:
    """A repository on the forge, and what was in it before anybody worked on it."""

    url: str
    slug: str
    path: Path
    before: dict[str, str]

    def refs(self) -> dict[str, str]:
        listed = git(self.path, "for-each-ref", "--format=%(refname) %(objectname)")
        return dict(line.split() for line in listed.splitlines())


class Stage:
    """`product` is the process that is asked, `worker` the one in which rounds run: mostly the same."""

    def __init__(
        self,
        directory: Path,
        github: GitHubStandIn,
        database_url: str,
        *,
        own_worker: bool = False,
        **settings: str,
    ) -> None:
        self.directory = directory
        self.github = github
        self.database_url = database_url
        self.temporary = directory / "temporary"
        home = directory / "home"
        for made in (self.temporary, home / "workflows"):
            made.mkdir(parents=True)
        (home / "workflows" / "gated.yaml").write_text(_GATED)
        settings |= {
            "DATABASE_URL": database_url,
            "JOURNEYMAN_GITHUB_URL": github.url,
            "JOURNEYMAN_GITHUB_API_URL": github.api_url,
            "GITHUB_TOKEN": github.token,
            "TMPDIR": str(self.temporary),
        }
        self.product = self.worker = Product(
            home, "serve", *(["--no-worker"] if own_worker else []), **settings
        )
        if own_worker:
            elsewhere = directory / "elsewhere"
            elsewhere.mkdir()
            settings |= {
                "JOURNEYMAN_SCRIPTS": str(self.product.scripts),
                "JOURNEYMAN_WORKER_LEASE_SECONDS": str(round(3 * slowdown(), 1)),
            }
            self.worker = Product(elsewhere, "worker", **settings)
        self.product.script("plain", PLANS, _builds(_LINGERS))
        self.product.script("approval", _builds())
        self.product.script("pause", _builds(_ONCE, _WITNESS))

    @property
    def home(self) -> Path:
        """Where the work is done."""
        return self.worker.home

    def start(self, **environment: str) -> None:
        """Start what there is; the environment is for the process in which rounds run."""
        if self.worker is not self.product:
            self.product.start()
        self.worker.start(**environment)

    def stop(self) -> None:
        self.worker.stop()
        self.product.stop()

    def site(self) -> Site:
        """A repository of its own, in which somebody else has a branch too."""
        name = f"adder-{uuid4().hex[:8]}"
        made = make_repository(self.directory / name)
        git(made, "branch", "somebody")
        url = self.github.add_repository("acme", name, made)
        path = self.github.git.root / "acme" / f"{name}.git"
        git(path, "config", "core.logAllRefUpdates", "always")
        site = Site(url, f"acme/{name}", path, {})
        return Site(site.url, site.slug, site.path, site.refs())


@contextmanager
def staged(
    directory: Path, database_url: str, *, own_worker: bool = False, **settings: str
) -> Iterator[Stage]:
    with GitHubStandIn(directory) as github:
        stage = Stage(directory, github, database_url, own_worker=own_worker, **settings)
        try:
            yield stage
        finally:
            stage.stop()


class Customer:
    """Hands in one order and sees it through, asking again when nobody answers."""

    def __init__(self, stage: Stage, story: Story = "plain", *, longest_wait: float = 300.0) -> None:
        self.stage = stage
        self.story = story
        self.site = stage.site()
        self.order_id = ""
        """Known once the order is accepted."""
        self.retries = 0
        """How often a failed order had to be helped."""
        self._key = uuid4().hex
        self._longest_wait = longest_wait
        self._paused = False

    def see_through(self) -> dict[str, Any]:
        self.hand_in()
        return wait_for(self._go_on, f"an end of {self.order_id}", self._longest_wait)

    def hand_in(self) -> None:
        self.order_id = wait_for(self._hand_in, "an order that is accepted", self._longest_wait)

    def _hand_in(self) -> str:
        answer = self._ask(
            "POST",
            "",
            headers={"Idempotency-Key": self._key},
            json={
                "repository_url": self.site.url,
                "workflow_type": _WORKFLOWS[self.story],
                "initial_prompt": "Fix the adder",
                "model": f"scripted/{self.story}",
            },
        )
        if answer is None or answer.status_code == 429 or answer.status_code >= 500:
            return ""
        assert answer.status_code == 201, answer.text
        return str(answer.json()["agent_work_order"]["agent_work_order_id"])

    def _go_on(self) -> dict[str, Any] | None:
        """Do what a customer does next; the order when it has ended well or cannot be helped."""
        answer = self._ask("GET", f"/{self.order_id}")
        if answer is None or answer.status_code >= 500:
            return None
        assert answer.status_code == 200, answer.text
        order: dict[str, Any] = answer.json()["agent_work_order"]
        match order["status"]:
            case "awaiting_approval":
                self._ask("POST", f"/{self.order_id}/approvals/publish", json={"decision": "approve"})
            case "paused":
                self._ask("POST", f"/{self.order_id}/resume")
            case "running" if self.story == "pause" and not self._paused and self._is_in_command():
                self._paused = self._ask("POST", f"/{self.order_id}/pause") is not None
            case "failed" if self.retries < 1:
                self.retries += 1
                self._ask("POST", f"/{self.order_id}/retry")
            case "completed" | "failed" | "cancelled":
                return order
        return None

    def _is_in_command(self) -> bool:
        return (self.stage.home / "workspaces" / self.order_id / "tree" / "paused.txt").exists()

    def _ask(self, method: str, path: str, **more: Any) -> httpx2.Response | None:
        """None when there was no answer: the server is away, or went while it was asked."""
        try:
            return httpx2.request(
                method, f"{self.stage.product.url}/api/agent-work-orders{path}", timeout=60, **more
            )
        except httpx2.TransportError:
            return None


def shown(repository: Path, what: str) -> str | None:
    """A file at a commit, or None where there is none."""
    found = subprocess.run(["git", "show", what], cwd=repository, capture_output=True, text=True)
    return found.stdout if found.returncode == 0 else None
