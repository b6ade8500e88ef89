"""The catalog of workflows that an order can name: the built-in ones, and the operator's own from the home.

A file that is invalid does not hide the others: it keeps its name, and asking for it raises what is wrong.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from journeyman import telemetry
from journeyman.errors import InvalidInput, InvalidWorkflow
from journeyman.workflows.loader import library, load_workflow
from journeyman.workflows.references import did_you_mean
from journeyman.workflows.schema import Workflow


class WorkflowCatalog:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        for trouble in self.ignored():
            telemetry.logger().warning("workflow_not_used", error_message=trouble)

    def get(self, name: str) -> Workflow:
        """The workflow of this name; an error says what is wrong with its file, or which name is near."""
        known = self.all()
        if name not in known:
            hint = did_you_mean(name, known) or "`jm workflows` shows those that exist."
            raise InvalidInput(f"there is no workflow {name!r}", hint=hint)
        found = known[name]
        if isinstance(found, InvalidWorkflow):
            raise found
        return found

    def all(self) -> Mapping[str, Workflow | InvalidWorkflow]:
        """By name, other names of the same workflow included."""
        own = {path.stem: _read(path, path.stat().st_mtime_ns) for path in self._files()}
        return {**own, **library()}

    def ignored(self) -> list[str]:
        """What is wrong with files that no order can name, because a built-in workflow has their name."""
        return [
            f"{path} is not used: a built-in workflow has its name. Give file and workflow another one."
            for path in self._files()
            if path.stem in library()
        ]

    def _files(self) -> list[Path]:
        return sorted(self._directory.glob("*.yaml"))


@lru_cache(maxsize=256)
def _read(path: Path, _changed: int) -> Workflow | InvalidWorkflow:
    try:
        workflow = load_workflow(path.read_text(encoding="utf-8", errors="replace"), str(path))
    except InvalidWorkflow as error:
        return error
    if workflow.name != path.stem:
        return InvalidWorkflow(
            f"{path} holds the workflow {workflow.name!r}", hint="Give file and workflow the same name."
        )
    return workflow
