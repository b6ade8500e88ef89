"""RSpec: SPEC_OPTS requires a listener beside the formatters that the project uses."""

import re
from collections.abc import Mapping
from pathlib import Path

from journeyman.verification.reports.family import Family, ReportRequest
from journeyman.verification.reports.lines import read_sessions

_LISTENER = Path(__file__).parent / "plugins" / "rspec.rb"


def _prelude(request: ReportRequest) -> str:
    return f'export SPEC_OPTS="${{SPEC_OPTS:+$SPEC_OPTS }}--require {request.directory}/ruby/rspec.rb"\n'


def _files(_request: ReportRequest) -> Mapping[str, bytes]:
    return {"ruby/rspec.rb": _LISTENER.read_bytes()}


FAMILY = Family(
    started_by=re.compile(r"\b(?:rspec|rake|bundle|ruby|rails)\b"),
    prelude=_prelude,
    files=_files,
    reads=lambda file: file.name.startswith("rspec.") and file.name.endswith(".jsonl"),
    read=read_sessions,
)
