"""pytest, and unittest where the command names it: our plugin is loaded into the project's own runner.

pytest takes plugins from PYTEST_PLUGINS, whatever starts it; tox is asked to pass that on where the path of
modules holds nothing but ours, since it hides the caller's from tests. unittest takes none, so that only a
command that starts it in plain sight is made to start it through ours.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from journeyman.verification.reports.family import Family, ReportRequest
from journeyman.verification.reports.lines import read_sessions

_PLUGINS = Path(__file__).parent / "plugins"
_PROGRAMS = ("journeyman_record.py", "journeyman_pytest.py", "journeyman_unittest.py")
_DIRECTORY = "python"
_UNITTEST = re.compile(
    r"(\bpython[\d.]*(?: +-[bBdOsuv]+| +-[WX] *\S+)*) +"
    r"(-m +(?:unittest|django)\b|(?:[\w./-]*/)?manage\.py +test\b)"
)
_PRELUDE = """\
if [ -z "$PYTHONPATH" ]; then
  for table in testenv tool.tox.env_run_base; do
    export TOX_OVERRIDE="${{TOX_OVERRIDE:+$TOX_OVERRIDE;}}$table.pass_env+=PYTEST_PLUGINS,PYTHONPATH"
  done
  unset table
fi
export PYTHONPATH="${{PYTHONPATH:+$PYTHONPATH:}}{python}"
export PYTEST_PLUGINS="${{PYTEST_PLUGINS:+$PYTEST_PLUGINS,}}journeyman_pytest"
"""


def _prelude(request: ReportRequest) -> str:
    return _PRELUDE.format(python=f"{request.directory}/{_DIRECTORY}")


def _files(request: ReportRequest) -> Mapping[str, bytes]:
    settings = {
        "reports": request.reports,
        "workspace": request.workspace,
        "packages": dict(request.packages),
        "seconds_per_test": request.seconds_per_test,
        "only": list(request.only),
    }
    programs = {f"{_DIRECTORY}/{name}": (_PLUGINS / name).read_bytes() for name in _PROGRAMS}
    return {**programs, f"{_DIRECTORY}/settings.json": json.dumps(settings).encode()}


def _rewrite(command: str, request: ReportRequest) -> str:
    program = f"{request.directory}/{_DIRECTORY}/journeyman_unittest.py"
    return _UNITTEST.sub(rf"\1 {program} \2", command)


FAMILY = Family(
    started_by=re.compile(
        r"\b(?:pytest|py\.test|tox|nox|uv|poetry|pdm|hatch|pipenv|rye|coverage)\b|\bpython[\d.]*\s+(?!-c)"
    ),
    prelude=_prelude,
    files=_files,
    rewrite=_rewrite,
    can_select=True,
    refusals=('Error importing plugin "journeyman_pytest"', "No module named 'journeyman_pytest'"),
    shows_code=True,
    reads=lambda file: file.name.startswith(("pytest", "unittest")) and file.name.endswith(".jsonl"),
    read=read_sessions,
)
