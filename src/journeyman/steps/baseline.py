"""Run an order's checks on its base commit, so that old failures are not taken for new ones.

What was measured is kept for all orders that start from the same files in the same environment. One run at a
time for each base commit: orders that start together, and a verification that comes while the base is still
being measured, wait for it and find its results.

Safe to repeat because results that are kept are found.
"""

import asyncio
from collections.abc import Mapping, Sequence
from weakref import WeakValueDictionary

from journeyman.environments.plan import Check
from journeyman.steps.order_sandboxes import OrderSandboxes
from journeyman.verification.baseline import baseline_key, is_kept, pack, unpack
from journeyman.verification.own_code import code_under_test
from journeyman.verification.run import CheckResult, run_checks

_running: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


async def measure_base(sandboxes: OrderSandboxes, checks: Sequence[Check]) -> Mapping[str, CheckResult]:
    """The results on the base commit, by the name of the check."""
    subject = f"{sandboxes.order.repository_url} {sandboxes.environment.base}"
    lock = _running.setdefault(subject, asyncio.Lock())
    async with lock:
        keys = await _keys(sandboxes, checks)
        stored = await sandboxes.orders.baselines.find(keys.values())
        known = {
            one.name: await asyncio.to_thread(unpack, one, stored[keys[one.name]])
            for one in checks
            if keys[one.name] in stored
        }
        missing = [one for one in checks if one.name not in known]
        if not missing:
            return known
        measured = await _run(sandboxes, missing)
        for check, result in zip(missing, measured, strict=True):
            if is_kept(result):
                packed = await asyncio.to_thread(pack, result)
                await sandboxes.orders.baselines.save(
                    keys[check.name], sandboxes.order.repository_url, packed
                )
        return {**known, **{one.name: result for one, result in zip(missing, measured, strict=True)}}


async def _keys(sandboxes: OrderSandboxes, checks: Sequence[Check]) -> dict[str, str]:
    environment = sandboxes.environment
    ready = await environment.ready()
    hosts = await environment.hosts(ready.environment)
    tree_sha = await environment.mirror.tree_of(environment.base)
    return {
        one.name: baseline_key(
            one,
            repository_url=sandboxes.order.repository_url,
            tree_sha=tree_sha,
            ready=ready,
            hosts=hosts,
        )
        for one in checks
    }


async def _run(sandboxes: OrderSandboxes, checks: Sequence[Check]) -> Sequence[CheckResult]:
    planned = await sandboxes.environment.planned()
    async with sandboxes.clean(sandboxes.environment.base, "baseline") as sandbox:
        return await run_checks(
            sandbox,
            checks,
            timeout=sandboxes.settings.verification_timeout_seconds,
            code=code_under_test(planned.project, planned.project, changed=(), diff=""),
        )
