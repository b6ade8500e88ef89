"""Opens one sandbox and runs in it what it is told, a line of JSON for each command.

python -m tests.hostile.jail_host PLACE SETTINGS

A process of its own, so that any user can be the one who built the jail. Each answer is a line as well; the
first names the order and the process that holds the jail. When its input ends, so does the sandbox.
"""

import asyncio
import json
import os
import socket
import sys
from dataclasses import asdict
from pathlib import Path

from journeyman.errors import JourneymanError
from journeyman.sandboxes.base import SandboxLimits, SandboxSpec
from journeyman.sandboxes.identity import jail_uid
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from journeyman.work_orders.order import new_order_id


async def main() -> None:
    sys.stdout = sys.stderr  # for the log; answers have the real one
    place, limits = Path(sys.argv[1]), json.loads(sys.argv[2])
    order_id = new_order_id()
    tree = place / order_id
    tree.mkdir()
    if (uid := jail_uid(order_id)) is not None:
        os.chown(tree, uid, uid)
    sandboxes = LocalSandboxes(Settings(home=place / "home"))
    watching = asyncio.create_task(sandboxes.monitor_disk())
    with socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{order_id}")
        abstract.listen()
        sandbox = await sandboxes.setup(
            SandboxSpec(order_id=order_id, tree=tree, limits=SandboxLimits(**limits))
        )
        _say({"order_id": order_id, "pid": os.getpid(), "tree": str(tree)})
        while line := await asyncio.to_thread(sys.stdin.readline):
            command, seconds = json.loads(line)
            try:
                _say(asdict(await sandbox.execute_command(command, timeout=seconds)))
            except JourneymanError as error:
                _say({"error": error.message, "category": error.category})
    await sandboxes.close()
    watching.cancel()


def _say(what: dict[str, object]) -> None:
    print(json.dumps(what), file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
