"""Says what a fault broke, from outside evidence alone.

Believed are the forge's own log, the refs of the origin and the mirror, the process table, the disk, and a
copy of the database. What the product says of itself is not asked.
"""

import itertools
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from journeyman.sandboxes.identity import jail_uid
from tests.faults.stage import Customer, Stage, shown
from tests.faults.waiting import wait_for
from tests.journeys.repositories import FIXED, git

_GRACE_SECONDS = 10.0
_STATUS_AFTER = {
    "agent_work_order_created": "pending",
    "agent_work_order_started": "running",
    "agent_work_order_paused": "paused",
    "agent_work_order_awaiting_approval": "awaiting_approval",
    "agent_work_order_resumed": "pending",
    "agent_work_order_retried": "pending",
    "agent_work_order_requeued": "pending",
    "prompt_started": "pending",
    "agent_work_order_completed": "completed",
    "agent_work_order_failed": "failed",
    "agent_work_order_cancelled": "cancelled",
}
_MAY_FOLLOW = {
    "pending": {"running", "paused", "failed", "cancelled"},
    "running": {"pending", "paused", "awaiting_approval", "completed", "failed", "cancelled"},
    "paused": {"pending", "cancelled", "failed"},
    "awaiting_approval": {"pending", "cancelled", "failed"},
    "completed": {"pending"},
    "failed": {"pending"},
    "cancelled": {"pending"},
}


@dataclass(frozen=True)
class Told:
    """What the database holds of one order."""

    orders_of_repository: int
    status: str
    branch: str
    events: list[dict[str, Any]]


def violations(customer: Customer) -> list[str]:
    """Everything that is not as promised about an order whose customer has seen it through."""
    told = told_of(customer.stage, customer.order_id, customer.site.url)
    return [
        *(f"order: {one}" for one in _order(customer, told)),
        *(f"story: {one}" for one in story(told)),
        *(f"files: {one}" for one in _files(customer, told)),
        *(f"forge: {one}" for one in _forge(customer, told)),
        *(f"left: {one}" for one in left_behind(customer.stage, customer.order_id)),
    ]


def told_of(stage: Stage, order_id: str, repository_url: str) -> Told:
    one = "SELECT status, git_branch_name FROM work_orders WHERE agent_work_order_id = {}"
    all_of = "SELECT count(*) FROM work_orders WHERE repository_url = {}"
    events = "SELECT sequence, type, data FROM events WHERE agent_work_order_id = {} ORDER BY sequence"
    asked = [(one, order_id), (all_of, repository_url), (events, order_id)]
    found, counted, rows = (_rows(stage, question, about) for question, about in asked)
    return Told(
        orders_of_repository=counted[0][0],
        status=found[0][0] if found else "",
        branch=found[0][1] if found else "",
        events=[
            {"sequence": sequence, "type": kind, **(json.loads(data) if isinstance(data, str) else data)}
            for sequence, kind, data in rows
        ],
    )


def _rows(stage: Stage, question: str, about: str) -> list[tuple[Any, ...]]:
    if stage.database_url:
        with psycopg.connect(stage.database_url) as server:
            return list(server.execute(question.format("%s").encode(), (about,)).fetchall())
    file = stage.home / "journeyman.db"
    with (
        closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as live,
        closing(sqlite3.connect(":memory:")) as copy,
    ):
        live.backup(copy)
        return copy.execute(question.format("?"), (about,)).fetchall()


def _order(customer: Customer, told: Told) -> Iterator[str]:
    if told.orders_of_repository != 1:
        yield f"{told.orders_of_repository} orders were stored for one that was handed in"
    if told.status != "completed":
        yield f"it is {told.status or 'nowhere'}, not completed"


def story(told: Told) -> Iterator[str]:
    """The sequence is dense, each state may follow the last, and a step that ended is not begun again."""
    numbers = [event["sequence"] for event in told.events]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"the sequence of events has gaps or repeats: {numbers}"
    states = [_STATUS_AFTER[event["type"]] for event in told.events if event["type"] in _STATUS_AFTER]
    for before, after in itertools.pairwise(states):
        if after not in _MAY_FOLLOW[before]:
            yield f"{after} follows {before}"
    if not states or states[-1] != told.status:
        yield f"the events end with {states[-1:]}, the order is {told.status}"
    completed: set[str] = set()
    for event in told.events:
        if event["type"] == "step_started" and event["step"] in completed:
            yield f"{event['step']} was done twice"
        elif event["type"] == "step_completed":
            completed.add(event["step"])
        elif event["type"] in ("prompt_started", "agent_work_order_retried"):
            completed.clear()


def _files(customer: Customer, told: Told) -> Iterator[str]:
    """What the agent wrote is on the origin's branch, or in a snapshot of the mirror."""
    held = [customer.site.path.joinpath(), *(customer.stage.home / "mirrors").glob("*.git")]
    texts = [text for at in held for text in _everywhere(at, told.branch, customer.order_id, "witness.txt")]
    kept = set(itertools.chain.from_iterable(text.split() for text in texts))
    for event in told.events:
        if event["type"] == "tool_call_completed":
            for witness in re.findall(r"^witness (\d+)$", event["output"], re.MULTILINE):
                if witness not in kept:
                    yield f"what the agent wrote at {witness} is lost"
    if told.status == "completed" and shown(customer.site.path, f"{told.branch}:adder.py") != FIXED:
        yield "the branch does not hold what the agent wrote"


def _everywhere(repository: Path, branch: str, order_id: str, file: str) -> Iterator[str]:
    refs = git(repository, "for-each-ref", "--format=%(refname)", f"refs/journeyman/snapshots/{order_id}")
    for ref in (f"refs/heads/{branch}", *refs.split()):
        if (text := shown(repository, f"{ref}:{file}")) is not None:
            yield text


def _forge(customer: Customer, told: Told) -> Iterator[str]:
    site, github = customer.site, customer.stage.github
    made = [one for one in github.pull_requests if one.repository == site.slug]
    if len(made) > 1:
        yield f"{len(made)} pull requests were made"
    if told.status == "completed" and len(made) != 1:
        yield f"it is completed with {len(made)} pull requests"
    refs = site.refs()
    for name, commit in site.before.items():
        if refs.get(name) != commit:
            yield f"{name} was moved from {commit} to {refs.get(name)}"
    if others := set(refs) - set(site.before) - {f"refs/heads/{told.branch}"}:
        yield f"refs nobody asked for: {sorted(others)}"
    log = site.path / "logs" / "refs" / "heads" / told.branch
    for line in log.read_text().splitlines() if told.branch and log.is_file() else ():
        old, new = line.split()[:2]
        if set(old) != {"0"} and git(site.path, "merge-base", old, new) != old:
            yield f"{old} was overwritten by {new}"


def left_behind(stage: Stage, order_id: str) -> list[str]:
    """What an order that has ended still has on this machine after some grace."""
    found: list[str] = []

    def is_clean() -> bool:
        found[:] = remains(stage, order_id)
        return not found

    try:
        wait_for(is_clean, "a clean machine", _GRACE_SECONDS)
    except AssertionError:
        return found
    return []


def remains(stage: Stage, order_id: str) -> list[str]:
    home = stage.home
    workspaces, mirrors = home / "workspaces", home / "mirrors"
    groups = Path("/sys/fs/cgroup")
    paths = [
        *_matching(workspaces, f"*{order_id}*"),
        *_matching(workspaces, f".trash/*{order_id}*"),
        *_matching(mirrors, f"*/worktrees/*{order_id}*"),
        *_matching(groups, f"journeyman-*/{order_id}.*"),
        *_matching(groups, f"*/journeyman-*/{order_id}.*"),
        *_matching(stage.temporary, "*"),
    ]
    mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if order_id in line]
    return [*map(str, paths), *mounts, *(f"process {one}" for one in processes_of(order_id))]


def _matching(directory: Path, pattern: str) -> list[Path]:
    try:
        return list(directory.glob(pattern))
    except OSError:  # something went away while it was looked at: look again before calling it clean
        return [directory]


def processes_of(order_id: str) -> list[str]:
    """Every process of an order: by the user that only it has, by its mark, or by what it works on."""
    uid, found = jail_uid(order_id), []
    for process in psutil.process_iter():
        try:
            is_its = uid is not None and process.uids().real == uid
            if (
                is_its
                or order_id in str(process.environ())
                or any(order_id in word for word in process.cmdline())
            ):
                found.append(f"{process.pid} {process.name()}")
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found
