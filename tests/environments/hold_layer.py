"""A process of its own that begins to make a layer, says its key and waits to be killed.

python -m tests.environments.hold_layer DIRECTORY
"""

import asyncio
import sys
from pathlib import Path

from journeyman.environments.key import LayerInputs, layer_key
from journeyman.environments.layers import Layers


async def main() -> None:
    inputs = LayerInputs(repository="one", architecture="x86_64", system="debian 12")

    async def build(directory: Path) -> None:
        (directory / "workspace" / "half").mkdir(parents=True)
        print(layer_key(inputs), flush=True)
        await asyncio.Event().wait()

    await Layers(Path(sys.argv[1]), max_mb=100).make(inputs, build)


if __name__ == "__main__":
    asyncio.run(main())
