"""vitest, jest, mocha and node:test: a preload finds out which of them a process is, and adds ours to it.

NODE_OPTIONS reaches them through every script and wrapper. node:test takes reporters only as options of Node
itself: those are left out where the version of Node refuses them there, or the project names its own.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from journeyman.verification.reports.family import Family, ReportRequest
from journeyman.verification.reports.lines import read_sessions

_PLUGINS = Path(__file__).parent / "plugins"
_PROGRAMS = ("record.cjs", "preload.cjs", "vitest.mjs", "jest.cjs", "mocha.cjs", "node_test.mjs")
_DIRECTORY = "node"
_RUNNERS = ("vitest", "jest", "mocha", "node_test")
# The output stays what it would be: TAP was the default where there is no terminal.
_PRELUDE = """\
if reporter=$(NODE_OPTIONS="--test-reporter=tap --test-reporter-destination=stdout" \
    node -p 'parseInt(process.versions.node) < 23 ? "tap" : "spec"' 2>/dev/null) \
    && ! grep -qs -e --test-reporter package.json; then
  NODE_OPTIONS="${{NODE_OPTIONS:+$NODE_OPTIONS }}--test-reporter=$reporter \
--test-reporter-destination=stdout --test-reporter={node}/node_test.mjs --test-reporter-destination=/dev/null"
fi
unset reporter
export NODE_OPTIONS="${{NODE_OPTIONS:+$NODE_OPTIONS }}--require {node}/preload.cjs"
"""


def _prelude(request: ReportRequest) -> str:
    return _PRELUDE.format(node=f"{request.directory}/{_DIRECTORY}")


def _files(request: ReportRequest) -> Mapping[str, bytes]:
    settings = {
        "reports": request.reports,
        "workspace": request.workspace,
        "seconds_per_test": request.seconds_per_test,
        "only": list(request.only),
    }
    programs = {f"{_DIRECTORY}/{name}": (_PLUGINS / name).read_bytes() for name in _PROGRAMS}
    return {**programs, f"{_DIRECTORY}/settings.json": json.dumps(settings).encode()}


FAMILY = Family(
    started_by=re.compile(
        r"\b(?:npm|npx|pnpm|yarn|bunx?|node|deno|vitest|_?mocha|jest|nx|turbo|lerna|corepack)\b(?![/.])"
    ),
    prelude=_prelude,
    files=_files,
    can_select=True,
    refusals=("The argument '--test-reporter' must match the number",),
    reads=lambda file: file.name.endswith(".jsonl") and file.name.partition(".")[0] in _RUNNERS,
    read=read_sessions,
)
