"""PHPUnit: a file that PHP runs before each program adds the option for JUnit XML.

PHP reads more directories of settings from PHP_INI_SCAN_DIR, through every script and wrapper.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from journeyman.verification.per_test import SuiteReport
from journeyman.verification.reports.family import Family, ReportFile, ReportRequest
from journeyman.verification.reports.junit import read_junit

_PREPEND = Path(__file__).parent / "plugins" / "phpunit.php"


def _prelude(request: ReportRequest) -> str:
    # An empty entry stands for the directory that PHP was built with.
    return f'export PHP_INI_SCAN_DIR="${{PHP_INI_SCAN_DIR-}}:{request.directory}/php"\n'


def _files(request: ReportRequest) -> Mapping[str, bytes]:
    settings = f'auto_prepend_file = "{request.directory}/php/phpunit.php"\n'
    return {"php/journeyman.ini": settings.encode(), "php/phpunit.php": _PREPEND.read_bytes()}


def _read(files: Sequence[ReportFile], request: ReportRequest, _output: str) -> SuiteReport:
    return read_junit("PHPUnit", files, request)


FAMILY = Family(
    started_by=re.compile(r"\b(?:php[\d.]*|phpunit|paratest|pest|composer)\b"),
    prelude=_prelude,
    files=_files,
    reads=lambda file: file.name.startswith("phpunit.") and file.name.endswith(".xml"),
    read=_read,
)
