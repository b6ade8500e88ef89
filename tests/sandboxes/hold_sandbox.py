"""A process of its own that opens a sandbox, leaves a daemon in it and waits to be killed.

python -m tests.sandboxes.hold_sandbox HOME TREE ORDER
"""

import asyncio
import sys
from pathlib import Path

from journeyman.errors import SandboxUnavailable
from journeyman.sandboxes.base import SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings


async def main() -> None:
    home, tree, order_id = sys.argv[1:]
    sandboxes = LocalSandboxes(Settings(home=Path(home)))
    try:
        sandbox = await sandboxes.setup(SandboxSpec(order_id=order_id, tree=Path(tree)))
    except SandboxUnavailable as error:
        print(error.message, "|", error.hint, flush=True)
        await sandboxes.close()
        return
    await sandbox.execute_command("(setsid sleep 1000 &)", timeout=20)
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
