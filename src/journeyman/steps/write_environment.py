"""Commit the order's prompt, a definition in YAML, as the repository's environment file.

It is validated again: what was fine when the order was accepted may not be for the version that carries it
out.

Safe to repeat because the file is written with the same text, and a commit that is there already leaves
nothing to commit.
"""

import asyncio
from pathlib import Path

from pydantic import BaseModel

from journeyman.environments.definition import parse_definition
from journeyman.errors import Conflict
from journeyman.steps.context import StepContext
from journeyman.work_orders.repository_record import ENVIRONMENT_PATH


class WriteEnvironmentOutput(BaseModel):
    changed: bool
    path: str = ENVIRONMENT_PATH


async def run(context: StepContext) -> WriteEnvironmentOutput:
    text = context.order.initial_prompt
    parse_definition(text, source=ENVIRONMENT_PATH)
    async with context.write_access.exclusive():
        await asyncio.to_thread(_write, context.workspace.tree, text)
        commit_sha = await context.recorder.commit("implementing", context.order.title)
    return WriteEnvironmentOutput(changed=commit_sha is not None)


def _write(tree: Path, text: str) -> None:
    """Never through a link: the repository could make one that leads out of the workspace."""
    path = tree / ENVIRONMENT_PATH
    for one in (path.parent, path):
        if one.is_symlink() or (one == path.parent and one.exists() and not one.is_dir()):
            raise Conflict(
                f"{one.relative_to(tree)} is not an ordinary file or directory of the repository",
                hint="Replace it by one, then ask again.",
            )
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
