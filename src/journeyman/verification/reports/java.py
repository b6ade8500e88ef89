"""Maven and Gradle: both leave JUnit XML in their build directories by themselves."""

import re
from collections.abc import Sequence

from journeyman.verification.per_test import SuiteReport
from journeyman.verification.reports.family import Family, ReportFile, ReportRequest
from journeyman.verification.reports.junit import read_junit

_MAVEN = re.compile(r"/target/(?:surefire|failsafe)-reports/TEST-[^/]*\.xml$")
_GRADLE = re.compile(r"/build/test-results/.+\.xml$")


def _reads(file: ReportFile) -> bool:
    return bool(_MAVEN.search(file.path) or _GRADLE.search(file.path))


def _read(files: Sequence[ReportFile], request: ReportRequest, _output: str) -> SuiteReport:
    is_maven = any(_MAVEN.search(file.path) for file in files)
    return read_junit("Maven Surefire" if is_maven else "Gradle", files, request)


FAMILY = Family(
    started_by=re.compile(r"\b(?:mvnw?|gradlew?|ant|sbt)\b"),
    places=(
        "*/target/surefire-reports/TEST-*.xml",
        "*/target/failsafe-reports/TEST-*.xml",
        "*/build/test-results/*.xml",
    ),
    reads=_reads,
    read=_read,
)
