"""Let the product check a repository, as a new user would: `jm doctor --repository`."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from journeyman.verification.counts import Counts
from tests.field.by_hand import Result
from tests.field.projects import FieldProject

_JM = Path(sys.executable).with_name("jm")
_ORDER = ("failed", "timed_out", "environment", "unavailable", "passed")
"""The worst outcome of several checks is that of all of them."""


@contextmanager
def served(home: Path) -> Iterator[str]:
    """A server with the settings that a new user has; yields its address."""
    environment = {**os.environ, "JOURNEYMAN_HOME": str(home), "JOURNEYMAN_PORT": "0"}
    with (
        (home.parent / "server.log").open("ab") as log,
        subprocess.Popen([str(_JM), "serve"], env=environment, stdout=subprocess.PIPE, stderr=log) as server,
    ):
        try:
            assert server.stdout is not None
            lines = (line.decode() for line in server.stdout)
            yield next(found[0] for line in lines if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        finally:
            server.terminate()


def check(project: FieldProject, repository: Path, url: str) -> Result:
    """The outcome of all its test checks together, on the untouched commit."""
    began = time.monotonic()
    environment = {**os.environ, "JOURNEYMAN_URL": url}
    try:
        done = subprocess.run(
            [str(_JM), "doctor", "--repository", str(repository), "--json"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=project.minutes * 60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Result("timed_out", None, "the doctor did not end")
    seconds = time.monotonic() - began
    try:
        report: dict[str, Any] = json.loads(done.stdout)["report"]
    except (ValueError, KeyError):
        return Result("no report", None, done.stderr.decode(errors="replace")[-300:], seconds)
    tests = [one for one in report["checks"] if one["kind"] == "test"]
    if not tests:
        return Result("unavailable", None, "no test check was found", seconds)
    problem = [report["setup_problem"]["reason"]] if report["setup_problem"] else []
    outcome = min((one["outcome"] for one in tests), key=_ORDER.index)
    counts = [Counts(**dict(_numbers(one["summary"]))) for one in tests]
    total = sum(counts[1:], counts[0])
    detail = "; ".join((*problem, *(f"{one['name']}: {one['summary']}" for one in tests)))
    return Result(outcome, total if total.ran else None, detail, seconds)


def _numbers(summary: str) -> Iterator[tuple[str, int]]:
    """`4 failed, 12 passed` as the product says it."""
    for number, word in re.findall(r"(\d+) (passed|failed|skipped|could not be run)", summary):
        yield "failed" if word.startswith("could") else word, int(number)


def agrees(project: FieldProject, ours: Result, by_hand: Result) -> bool:
    """Same outcome, and the same numbers where both say any."""
    if project.flaky and ours.counts and by_hand.counts:
        failed = max(ours.counts.failed, by_hand.counts.failed)
        return ours.counts.ran == by_hand.counts.ran and failed <= project.flaky
    if ours.outcome == "environment" != by_hand.outcome:
        # What a person cannot set up either, or only with what the project is known to lack here.
        ran, ran_by_hand = (one.counts.ran if one.counts else 0 for one in (ours, by_hand))
        return bool(project.lacks) and ran == ran_by_hand if ran_by_hand else by_hand.outcome == "failed"
    if ours.outcome != by_hand.outcome:
        return False
    if ours.counts is None or by_hand.counts is None:
        return True
    return (ours.counts.passed, ours.counts.failed) == (by_hand.counts.passed, by_hand.counts.failed)
